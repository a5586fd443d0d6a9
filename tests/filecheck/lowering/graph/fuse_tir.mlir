// RUN: xrelax-opt %s -p legalize-ops,fuse-tir --split-input-file | filecheck %s

// Elementwise kernels become one block; the functions that nothing calls any more go away.
// CHECK-NOT:   tir.prim_func @add
// CHECK-NOT:   tir.prim_func @relu
// CHECK:       tir.prim_func @fused_add_relu(%x: !tir.buffer<[n, 8], f32>, %b: !tir.buffer<[8], f32>, %gv: !tir.buffer<[n, 8], f32>) attributes {private, tir.noalias = true} {
// CHECK-NEXT:    tir.for %i0 in (0, n) {
// CHECK-NEXT:      tir.for %i1 in (0, 8) {
// CHECK-NEXT:        tir.block {{.*}} (%v_i0: spatial (0, n) = %i0, %v_i1: spatial (0, 8) = %i1) reads (%x[%v_i0, %v_i1], %b[%v_i1]) writes (%gv[%v_i0, %v_i1]) {
// CHECK-NEXT:          %0 = tir.load %x[%v_i0, %v_i1]
// CHECK-NEXT:          %1 = tir.load %b[%v_i1]
// CHECK-NEXT:          %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:          %3 = arith.constant 0
// CHECK-NEXT:          %4 = arith.maximumf %2, %3 : f32
// CHECK-NEXT:          tir.store %4, %gv[%v_i0, %v_i1]
// CHECK-NOT:   relax.func private
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    relax.call_tir @fused_add_relu(%x, %b) : (!relax.tensor<[m, 8], f32>, !relax.tensor<[8], f32>) -> !relax.tensor<[m, 8], f32>
relax.func private @fused_add_relu(%x: !relax.tensor<[n, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[n, 8], f32> attributes {Primitive = 1 : i64} {
  %r = relax.dataflow -> !relax.tensor<[n, 8], f32> {
    %lv = relax.add %x, %b : !relax.tensor<[n, 8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[n, 8], f32>
    %gv = relax.nn.relu %lv : !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 8], f32>
    relax.output %gv : !relax.tensor<[n, 8], f32>
  }
  relax.return %r : !relax.tensor<[n, 8], f32>
}
relax.func @main(%x: !relax.tensor<[m, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[m, 8], f32> {
  %0 = relax.call @fused_add_relu(%x, %b) : (!relax.tensor<[m, 8], f32>, !relax.tensor<[8], f32>) -> !relax.tensor<[m, 8], f32>
  relax.return %0 : !relax.tensor<[m, 8], f32>
}

// -----

// A reduction and its epilogue stay two nests with a scratch buffer between; blocks keep apart names.
// CHECK:       tir.prim_func @fused_matmul_add0(%x: !tir.buffer<[1, 784], f32>, %w: !tir.buffer<[784, 128], f32>, %b: !tir.buffer<[128], f32>, %gv: !tir.buffer<[1, 128], f32>)
// CHECK-NEXT:    %lv = tir.alloc_buffer : !tir.buffer<[1, 128], f32>
// CHECK:           tir.block "matmul"
// CHECK:           tir.block "{{.*}}add"
// CHECK-SAME:        reads (%lv[{{.*}}, %v_i1_1], %b[%v_i1_1]) writes (%gv[%v_i0_1, %v_i1_1])
// CHECK-LABEL: relax.func @course
// CHECK-COUNT-2: relax.call_tir @fused_matmul_add0(
relax.func private @fused_matmul_add0(%x: !relax.tensor<[1, 784], f32>, %w: !relax.tensor<[784, 128], f32>, %b: !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32> attributes {Primitive = 1 : i64} {
  %r = relax.dataflow -> !relax.tensor<[1, 128], f32> {
    %lv = relax.matmul %x, %w : !relax.tensor<[1, 784], f32>, !relax.tensor<[784, 128], f32> -> !relax.tensor<[1, 128], f32>
    %gv = relax.add %lv, %b : !relax.tensor<[1, 128], f32>, !relax.tensor<[128], f32> -> !relax.tensor<[1, 128], f32>
    relax.output %gv : !relax.tensor<[1, 128], f32>
  }
  relax.return %r : !relax.tensor<[1, 128], f32>
}
relax.func @course(%x: !relax.tensor<[1, 784], f32>, %w: !relax.tensor<[784, 128], f32>, %b: !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32> {
  %r = relax.dataflow -> !relax.tensor<[1, 128], f32> {
    %0 = relax.call @fused_matmul_add0(%x, %w, %b) : (!relax.tensor<[1, 784], f32>, !relax.tensor<[784, 128], f32>, !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32>
    %1 = relax.call @fused_matmul_add0(%x, %w, %b) : (!relax.tensor<[1, 784], f32>, !relax.tensor<[784, 128], f32>, !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32>
    %2 = relax.maximum %0, %1 : !relax.tensor<[1, 128], f32>, !relax.tensor<[1, 128], f32> -> !relax.tensor<[1, 128], f32>
    relax.output %2 : !relax.tensor<[1, 128], f32>
  }
  relax.return %r : !relax.tensor<[1, 128], f32>
}

// -----

// Tuples are passed field by field, constants of the function by its callers; several results.
// CHECK:       tir.prim_func @pair(%p: !tir.buffer<[4], f32>, %p_1: !tir.buffer<[4], f32>, %c: !tir.buffer<[4], f32>, %s: !tir.buffer<[4], f32>, %d: !tir.buffer<[4], f32>)
// CHECK-LABEL: relax.func @tuples
// CHECK-NEXT:    %0 = relax.tuple_get_item %p[0]
// CHECK-NEXT:    %1 = relax.tuple_get_item %p[1]
// CHECK-NEXT:    %c = relax.constant
// CHECK-NEXT:    relax.call_tir @pair(%0, %1, %c) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
relax.func private @pair(%p: tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> attributes {Primitive = 1 : i64} {
  %a = relax.tuple_get_item %p[0] : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %b = relax.tuple_get_item %p[1] : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %c = relax.constant <float32, [4], [1.0, 2.0, 3.0, 4.0]> : !relax.tensor<[4], f32>
  %s = relax.add %a, %c : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %d = relax.subtract %s, %b : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %t = relax.tuple(%s, %d) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  relax.return %t : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
}
relax.func @tuples(%p: tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> {
  %0 = relax.call @pair(%p) : (tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  relax.return %0 : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
}

// -----

// What calls the registry, and what returns a parameter, is no kernel and stays; so does ``Primitive = 0``.
// CHECK-LABEL: relax.func private @library
// CHECK-LABEL: relax.func private @identity
// CHECK-LABEL: relax.func private @not_primitive
// CHECK-LABEL: relax.func @stays
// CHECK-NEXT:    relax.call @library
// CHECK-NEXT:    relax.call @identity
// CHECK-NEXT:    relax.call @not_primitive
relax.func private @library(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = 1 : i64} {
  %0 = relax.call_dps_packed "library.f"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func private @identity(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = 1 : i64} {
  relax.return %x : !relax.tensor<[4], f32>
}
relax.func private @not_primitive(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = 0 : i64} {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func @stays(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @library(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call @identity(%0) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.call @not_primitive(%1) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %2 : !relax.tensor<[4], f32>
}

// -----

// What is computed in bf16 and used in the same kernel is not rounded; a conversion rounds.
// CHECK-LABEL: tir.prim_func @short
// CHECK:           %[[X:.*]] = tir.load %x
// CHECK-NEXT:      %[[XW:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[XW]] : f32
// CHECK-NEXT:      %[[Y:.*]] = tir.load %y
// CHECK-NEXT:      %[[C:.*]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT:      %[[CW:.*]] = arith.extf %[[C]] : bf16 to f32
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[E]], %[[CW]] : f32
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT:      tir.store %[[R]], %gv
relax.func private @short(%x: !relax.tensor<[8], bf16>, %y: !relax.tensor<[8], f32>) -> !relax.tensor<[8], bf16> attributes {Primitive = 1 : i64} {
  %r = relax.dataflow -> !relax.tensor<[8], bf16> {
    %0 = relax.exp %x : !relax.tensor<[8], bf16> -> !relax.tensor<[8], bf16>
    %1 = relax.astype %y {dtype = bf16} : !relax.tensor<[8], f32> -> !relax.tensor<[8], bf16>
    %gv = relax.add %0, %1 : !relax.tensor<[8], bf16>, !relax.tensor<[8], bf16> -> !relax.tensor<[8], bf16>
    relax.output %gv : !relax.tensor<[8], bf16>
  }
  relax.return %r : !relax.tensor<[8], bf16>
}
relax.func @main(%x: !relax.tensor<[8], bf16>, %y: !relax.tensor<[8], f32>) -> !relax.tensor<[8], bf16> {
  %0 = relax.call @short(%x, %y) : (!relax.tensor<[8], bf16>, !relax.tensor<[8], f32>) -> !relax.tensor<[8], bf16>
  relax.return %0 : !relax.tensor<[8], bf16>
}

// -----

// Fields of tuples that the kernel does not read are not passed to it.
// CHECK-LABEL: tir.prim_func @second(%t: !tir.buffer<[4], f32>, %T_exp: !tir.buffer<[4], f32>)
// CHECK:         %[[F:.*]] = relax.tuple_get_item %t[1]
// CHECK-NEXT:    relax.call_tir @second(%[[F]])
relax.func private @second(%t: tuple<!relax.tensor<[8], f32>, !relax.tensor<[4], f32>>) -> !relax.tensor<[4], f32> attributes {Primitive = 1 : i64} {
  %0 = relax.tuple_get_item %t[1] : tuple<!relax.tensor<[8], f32>, !relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %1 = relax.exp %0 : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %1 : !relax.tensor<[4], f32>
}
relax.func @main(%t: tuple<!relax.tensor<[8], f32>, !relax.tensor<[4], f32>>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @second(%t) : (tuple<!relax.tensor<[8], f32>, !relax.tensor<[4], f32>>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// Calls in place write to the buffer of their argument: that of the result, or of a parameter.
// CHECK-LABEL: tir.prim_func @own(%x: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>)
// CHECK-NOT:     tir.alloc_buffer
// CHECK:         tir.store %{{.*}}, %Y[%v_i]
// CHECK:         tir.load %Y[%v_i
// CHECK:         tir.store %{{.*}}, %Y[%v_i
// CHECK-LABEL: tir.prim_func @given(%x: !tir.buffer<[4], f32>)
// CHECK-COUNT-2: tir.store %{{.*}}, %x[
// Nothing else may use a tensor that a fused kernel changes.
// CHECK-LABEL: relax.func private @shared
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %0 = relax.call_tir @own(%x)
// CHECK-NEXT:    %1 = relax.call_tir_inplace @given(%0) inplace [0]
// CHECK-NEXT:    %2 = relax.call @shared(%y)
tir.prim_func @next(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private, tir.noalias = true} {
  tir.for %i in (0, 4) {
    tir.block "next" (%v_i: spatial (0, 4) = %i) reads (%X[%v_i]) writes (%Y[%v_i]) {
      %0 = tir.load %X[%v_i] : !tir.buffer<[4], f32>
      %1 = math.exp %0 : f32
      tir.store %1, %Y[%v_i] : !tir.buffer<[4], f32>
    }
  }
}
tir.prim_func @change(%X: !tir.buffer<[4], f32>) attributes {private, tir.noalias = true} {
  tir.for %i in (0, 4) {
    tir.block "change" (%v_i: spatial (0, 4) = %i) reads (%X[%v_i]) writes (%X[%v_i]) {
      %0 = tir.load %X[%v_i] : !tir.buffer<[4], f32>
      %1 = math.exp %0 : f32
      tir.store %1, %X[%v_i] : !tir.buffer<[4], f32>
    }
  }
}
relax.func private @own(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = 1 : i64} {
  %0 = relax.call_tir @next(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_tir_inplace @change(%0) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %1 : !relax.tensor<[4], f32>
}
relax.func private @given(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = 1 : i64} {
  %0 = relax.call_tir_inplace @change(%x) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_tir_inplace @change(%0) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %1 : !relax.tensor<[4], f32>
}
relax.func private @shared(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = 1 : i64} {
  %0 = relax.call_tir_inplace @change(%x) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func @main(%x: !relax.tensor<[4], f32>, %y: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>> {
  %0 = relax.call @own(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call @given(%0) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.call @shared(%y) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %t = relax.tuple(%1, %2, %y) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  relax.return %t : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
}

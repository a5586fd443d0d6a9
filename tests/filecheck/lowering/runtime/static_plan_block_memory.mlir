// RUN: xrelax-opt %s -p to-non-dataflow,remove-purity-checking,call-tir-rewrite,static-plan-block-memory,lower-alloc-tensor,kill-after-last-use --split-input-file | filecheck %s --check-prefix=KILL
// RUN: xrelax-opt %s -p to-non-dataflow,remove-purity-checking,call-tir-rewrite --split-input-file | filecheck %s --check-prefix=CALLS
// RUN: xrelax-opt %s -p to-non-dataflow,remove-purity-checking,call-tir-rewrite,static-plan-block-memory --split-input-file | filecheck %s

// Of a chain, %c gets the storage of %a, which grows. The result is not planned.

// CALLS-LABEL: relax.func @chain
// CALLS-SAME:      attributes {relax.force_pure = true} {
// CALLS-NEXT:    %a = relax.alloc_tensor : !relax.tensor<[4, n], f32>
// CALLS-NEXT:    relax.call_kernel @copy(%x, %a) :
// CALLS-NEXT:    %b = relax.alloc_tensor : !relax.tensor<[n, 4], f32>
// CALLS-NEXT:    relax.call_packed "f"(%a, %b) : (!relax.tensor<[4, n], f32>, !relax.tensor<[n, 4], f32>) -> tuple<>
// CHECK-LABEL: relax.func @chain
// CHECK-NEXT:    %storage = relax.memory.alloc_storage n * 32
// CHECK-NEXT:    %a = relax.memory.alloc_tensor %storage[0] : !relax.tensor<[4, n], f32>
// CHECK:         %storage_1 = relax.memory.alloc_storage n * 16
// CHECK-NEXT:    %b = relax.memory.alloc_tensor %storage_1[0] : !relax.tensor<[n, 4], f32>
// CHECK:         %c = relax.memory.alloc_tensor %storage[0] : !relax.tensor<[8, n], f32>
// CHECK:         %y = relax.alloc_tensor : !relax.tensor<[2], f32>
// KILL-LABEL:  relax.func @chain
// KILL:          relax.call_packed "f"(%a, %b)
// KILL-NEXT:     relax.memory.kill_tensor %a
// KILL-NEXT:     %c = relax.memory.alloc_tensor %storage[0]
// KILL-NEXT:     relax.memory.kill_storage %storage :
// KILL-NEXT:     relax.call_packed "f"(%b, %c)
// KILL-NEXT:     relax.memory.kill_tensor %b
// KILL-NEXT:     %storage_2 = relax.memory.alloc_storage 8
// KILL-NEXT:     %y = relax.memory.alloc_tensor %storage_2[0]
// KILL:          relax.memory.kill_tensor %c
// KILL-NEXT:     relax.return %y
relax.func @chain(%x: !relax.tensor<[4, n], f32>) -> !relax.tensor<[2], f32> {
  %y = relax.dataflow -> !relax.tensor<[2], f32> {
    %a = relax.call_tir @copy(%x) : (!relax.tensor<[4, n], f32>) -> !relax.tensor<[4, n], f32>
    %b = relax.call_dps_packed "f"(%a) : (!relax.tensor<[4, n], f32>) -> !relax.tensor<[n, 4], f32>
    %c = relax.call_dps_packed "f"(%b) : (!relax.tensor<[n, 4], f32>) -> !relax.tensor<[8, n], f32>
    %d = relax.call_dps_packed "f"(%c) : (!relax.tensor<[8, n], f32>) -> !relax.tensor<[2], f32>
    relax.output %d : !relax.tensor<[2], f32>
  }
  relax.return %y : !relax.tensor<[2], f32>
}
tir.prim_func @copy(%A: !tir.buffer<[4, n], f32>, %B: !tir.buffer<[4, n], f32>) {
  tir.for %i in (0, 4) {
    tir.for %j in (0, n) {
      tir.block "B" (%vi: spatial (0, 4) = %i, %vj: spatial (0, n) = %j) reads (%A[%vi, %vj]) writes (%B[%vi, %vj]) {
        %0 = tir.load %A[%vi, %vj] : !tir.buffer<[4, n], f32>
        tir.store %0, %B[%vi, %vj] : !tir.buffer<[4, n], f32>
      }
    }
  }
}

// -----

// Tensors in a tuple are used until their last field is; a bound of a symbol bounds the storage. %b has another dtype.

// CHECK-LABEL: relax.func @tuple
// CHECK:         %storage = relax.memory.alloc_storage 80
// CHECK:         relax.memory.alloc_tensor %storage[0] : !relax.tensor<[n], f32>
// CHECK:         %storage_1 = relax.memory.alloc_storage 80
// CHECK:         relax.memory.alloc_tensor %storage_1[0] : !relax.tensor<[n], i32>
// CHECK:         %storage_2 = relax.memory.alloc_storage 80
// CHECK:         %c = relax.memory.alloc_tensor %storage_2[0] : !relax.tensor<[n], f32>
// CHECK:         %d = relax.memory.alloc_tensor %storage[0] : !relax.tensor<[n], f32>
relax.func @tuple(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {tir_var_upper_bound = {n = 20}} {
  %t = relax.call_dps_packed "f"(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], i32>>
  %a = relax.tuple_get_item %t[0] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], i32>> -> !relax.tensor<[n], f32>
  %c = relax.call_dps_packed "f"(%a) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %d = relax.call_dps_packed "f"(%c) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %e = relax.call_dps_packed "f"(%d) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %e : !relax.tensor<[n], f32>
}

// -----

// What an operator or a branch uses is not planned. A view uses its tensor as long as it is used.

// CHECK-LABEL: relax.func @others
// CHECK:         %a = relax.alloc_tensor
// CHECK:         %b = relax.alloc_tensor
// CHECK:         %storage = relax.memory.alloc_storage 16
// CHECK-NEXT:    %c = relax.memory.alloc_tensor %storage[0]
// CHECK:         %storage_1 = relax.memory.alloc_storage 16
// CHECK-NEXT:    %e = relax.memory.alloc_tensor %storage_1[0]
relax.func @others(%x: !relax.tensor<[4], f32>, %p: !relax.tensor<[], i1>) -> !relax.tensor<[4], f32> {
  %a = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %r = relax.nn.relu %a : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %b = relax.call_dps_packed "f"(%r) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %i = relax.if %p : !relax.tensor<[], i1> -> !relax.tensor<[4], f32> {
    relax.yield %b : !relax.tensor<[4], f32>
  } else {
    relax.yield %x : !relax.tensor<[4], f32>
  }
  %c = relax.call_dps_packed "f"(%i) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %v = relax.reshape %c {shape = [#sym.expr<2>, #sym.expr<2>]} : !relax.tensor<[4], f32> -> !relax.tensor<[2, 2], f32>
  %e = relax.call_dps_packed "f"(%v) : (!relax.tensor<[2, 2], f32>) -> !relax.tensor<[4], f32>
  %g = relax.call_dps_packed "f"(%e) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %g : !relax.tensor<[4], f32>
}

// -----

// A call in place needs no allocation.

// CALLS-LABEL: relax.func @inplace
// CALLS-NEXT:    relax.call_kernel @zero(%x) : (!relax.tensor<[4], f32>) -> tuple<>
// CALLS-NEXT:    relax.return %x
relax.func @inplace(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %y = relax.call_tir_inplace @zero(%x) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %y : !relax.tensor<[4], f32>
}
tir.prim_func @zero(%A: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "A" (%vi: spatial (0, 4) = %i) reads () writes (%A[%vi]) {
      %0 = arith.constant 0.0 : f32
      tir.store %0, %A[%vi] : !tir.buffer<[4], f32>
    }
  }
}

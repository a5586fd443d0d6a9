// RUN: xrelax-opt %s -p fuse-ops,fuse-tir --split-input-file | filecheck %s

// A symbol that no tensor of the group has as a whole dim is passed: here as an index value.
// CHECK:       tir.prim_func @fused_widen_widen_again(%x: !tir.buffer<[n * 4], f32>, %n: index, %Z: !tir.buffer<[n * 4], f32>)
// CHECK:           tir.block "Z" (%vi: spatial (0, n * 4) = %i) reads (%x[%vi]) writes (%Z[%vi])
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    relax.dataflow
// CHECK-NEXT:      %0 = relax.call_tir @fused_widen_widen_again(%x) vars [#sym.expr<n>]
// CHECK-NEXT:      relax.output
tir.prim_func @widen(%X: !tir.buffer<[d * 4], f32>, %Y: !tir.buffer<[d * 4], f32>, %d: index) attributes {private} {
  tir.for %i in (0, d * 4) {
    tir.block "Y" (%vi: spatial (0, d * 4) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[d * 4], f32>
      %s = arith.addf %x, %x : f32
      tir.store %s, %Y[%vi] : !tir.buffer<[d * 4], f32>
    }
  }
}
tir.prim_func @widen_again(%Y: !tir.buffer<[d * 4], f32>, %Z: !tir.buffer<[d * 4], f32>, %d: index) attributes {private} {
  tir.for %i in (0, d * 4) {
    tir.block "Z" (%vi: spatial (0, d * 4) = %i) reads (%Y[%vi]) writes (%Z[%vi]) {
      %y = tir.load %Y[%vi] : !tir.buffer<[d * 4], f32>
      %last = tir.apply d * 4 - 1
      %l = arith.index_cast %last : index to i32
      %f = arith.sitofp %l : i32 to f32
      %s = arith.addf %y, %f : f32
      tir.store %s, %Z[%vi] : !tir.buffer<[d * 4], f32>
    }
  }
}
relax.func @main(%x: !relax.tensor<[n * 4], f32>, %z: !relax.tensor<[n], f32>) -> !relax.tensor<[n * 4], f32> {
  %r = relax.dataflow -> !relax.tensor<[n * 4], f32> {
    %0 = relax.call_tir @widen(%x) vars [#sym.expr<n>] : (!relax.tensor<[n * 4], f32>) -> !relax.tensor<[n * 4], f32>
    %1 = relax.call_tir @widen_again(%0) vars [#sym.expr<n>] : (!relax.tensor<[n * 4], f32>) -> !relax.tensor<[n * 4], f32>
    relax.output %1 : !relax.tensor<[n * 4], f32>
  }
  relax.return %r : !relax.tensor<[n * 4], f32>
}

// -----

// Root blocks are taken off, and functions of several blocks fuse like others.
// CHECK:       tir.prim_func @fused_f_g_f(%x: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>)
// CHECK-NEXT:    tir.for %i in (0, 4) {
// CHECK-NEXT:      tir.block "Y_2" (%vi: spatial (0, 4) = %i) reads (%x[%vi]) writes (%Y[%vi]) {
// CHECK-NEXT:        tir.load
// CHECK-NEXT:        arith.addf
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        arith.addf
// CHECK-NEXT:        arith.addf
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        tir.store
tir.prim_func @f(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  tir.block "root" () {
    %T = tir.alloc_buffer : !tir.buffer<[4], f32>
    tir.for %i in (0, 4) {
      tir.block "T" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%T[%vi]) {
        %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
        %s = arith.addf %x, %x : f32
        tir.store %s, %T[%vi] : !tir.buffer<[4], f32>
      }
    }
    tir.for %i in (0, 4) {
      tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%T[%vi]) writes (%Y[%vi]) {
        %x = tir.load %T[%vi] : !tir.buffer<[4], f32>
        %s = arith.mulf %x, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[4], f32>
      }
    }
  }
}
tir.prim_func @g(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  tir.block "root" () {
    tir.for %i in (0, 4) {
      tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
        %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
        %s = arith.addf %x, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[4], f32>
      }
    }
  }
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @f(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_tir @g(%0) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.call_tir @f(%1) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %2 : !relax.tensor<[4], f32>
}

// RUN: xrelax-opt %s -p 'rewrite-dataflow-reshape{kernels=true}' | filecheck %s

// A kernel that copies elements in order is a reshape, also if it has other arguments; not as an output of a
// dataflow block, and not if it transposes.
// CHECK-LABEL: relax.func @main
// CHECK:      %0 = relax.reshape %x {shape = [#sym.expr<12>]}
// CHECK-NEXT: %1 = relax.call_tir @transpose(%x)
// CHECK-NEXT: %2 = relax.call_tir @flat(%0, %1)
tir.prim_func @flat(%U: !tir.buffer<[12], f32>, %X: !tir.buffer<[3, 4], f32>, %Y: !tir.buffer<[12], f32>) {
  tir.for %i in (0, 12) {
    tir.block "Y" (%vi: spatial (0, 12) = %i) reads (%X[%vi floordiv 4, %vi mod 4]) writes (%Y[%vi]) {
      %v = tir.load %X[%vi floordiv 4, %vi mod 4] : !tir.buffer<[3, 4], f32>
      tir.store %v, %Y[%vi] : !tir.buffer<[12], f32>
    }
  }
}
tir.prim_func @transpose(%X: !tir.buffer<[3, 4], f32>, %Y: !tir.buffer<[3, 4], f32>) {
  tir.for %i in (0, 3) {
    tir.for %j in (0, 4) {
      tir.block "Y" (%vi: spatial (0, 3) = %i, %vj: spatial (0, 4) = %j) reads (%X[2 - %vi, %vj]) writes (%Y[%vi, %vj]) {
        %v = tir.load %X[2 - %vi, %vj] : !tir.buffer<[3, 4], f32>
        tir.store %v, %Y[%vi, %vj] : !tir.buffer<[3, 4], f32>
      }
    }
  }
}
relax.func @main(%x: !relax.tensor<[3, 4], f32>, %y: !relax.tensor<[12], f32>) -> !relax.tensor<[12], f32> {
  %r = relax.dataflow -> !relax.tensor<[12], f32> {
    %0 = relax.call_tir @flat(%y, %x) : (!relax.tensor<[12], f32>, !relax.tensor<[3, 4], f32>) -> !relax.tensor<[12], f32>
    %1 = relax.call_tir @transpose(%x) : (!relax.tensor<[3, 4], f32>) -> !relax.tensor<[3, 4], f32>
    %2 = relax.call_tir @flat(%0, %1) : (!relax.tensor<[12], f32>, !relax.tensor<[3, 4], f32>) -> !relax.tensor<[12], f32>
    relax.output %2 : !relax.tensor<[12], f32>
  }
  relax.return %r : !relax.tensor<[12], f32>
}

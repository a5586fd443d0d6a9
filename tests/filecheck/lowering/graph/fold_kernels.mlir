// RUN: xrelax-opt %s -p 'fold-constant{kernels=true},dead-code-elimination' --split-input-file | filecheck %s

// Kernels on constants are evaluated; the dataflow block has nothing else and goes away.
// CHECK-LABEL: relax.func @kernel()
// CHECK-NEXT: %[[C:.*]] = relax.constant <float32, [3], [4.0, 6.0, 8.0]>
// CHECK-NEXT: relax.return %[[C]]
tir.prim_func @double(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) attributes {private} {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
      %y = arith.addf %x, %x : f32
      tir.store %y, %Y[%vi] : !tir.buffer<[n], f32>
    }
  }
}
relax.func @kernel() -> !relax.tensor<[3], f32> {
  %r = relax.dataflow -> !relax.tensor<[3], f32> {
    %0 = relax.constant <float32, [3], [1.0, 1.5, 2.0]> : !relax.tensor<[3], f32>
    %1 = relax.call_tir @double(%0) : (!relax.tensor<[3], f32>) -> !relax.tensor<[3], f32>
    %2 = relax.add %1, %1 : !relax.tensor<[3], f32>, !relax.tensor<[3], f32> -> !relax.tensor<[3], f32>
    relax.output %2 : !relax.tensor<[3], f32>
  }
  relax.return %r : !relax.tensor<[3], f32>
}

// -----

// A symbolic result is not known, and neither is one of a function that is only registered.
// CHECK-LABEL: relax.func @unknown
// CHECK: relax.call_tir @fill
// CHECK: relax.call_dps_packed "f"
tir.prim_func @fill(%X: !tir.buffer<[3], f32>, %Y: !tir.buffer<[n], f32>) attributes {private} {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%X[0]) writes (%Y[%vi]) {
      %x = tir.load %X[0] : !tir.buffer<[3], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[n], f32>
    }
  }
}
relax.func @unknown(%n: !relax.shape<[n]>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[3], f32>> {
  %0 = relax.constant <float32, [3], [1.0, 1.5, 2.0]> : !relax.tensor<[3], f32>
  %1 = relax.call_tir @fill(%0) : (!relax.tensor<[3], f32>) -> !relax.tensor<[n], f32>
  %2 = relax.call_dps_packed "f"(%0) : (!relax.tensor<[3], f32>) -> !relax.tensor<[3], f32>
  %3 = relax.tuple(%1, %2) : (!relax.tensor<[n], f32>, !relax.tensor<[3], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[3], f32>>
  relax.return %3 : tuple<!relax.tensor<[n], f32>, !relax.tensor<[3], f32>>
}

// -----

// A block that only passes a value through goes away too.
// CHECK-LABEL: relax.func @passed(%x
// CHECK-NEXT: relax.return %x
relax.func @passed(%x: !relax.tensor<[3], f32>) -> !relax.tensor<[3], f32> {
  %y = relax.dataflow -> !relax.tensor<[3], f32> {
    relax.output %x : !relax.tensor<[3], f32>
  }
  relax.return %y : !relax.tensor<[3], f32>
}

// -----

// Large tensors that are cheap to make are not stored.
// CHECK-LABEL: relax.func @created
// CHECK-NEXT: relax.constant <float32, [1024]
// CHECK-NEXT: relax.zeros
relax.func @created() -> tuple<!relax.tensor<[1024], f32>, !relax.tensor<[1025], f32>> {
  %0 = relax.zeros {shape = [#sym.expr<1024>]} : !relax.tensor<[1024], f32>
  %1 = relax.zeros {shape = [#sym.expr<1025>]} : !relax.tensor<[1025], f32>
  %2 = relax.tuple(%0, %1) : (!relax.tensor<[1024], f32>, !relax.tensor<[1025], f32>) -> tuple<!relax.tensor<[1024], f32>, !relax.tensor<[1025], f32>>
  relax.return %2 : tuple<!relax.tensor<[1024], f32>, !relax.tensor<[1025], f32>>
}

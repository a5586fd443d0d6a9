// RUN: xrelax-opt %s | xrelax-opt | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// The last two dims are those of the matrices.

// CHECK-LABEL: relax.func @batch
relax.func @batch(%x: !relax.tensor<[n, m, m], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %0 = relax.det %x : !relax.tensor<[n, m, m], f32> -> !relax.tensor<[n], f32>
  %0 = relax.det %x : !relax.tensor<[n, m, m], f32> -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// A matrix of unknown shape.

// CHECK-LABEL: relax.func @rank
relax.func @rank(%x: !relax.tensor<rank 3, f32>) -> !relax.tensor<rank 1, f32> {
  // CHECK-NEXT: %0 = relax.det %x : !relax.tensor<rank 3, f32> -> !relax.tensor<rank 1, f32>
  %0 = relax.det %x : !relax.tensor<rank 3, f32> -> !relax.tensor<rank 1, f32>
  relax.return %0 : !relax.tensor<rank 1, f32>
}

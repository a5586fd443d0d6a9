// RUN: xrelax-opt %s -p legalize-ops | filecheck %s

// Operators of the runtime are calls of its functions, whose names have the attributes.

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %0 = relax.call_dps_packed "xrelax.linalg.solve_triangular.lower.unit"(%x, %y) : (!relax.tensor<[n, n], f32>, !relax.tensor<[n, 3], f32>) -> !relax.tensor<[n, 3], f32>
// CHECK-NEXT:    %1 = relax.call_dps_packed "xrelax.linalg.slogdet"(%x) : (!relax.tensor<[n, n], f32>) -> tuple<!relax.tensor<[], f32>, !relax.tensor<[], f32>>
relax.func @main(%x: !relax.tensor<[n, n], f32>, %y: !relax.tensor<[n, 3], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.linalg.solve_triangular %x, %y {upper = false, unitriangular = true} : !relax.tensor<[n, n], f32>, !relax.tensor<[n, 3], f32> -> !relax.tensor<[n, 3], f32>
  %1 = relax.linalg.slogdet %x : !relax.tensor<[n, n], f32> -> tuple<!relax.tensor<[], f32>, !relax.tensor<[], f32>>
  relax.return %0 : !relax.tensor<[n, 3], f32>
}

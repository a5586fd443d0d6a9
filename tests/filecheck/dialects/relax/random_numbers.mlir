// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// CHECK-LABEL: relax.func @main
relax.func @main(%key: !relax.tensor<[2], i64>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %0 = relax.random.bits %key {shape = [#sym.expr<n>, #sym.expr<4>]} : !relax.tensor<[2], i64> -> !relax.tensor<[n, 4], ui32>
  %0 = relax.random.bits %key {shape = [#sym.expr<n>, #sym.expr<4>]} : !relax.tensor<[2], i64> -> !relax.tensor<[n, 4], ui32>
  // CHECK-NEXT: %1 = relax.random.uniform %key {shape = [#sym.expr<n>], low = -1.000000e+00 : f64, stream = 1 : i64} : !relax.tensor<[2], i64> -> !relax.tensor<[n], f32>
  %1 = relax.random.uniform %key {shape = [#sym.expr<n>], low = -1.0 : f64, stream = 1 : i64} : !relax.tensor<[2], i64> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: %2 = relax.random.normal %key {shape = [], dtype = f64} : !relax.tensor<[2], i64> -> !relax.tensor<[], f64>
  %2 = relax.random.normal %key {shape = [], dtype = f64} : !relax.tensor<[2], i64> -> !relax.tensor<[], f64>
  // CHECK-NEXT: %3 = relax.random.randint %key {shape = [#sym.expr<3>], high = 10 : i64} : !relax.tensor<[2], i64> -> !relax.tensor<[3], i64>
  %3 = relax.random.randint %key {shape = [#sym.expr<3>], high = 10 : i64} : !relax.tensor<[2], i64> -> !relax.tensor<[3], i64>
  relax.return %1 : !relax.tensor<[n], f32>
}

// RUN: xrelax-opt %s | xrelax-opt | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// The bits of floats as integers, and back.

// CHECK-LABEL: relax.func @bits
relax.func @bits(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK-NEXT: %0 = relax.bitcast %x {dtype = ui32} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], ui32>
  %0 = relax.bitcast %x {dtype = ui32} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], ui32>
  // CHECK-NEXT: %1 = relax.bitcast %0 {dtype = f32} : !relax.tensor<[n, 4], ui32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.bitcast %0 {dtype = f32} : !relax.tensor<[n, 4], ui32> -> !relax.tensor<[n, 4], f32>
  relax.return %1 : !relax.tensor<[n, 4], f32>
}

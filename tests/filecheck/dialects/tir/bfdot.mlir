// RUN: xrelax-opt %s | xrelax-opt | filecheck %s

// Words of two bf16, as scalars and as lanes of vectors.

// CHECK-LABEL: @scalars
func.func @scalars(%a: i32, %b: i32) -> f32 {
  // CHECK: %d = tir.bfdot %a, %b : i32 -> f32
  %d = tir.bfdot %a, %b : i32 -> f32
  func.return %d : f32
}

// CHECK-LABEL: @vectors
func.func @vectors(%a: vector<16xi32>, %b: vector<16xi32>) -> vector<16xf32> {
  // CHECK: %d = tir.bfdot %a, %b : vector<16xi32> -> vector<16xf32>
  %d = tir.bfdot %a, %b : vector<16xi32> -> vector<16xf32>
  func.return %d : vector<16xf32>
}

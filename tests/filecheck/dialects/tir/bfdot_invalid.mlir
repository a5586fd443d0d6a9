// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'tir.bfdot': expected words of i32 or vectors of them, got f32
func.func @floats(%a: f32) {
  %d = tir.bfdot %a, %a : f32 -> f32
  func.return
}

// -----

// CHECK: 'tir.bfdot': expected a result of f32, got i32
func.func @sum(%a: i32) {
  %d = tir.bfdot %a, %a : i32 -> i32
  func.return
}

// -----

// CHECK: 'tir.bfdot': expected a result of vector<4xf32>, got vector<8xf32>
func.func @lanes(%a: vector<4xi32>) {
  %d = tir.bfdot %a, %a : vector<4xi32> -> vector<8xf32>
  func.return
}

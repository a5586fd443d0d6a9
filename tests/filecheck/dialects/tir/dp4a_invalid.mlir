// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'tir.dp4a': expected words of i32 or vectors of them, got f32
func.func @floats(%a: f32) {
  %d = tir.dp4a %a, %a : f32
  func.return
}

// -----

// CHECK: 'tir.dp4a': expected words of i32 or vectors of them, got i64
func.func @wide(%a: i64) {
  %d = tir.dp4a %a, %a : i64
  func.return
}

// -----

// CHECK: 'tir.dp4a': expected words of i32 or vectors of them, got vector<16xi8>
func.func @bytes(%a: vector<16xi8>) {
  %d = tir.dp4a %a, %a : vector<16xi8>
  func.return
}

// -----

// CHECK: i32 expected from variable 'T', but got vector<4xi32>
func.func @lanes(%a: i32, %b: vector<4xi32>) {
  %d = "tir.dp4a"(%a, %b) : (i32, vector<4xi32>) -> i32
  func.return
}

// -----

// CHECK: 'tir.dp4a': 1 : i64 should be of base attribute unit
func.func @flag(%a: i32) {
  %d = tir.dp4a %a, %a {lhs_unsigned = 1 : i64} : i32
  func.return
}

// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'tir.mmla': expected a result of four i32 or f32, got vector<8xf32>
func.func @lanes(%a: vector<4xi32>) {
  %d = tir.mmla %a, %a : vector<4xi32> -> vector<8xf32>
  func.return
}

// -----

// CHECK: 'tir.mmla': expected operands of bf16 without 'unsigned', got one with it
func.func @signs(%a: vector<4xi32>) {
  %d = tir.mmla %a, %a {rhs_unsigned} : vector<4xi32> -> vector<4xf32>
  func.return
}

// -----

// CHECK: 'tir.mmla': expected operands of vector<4xi32>, got vector<8xi32>
func.func @words(%a: vector<8xi32>) {
  %d = tir.mmla %a, %a : vector<8xi32> -> vector<4xi32>
  func.return
}

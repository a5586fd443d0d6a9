// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'loops.multi_reduction': expected fastmath with reassoc for floats in any order
func.func @order(%s: f32, %v: vector<4xf32>) {
  %t = "loops.multi_reduction"(%s, %v) <{kind = #vector.kind<add>}> : (f32, vector<4xf32>) -> f32
  func.return
}

// -----

// CHECK: 'loops.multi_reduction': expected a reduction of f32, got 'xor'
func.func @kind(%s: f32, %v: vector<4xf32>) {
  %t = loops.multi_reduction <xor>, %s, %v fastmath<reassoc> : f32, vector<4xf32>
  func.return
}

// -----

// CHECK: 'loops.multi_reduction': expected a vector, got none
func.func @none(%s: i32) {
  %t = "loops.multi_reduction"(%s) <{kind = #vector.kind<add>}> : (i32) -> i32
  func.return
}

// -----

// CHECK: 'loops.multi_reduction': expected vectors of one dim, got vector<2x4xi32>
func.func @dims(%s: i32, %v: vector<2x4xi32>) {
  %t = loops.multi_reduction <add>, %s, %v : i32, vector<2x4xi32>
  func.return
}

// -----

// CHECK: i32 expected from variable 'T', but got i64
func.func @element(%s: i32, %v: vector<4xi64>) {
  %t = loops.multi_reduction <add>, %s, %v : i32, vector<4xi64>
  func.return
}

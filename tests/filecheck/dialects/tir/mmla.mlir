// RUN: xrelax-opt %s | xrelax-opt | filecheck %s

// Products of two rows and two columns: of eight bytes, of eight bytes with other signs, of four bf16.

// CHECK-LABEL: @products
func.func @products(%a: vector<4xi32>, %b: vector<4xi32>) {
  // CHECK: %0 = tir.mmla %a, %b : vector<4xi32> -> vector<4xi32>
  %0 = tir.mmla %a, %b : vector<4xi32> -> vector<4xi32>
  // CHECK: %1 = tir.mmla %a, %b {lhs_unsigned} : vector<4xi32> -> vector<4xi32>
  %1 = tir.mmla %a, %b {lhs_unsigned} : vector<4xi32> -> vector<4xi32>
  // CHECK: %2 = tir.mmla %a, %b : vector<4xi32> -> vector<4xf32>
  %2 = tir.mmla %a, %b : vector<4xi32> -> vector<4xf32>
  func.return
}

// RUN: xrelax-opt %s -p resolve-shapes --split-input-file | filecheck %s

// The elements are counted before their positions; a cast's symbol is the count.
// CHECK-LABEL: @main
relax.func @main(%x: !relax.tensor<[n, 3], f32>) -> !relax.tensor<rank 2, i64> {
  // CHECK:      %0 = relax.constant
  // CHECK-NEXT: %1 = relax.not_equal %x, %0
  // CHECK-NEXT: %2 = relax.astype %1 {dtype = i64}
  // CHECK-NEXT: %3 = relax.sum %2
  // CHECK-NEXT: %4 = relax.expand_dims %3
  // CHECK-NEXT: %5 = relax.tensor_to_shape %4 at_most [#sym.expr<n * 3>] : !relax.tensor<[1], i64> -> !relax.shape<rank 1>
  // CHECK-NEXT: %6 = relax.match_cast %5 written "(count,)" : !relax.shape<rank 1> -> !relax.shape<[count]>
  // CHECK-NEXT: %a = relax.nonzero %x {size = [#sym.expr<count>]} : !relax.tensor<[n, 3], f32> -> !relax.tensor<[2, count], i64>
  %a = relax.nonzero %x : !relax.tensor<[n, 3], f32> -> !relax.tensor<rank 2, i64>
  // CHECK-NEXT: %b = relax.match_cast %a written "(2, m)" : !relax.tensor<[2, count], i64> -> !relax.tensor<[2, count], i64>
  %b = relax.match_cast %a : !relax.tensor<rank 2, i64> -> !relax.tensor<[2, m], i64>
  // CHECK-NEXT: %c = relax.add %b, %b : !relax.tensor<[2, count], i64>, !relax.tensor<[2, count], i64> -> !relax.tensor<[2, count], i64>
  %c = relax.add %b, %b : !relax.tensor<[2, m], i64>, !relax.tensor<[2, m], i64> -> !relax.tensor<[2, m], i64>
  relax.return %c : !relax.tensor<[2, m], i64>
}

// -----

// A given size stays.
// CHECK-LABEL: @static
// CHECK-NEXT: %a = relax.nonzero %x {size = [#sym.expr<4>]}
// CHECK-NEXT: relax.match_cast
relax.func @static(%x: !relax.tensor<[n], f32>) -> !relax.tensor<rank 2, i64> {
  %a = relax.nonzero %x {size = [#sym.expr<4>]} : !relax.tensor<[n], f32> -> !relax.tensor<[1, 4], i64>
  %b = relax.match_cast %a : !relax.tensor<[1, 4], i64> -> !relax.tensor<[1, 4], i64>
  relax.return %b : !relax.tensor<[1, 4], i64>
}

// -----

// Different elements are as many as there are counts that are not 0.
// CHECK-LABEL: @different
relax.func @different(%x: !relax.tensor<[n, 3], f32>) -> tuple<!relax.tensor<rank 2, f32>, !relax.tensor<[n], i64>> {
  // CHECK-NEXT: %0 = relax.unique %x {return_inverse = true, return_counts = true, axis = 0 : i64, size = [#sym.expr<n>]}
  // CHECK-NEXT: %1 = relax.tuple_get_item %0[0]
  // CHECK-NEXT: %2 = relax.tuple_get_item %0[1]
  // CHECK-NEXT: %3 = relax.tuple_get_item %0[2]
  // CHECK-NEXT: %4 = relax.constant
  // CHECK-NEXT: %5 = relax.not_equal %3, %4
  // CHECK:      relax.match_cast {{.*}} written "(count,)"
  // CHECK-NEXT: [[VALUES:%[0-9]+]] = relax.strided_slice %1 {axes = array<i64: 0>, begin = [#sym.expr<0>], end = [#sym.expr<count>], assume_inbound = true} : !relax.tensor<[n, 3], f32> -> !relax.tensor<[count, 3], f32>
  // CHECK-NEXT: relax.tuple([[VALUES]], %2)
  %u = relax.unique %x {axis = 0 : i64, return_inverse = true} : !relax.tensor<[n, 3], f32> -> tuple<!relax.tensor<rank 2, f32>, !relax.tensor<[n], i64>>
  relax.return %u : tuple<!relax.tensor<rank 2, f32>, !relax.tensor<[n], i64>>
}

// -----

// The lengths of a slice, whose bounds are data, are at most the dims.
// CHECK-LABEL: @slice
relax.func @slice(%x: !relax.tensor<[n, 3], f32>, %b: !relax.tensor<[2], i64>) -> !relax.tensor<rank 2, f32> {
  // CHECK-NEXT: %0 = relax.dynamic_strided_slice_lengths %x, %b, %b, %b
  // CHECK-NEXT: %1 = relax.tensor_to_shape %0 at_most [#sym.expr<n>, #sym.expr<3>] : !relax.tensor<[2], i64> -> !relax.shape<rank 2>
  // CHECK-NEXT: relax.match_cast %1 written "(length_0, length_1)"
  // CHECK-NEXT: %s = relax.dynamic_strided_slice %x, %b, %b, %b {size = [#sym.expr<length_0>, #sym.expr<length_1>]}
  %s = relax.dynamic_strided_slice %x, %b, %b, %b : !relax.tensor<[n, 3], f32>, !relax.tensor<[2], i64>, !relax.tensor<[2], i64>, !relax.tensor<[2], i64> -> !relax.tensor<rank 2, f32>
  relax.return %s : !relax.tensor<rank 2, f32>
}

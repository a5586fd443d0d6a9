// RUN: xrelax-opt %s -p decompose-split | filecheck %s

// Parts that are read one by one are slices; one that nothing reads is not computed.
// CHECK-LABEL: relax.func @parts
// CHECK-NEXT:    %[[A:.*]] = relax.strided_slice %x {axes = array<i64: 1>, begin = [#sym.expr<0>], end = [#sym.expr<n>]} : {{.*}} -> !relax.tensor<[4, n], f32>
// CHECK-NEXT:    %[[B:.*]] = relax.strided_slice %x {axes = array<i64: 1>, begin = [#sym.expr<n>], end = [#sym.expr<n + 2>]} : {{.*}} -> !relax.tensor<[4, 2], f32>
// CHECK-NEXT:    relax.exp %[[A]]
// CHECK-NEXT:    relax.return %[[B]]
relax.func @parts(%x: !relax.tensor<[4, n + 5], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[4, 2], f32> {
  %0 = relax.split %x {indices_or_sections = [#sym.expr<n>, #sym.expr<n + 2>], axis = -1 : i64} : !relax.tensor<[4, n + 5], f32> -> tuple<!relax.tensor<[4, n], f32>, !relax.tensor<[4, 2], f32>, !relax.tensor<[4, 3], f32>>
  %1 = relax.tuple_get_item %0[1] : tuple<!relax.tensor<[4, n], f32>, !relax.tensor<[4, 2], f32>, !relax.tensor<[4, 3], f32>> -> !relax.tensor<[4, 2], f32>
  %2 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[4, n], f32>, !relax.tensor<[4, 2], f32>, !relax.tensor<[4, 3], f32>> -> !relax.tensor<[4, n], f32>
  %3 = relax.exp %2 : !relax.tensor<[4, n], f32> -> !relax.tensor<[4, n], f32>
  relax.return %1 : !relax.tensor<[4, 2], f32>
}

// A tuple that is returned whole stays.
// CHECK-LABEL: relax.func @whole
// CHECK-NEXT:    relax.split
relax.func @whole(%x: !relax.tensor<[4, 6], f32>) -> tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[4, 3], f32>> {
  %0 = relax.split %x {indices_or_sections = 2 : i64, axis = 1 : i64} : !relax.tensor<[4, 6], f32> -> tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[4, 3], f32>>
  relax.return %0 : tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[4, 3], f32>>
}

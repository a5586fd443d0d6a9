// RUN: xrelax-opt %s -p resolve-shapes --split-input-file | filecheck %s

// What follows a size without a limit is a function whose memory each call allocates. A result whose
// dims depend on the size is an object.
// CHECK-LABEL: relax.func @main(%x: !relax.tensor<[n], f32>, %c: !relax.tensor<[1], i64>) -> tuple<!relax.object, !relax.tensor<[], f32>> {
// CHECK-NEXT:    %s = relax.tensor_to_shape %c : !relax.tensor<[1], i64> -> !relax.shape<rank 1>
// CHECK-NEXT:    relax.match_cast %s written "(k,)" : !relax.shape<rank 1> -> !relax.shape<[k]>
// CHECK-NEXT:    %k = relax.prim_value : !relax.prim<i64, k>
// CHECK-NEXT:    relax.call @main_sized(%x, %k)
// CHECK:       relax.func private @main_sized(%x: !relax.tensor<[n], f32>, %k: !relax.prim<i64, k>) -> tuple<!relax.object, !relax.tensor<[], f32>> attributes {own_memory} {
// CHECK-NEXT:    %z = relax.ones
// CHECK-NEXT:    %t = relax.sum %x
// CHECK:         relax.call_pure_packed "vm.builtin.copy"
relax.func @main(%x: !relax.tensor<[n], f32>, %c: !relax.tensor<[1], i64>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<[], f32>> {
  %s = relax.tensor_to_shape %c : !relax.tensor<[1], i64> -> !relax.shape<rank 1>
  %d = relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[k]>
  %z = relax.ones {shape = [#sym.expr<k>]} : !relax.tensor<[k], f32>
  %t = relax.sum %x : !relax.tensor<[n], f32> -> !relax.tensor<[], f32>
  %r = relax.tuple(%z, %t) : (!relax.tensor<[k], f32>, !relax.tensor<[], f32>) -> tuple<!relax.tensor<[k], f32>, !relax.tensor<[], f32>>
  relax.return %r : tuple<!relax.tensor<[k], f32>, !relax.tensor<[], f32>>
}

// -----

// A cast to the size checks a dim: the function after it does not declare the size.
// CHECK-LABEL: relax.func @checked
// CHECK:         relax.call @checked_sized(%x, %k)
// CHECK:       relax.func private @checked_sized(%x: !relax.tensor<[n], f32>, %k: !relax.prim<i64, k>)
// CHECK-NEXT:    relax.match_cast %x written "(k,)" : !relax.tensor<[n], f32> -> !relax.tensor<[k], f32>
relax.func @checked(%x: !relax.tensor<[n], f32>, %c: !relax.tensor<[1], i64>) -> !relax.tensor<rank 1, f32> {
  %s = relax.tensor_to_shape %c : !relax.tensor<[1], i64> -> !relax.shape<rank 1>
  %d = relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[k]>
  %y = relax.match_cast %x : !relax.tensor<[n], f32> -> !relax.tensor<[k], f32>
  relax.return %y : !relax.tensor<[k], f32>
}

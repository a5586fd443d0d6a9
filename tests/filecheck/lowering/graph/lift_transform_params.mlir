// RUN: xrelax-opt %s -p lift-transform-params --split-input-file | filecheck %s

// What depends on %w alone is lifted up to the marker, zeros are not; %v is still used.
// CHECK-LABEL: relax.func @main(%x: {{.*}}, %v: {{.*}}, %t: {{.*}}) -> {{.*}} attributes {num_input = 1 : i64}
// CHECK-NEXT: %[[Z:.*]] = relax.ones
// CHECK-NEXT: %[[U:.*]] = relax.add %t, %[[Z]]
// CHECK-NEXT: %[[Y:.*]] = relax.matmul %x, %[[U]]
// CHECK-NEXT: relax.add %[[Y]], %v
// CHECK: relax.func @main_transform_params(%params: tuple<!relax.tensor<[4, 3], f32>, !relax.tensor<[4], f32>>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[3, 4], f32>> attributes {num_input = 0 : i64}
// CHECK: %[[W:.*]] = relax.tuple_get_item %params[0]
// CHECK-NEXT: %[[T:.*]] = relax.permute_dims %[[W]]
// CHECK-NEXT: %[[V:.*]] = relax.tuple_get_item %params[1]
// CHECK-NEXT: relax.tuple(%[[V]], %[[T]])
relax.func @main(%x: !relax.tensor<[2, 3], f32>, %w: !relax.tensor<[4, 3], f32>, %v: !relax.tensor<[4], f32>) -> !relax.tensor<[2, 4], f32> attributes {num_input = 1 : i64} {
  %t = relax.permute_dims %w : !relax.tensor<[4, 3], f32> -> !relax.tensor<[3, 4], f32>
  %s = relax.builtin.stop_lift_params %t : !relax.tensor<[3, 4], f32> -> !relax.tensor<[3, 4], f32>
  %z = relax.ones {shape = [#sym.expr<3>, #sym.expr<4>]} : !relax.tensor<[3, 4], f32>
  %u = relax.add %s, %z : !relax.tensor<[3, 4], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[3, 4], f32>
  %y = relax.matmul %x, %u : !relax.tensor<[2, 3], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[2, 4], f32>
  %o = relax.add %y, %v : !relax.tensor<[2, 4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[2, 4], f32>
  relax.return %o : !relax.tensor<[2, 4], f32>
}

// -----

// A symbol that only a lifted parameter declares is passed as a shape.
// CHECK-LABEL: relax.func @symbols(%x: {{.*}}, %s: {{.*}}, %symbols: !relax.shape<[n]>)
// CHECK: relax.func @symbols_transform_params
// CHECK: relax.shape
relax.func @symbols(%x: !relax.tensor<[2], f32>, %w: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[], f32>> attributes {num_input = 1 : i64} {
  %s = relax.sum %w : !relax.tensor<[n], f32> -> !relax.tensor<[], f32>
  %z = relax.zeros {shape = [#sym.expr<n>]} : !relax.tensor<[n], f32>
  %a = relax.sum %z : !relax.tensor<[n], f32> -> !relax.tensor<[], f32>
  %y = relax.add %x, %s : !relax.tensor<[2], f32>, !relax.tensor<[], f32> -> !relax.tensor<[2], f32>
  %o = relax.tuple(%y, %a) : (!relax.tensor<[2], f32>, !relax.tensor<[], f32>) -> tuple<!relax.tensor<[2], f32>, !relax.tensor<[], f32>>
  relax.return %o : tuple<!relax.tensor<[2], f32>, !relax.tensor<[], f32>>
}

// -----

// Without num_input nothing is a parameter.
// CHECK-LABEL: relax.func @plain(%x: {{.*}}, %w: {{.*}})
// CHECK-NOT: transform_params
relax.func @plain(%x: !relax.tensor<[2], f32>, %w: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {
  %s = relax.exp %w : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
  %y = relax.add %x, %s : !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
  relax.return %y : !relax.tensor<[2], f32>
}

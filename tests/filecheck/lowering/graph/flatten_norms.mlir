// RUN: xrelax-opt %s -p flatten-norms | filecheck %s

// Images, whose scale is one number for a channel, and tables of numbers, which are flattened too.
// CHECK-LABEL: relax.func @images
// CHECK-NEXT:    %[[X:.*]] = relax.reshape %x {{.*}} -> !relax.tensor<[n, 8, h * w], f32>
// CHECK-NEXT:    %[[Y:.*]] = relax.nn.group_norm %[[X]], %g, %g {num_groups = 4 : i64, channel_axis = 1 : i64, axes = array<i64: 2>}
// CHECK-NEXT:    %y = relax.reshape %[[Y]] {{.*}} -> !relax.tensor<[n, 8, h, w], f32>
// CHECK-NEXT:    relax.return %y
relax.func @images(%x: !relax.tensor<[n, 8, h, w], f32>, %g: !relax.tensor<[8], f32>) -> !relax.tensor<[n, 8, h, w], f32> {
  %y = relax.nn.group_norm %x, %g, %g {num_groups = 4 : i64, channel_axis = 1 : i64, axes = array<i64: 2, 3>} : !relax.tensor<[n, 8, h, w], f32>, !relax.tensor<[8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[n, 8, h, w], f32>
  relax.return %y : !relax.tensor<[n, 8, h, w], f32>
}

// CHECK-LABEL: relax.func @tables
// CHECK:         %[[Y:.*]] = relax.nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {axes = array<i64: 1>} : !relax.tensor<[4, 15], f32>, !relax.tensor<[15], f32>, !relax.tensor<[15], f32>
// CHECK-NEXT:    relax.reshape %[[Y]] {{.*}} -> !relax.tensor<[4, 3, 5], f32>
relax.func @tables(%x: !relax.tensor<[4, 3, 5], f32>, %g: !relax.tensor<[3, 5], f32>) -> !relax.tensor<[4, 3, 5], f32> {
  %y = relax.nn.layer_norm %x, %g, %g {axes = array<i64: 1, 2>} : !relax.tensor<[4, 3, 5], f32>, !relax.tensor<[3, 5], f32>, !relax.tensor<[3, 5], f32> -> !relax.tensor<[4, 3, 5], f32>
  relax.return %y : !relax.tensor<[4, 3, 5], f32>
}

// Not rows that are there already, dims that are not the last ones, and another order of them.
// CHECK-LABEL: relax.func @kept
// CHECK-NOT:     relax.reshape
relax.func @kept(%x: !relax.tensor<[4, 3, 5], f32>, %g: !relax.tensor<[5], f32>, %h: !relax.tensor<[4, 3], f32>, %i: !relax.tensor<[3], f32>) -> !relax.tensor<[4, 3, 5], f32> {
  %a = relax.nn.layer_norm %x, %g, %g {axes = array<i64: 2>} : !relax.tensor<[4, 3, 5], f32>, !relax.tensor<[5], f32>, !relax.tensor<[5], f32> -> !relax.tensor<[4, 3, 5], f32>
  %b = relax.nn.layer_norm %a, %h, %h {axes = array<i64: 0, 1>} : !relax.tensor<[4, 3, 5], f32>, !relax.tensor<[4, 3], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[4, 3, 5], f32>
  relax.return %b : !relax.tensor<[4, 3, 5], f32>
}

// A channel axis that is counted from the end, and one that is normalized itself.
// CHECK-LABEL: relax.func @channels
// CHECK:         relax.nn.group_norm %{{.*}} {num_groups = 4 : i64, channel_axis = 1 : i64, axes = array<i64: 2>}
// CHECK:         relax.nn.instance_norm %{{.*}} {channel_axis = 1 : i64, axes = array<i64: 1, 2, 3>}
relax.func @channels(%x: !relax.tensor<[n, 8, h, w], f32>, %g: !relax.tensor<[8], f32>) -> !relax.tensor<[n, 8, h, w], f32> {
  %y = relax.nn.group_norm %x, %g, %g {num_groups = 4 : i64, channel_axis = -3 : i64, axes = array<i64: -2, -1>} : !relax.tensor<[n, 8, h, w], f32>, !relax.tensor<[8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[n, 8, h, w], f32>
  %z = relax.nn.instance_norm %y, %g, %g {channel_axis = 1 : i64, axes = array<i64: 1, 2, 3>} : !relax.tensor<[n, 8, h, w], f32>, !relax.tensor<[8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[n, 8, h, w], f32>
  relax.return %z : !relax.tensor<[n, 8, h, w], f32>
}

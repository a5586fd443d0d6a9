// RUN: xrelax-opt %s -p 'convert-layout{desired_layouts="relax.image.resize2d NHWC"}' | filecheck %s

// A convolution with blocked layouts reads its data in the original order.
// CHECK-LABEL: @blocked
// CHECK:       relax.image.resize2d {{.*}}layout = "NHWC"
// CHECK:       %[[A:.*]] = relax.permute_dims {{.*}} -> !relax.tensor<[2, 2, 8, 8, 1], f32>
// CHECK-NEXT:  relax.nn.conv2d %[[A]], %w {data_layout = "NCHW1c", kernel_layout = "OIHW1i"}
relax.func @blocked(%x: !relax.tensor<[2, 2, 4, 4], f32>, %w: !relax.tensor<[4, 2, 1, 1, 1], f32>) -> !relax.tensor<[2, 4, 8, 8, 1], f32> {
  %r = relax.dataflow -> !relax.tensor<[2, 4, 8, 8, 1], f32> {
    %0 = relax.image.resize2d %x {size = [#sym.expr<8>, #sym.expr<8>]} : !relax.tensor<[2, 2, 4, 4], f32> -> !relax.tensor<[2, 2, 8, 8], f32>
    %a = relax.expand_dims %0 {axis = array<i64: 4>} : !relax.tensor<[2, 2, 8, 8], f32> -> !relax.tensor<[2, 2, 8, 8, 1], f32>
    %1 = relax.nn.conv2d %a, %w {data_layout = "NCHW1c", kernel_layout = "OIHW1i"} : !relax.tensor<[2, 2, 8, 8, 1], f32>, !relax.tensor<[4, 2, 1, 1, 1], f32> -> !relax.tensor<[2, 4, 8, 8, 1], f32>
    relax.output %1 : !relax.tensor<[2, 4, 8, 8, 1], f32>
  }
  relax.return %r : !relax.tensor<[2, 4, 8, 8, 1], f32>
}

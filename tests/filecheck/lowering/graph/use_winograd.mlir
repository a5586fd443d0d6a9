// RUN: xrelax-opt %s -p 'use-winograd{target="llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"}' --split-input-file | filecheck %s

// Tiles of 4x4 where weights fit the caches; results are stored with channels last.

// CHECK-LABEL: @channels_first
// CHECK:         %[[W:.*]] = relax.permute_dims %w {axes = array<i64: 2, 3, 1, 0>}
// CHECK:         %[[U:.*]] = relax.nn.winograd_weight %[[W]] : !relax.tensor<[3, 3, 64, 32], f32> -> !relax.tensor<[6, 6, 64, 32], f32>
// CHECK:         %[[Y:.*]] = relax.nn.winograd_conv2d %x, %[[U]] {padding = array<i64: 1, 1, 1, 1>, block = array<i64: 1, 14>, out_layout = "NHWC"} : !relax.tensor<[n, 64, 56, 56], f32>, !relax.tensor<[6, 6, 64, 32], f32> -> !relax.tensor<[n, 56, 56, 32], f32>
// CHECK:         relax.permute_dims %[[Y]] {axes = array<i64: 0, 3, 1, 2>}
relax.func @channels_first(%x: !relax.tensor<[n, 64, 56, 56], f32>) -> !relax.tensor<[n, 32, 56, 56], f32> {
  %0 = relax.constant <float32, [], [0.5]> : !relax.tensor<[], f32>
  %w = relax.full %0 {shape = [#sym.expr<32>, #sym.expr<64>, #sym.expr<3>, #sym.expr<3>]} : !relax.tensor<[], f32> -> !relax.tensor<[32, 64, 3, 3], f32>
  %y = relax.nn.conv2d %x, %w {padding = array<i64: 1, 1>} : !relax.tensor<[n, 64, 56, 56], f32>, !relax.tensor<[32, 64, 3, 3], f32> -> !relax.tensor<[n, 32, 56, 56], f32>
  relax.return %y : !relax.tensor<[n, 32, 56, 56], f32>
}

// -----

// Tiles of 2x2 where the weights of larger ones would take longer to load.

// CHECK-LABEL: @few_tiles
// CHECK:         relax.nn.winograd_weight %w {tile = 2 : i64} : !relax.tensor<[3, 3, 512, 512], f32> -> !relax.tensor<[4, 4, 512, 512], f32>
// CHECK:         relax.nn.winograd_conv2d %x, %{{.*}} {padding = array<i64: 1, 1, 1, 1>, tile = 2 : i64, block = array<i64: 4, 4>, data_layout = "NHWC"}
relax.func @few_tiles(%x: !relax.tensor<[1, 7, 7, 512], f32>) -> !relax.tensor<[1, 7, 7, 512], f32> {
  %0 = relax.constant <float32, [], [0.5]> : !relax.tensor<[], f32>
  %w = relax.full %0 {shape = [#sym.expr<3>, #sym.expr<3>, #sym.expr<512>, #sym.expr<512>]} : !relax.tensor<[], f32> -> !relax.tensor<[3, 3, 512, 512], f32>
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "NHWC", padding = array<i64: 1, 1>} : !relax.tensor<[1, 7, 7, 512], f32>, !relax.tensor<[3, 3, 512, 512], f32> -> !relax.tensor<[1, 7, 7, 512], f32>
  relax.return %y : !relax.tensor<[1, 7, 7, 512], f32>
}

// -----

// Strides, groups, dilations, other windows, few channels, other dtypes and sizes that are not
// known stay, and so do weights that are not constant.

// CHECK-LABEL: @kept
// CHECK-NOT:     winograd
relax.func @kept(%x: !relax.tensor<[1, 64, 56, 56], f32>, %v: !relax.tensor<[64, 64, 3, 3], f32>, %z: !relax.tensor<[1, 3, 56, 56], f32>, %d: !relax.tensor<[1, 64, 56, 56], f64>, %s: !relax.tensor<[1, 64, h, 56], f32>) -> !relax.tensor<[1, 64, 28, 28], f32> {
  %0 = relax.constant <float32, [], [0.5]> : !relax.tensor<[], f32>
  %1 = relax.constant <float64, [], [0.5]> : !relax.tensor<[], f64>
  %w = relax.full %0 {shape = [#sym.expr<64>, #sym.expr<64>, #sym.expr<3>, #sym.expr<3>]} : !relax.tensor<[], f32> -> !relax.tensor<[64, 64, 3, 3], f32>
  %own = relax.full %0 {shape = [#sym.expr<64>, #sym.expr<32>, #sym.expr<3>, #sym.expr<3>]} : !relax.tensor<[], f32> -> !relax.tensor<[64, 32, 3, 3], f32>
  %wide = relax.full %0 {shape = [#sym.expr<64>, #sym.expr<64>, #sym.expr<5>, #sym.expr<5>]} : !relax.tensor<[], f32> -> !relax.tensor<[64, 64, 5, 5], f32>
  %few = relax.full %0 {shape = [#sym.expr<64>, #sym.expr<3>, #sym.expr<3>, #sym.expr<3>]} : !relax.tensor<[], f32> -> !relax.tensor<[64, 3, 3, 3], f32>
  %double = relax.full %1 {shape = [#sym.expr<64>, #sym.expr<64>, #sym.expr<3>, #sym.expr<3>]} : !relax.tensor<[], f64> -> !relax.tensor<[64, 64, 3, 3], f64>
  %a = relax.nn.conv2d %x, %w {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} : !relax.tensor<[1, 64, 56, 56], f32>, !relax.tensor<[64, 64, 3, 3], f32> -> !relax.tensor<[1, 64, 28, 28], f32>
  %b = relax.nn.conv2d %x, %own {groups = 2 : i64, padding = array<i64: 1, 1>} : !relax.tensor<[1, 64, 56, 56], f32>, !relax.tensor<[64, 32, 3, 3], f32> -> !relax.tensor<[1, 64, 56, 56], f32>
  %c = relax.nn.conv2d %x, %w {dilation = array<i64: 2, 2>} : !relax.tensor<[1, 64, 56, 56], f32>, !relax.tensor<[64, 64, 3, 3], f32> -> !relax.tensor<[1, 64, 52, 52], f32>
  %e = relax.nn.conv2d %x, %wide : !relax.tensor<[1, 64, 56, 56], f32>, !relax.tensor<[64, 64, 5, 5], f32> -> !relax.tensor<[1, 64, 52, 52], f32>
  %f = relax.nn.conv2d %z, %few : !relax.tensor<[1, 3, 56, 56], f32>, !relax.tensor<[64, 3, 3, 3], f32> -> !relax.tensor<[1, 64, 54, 54], f32>
  %g = relax.nn.conv2d %d, %double : !relax.tensor<[1, 64, 56, 56], f64>, !relax.tensor<[64, 64, 3, 3], f64> -> !relax.tensor<[1, 64, 54, 54], f64>
  %h = relax.nn.conv2d %s, %w : !relax.tensor<[1, 64, h, 56], f32>, !relax.tensor<[64, 64, 3, 3], f32> -> !relax.tensor<[1, 64, h - 2, 54], f32>
  %i = relax.nn.conv2d %x, %v : !relax.tensor<[1, 64, 56, 56], f32>, !relax.tensor<[64, 64, 3, 3], f32> -> !relax.tensor<[1, 64, 54, 54], f32>
  relax.return %a : !relax.tensor<[1, 64, 28, 28], f32>
}

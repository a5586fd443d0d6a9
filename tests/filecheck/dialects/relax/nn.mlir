// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Products: what they are summed up in, and a transposed operand.
// CHECK-LABEL: @products
relax.func @products(%x0: !relax.tensor<[n, 4], i8>, %x1: !relax.tensor<[8, 4], i8>, %x2: !relax.tensor<[n, 4], f16>, %x3: !relax.tensor<[8, 4], f16>, %x4: !relax.tensor<[8], f16>, %x5: !relax.tensor<[n], f32>, %x6: !relax.tensor<[m], f32>) -> !relax.tensor<[n, m], f32> {
  // CHECK: %0 = relax.matmul %x0, %x1 {out_dtype = i32, transpose_rhs = true} : !relax.tensor<[n, 4], i8>, !relax.tensor<[8, 4], i8> -> !relax.tensor<[n, 8], i32>
  %0 = relax.matmul %x0, %x1 {out_dtype = i32, transpose_rhs = true} : !relax.tensor<[n, 4], i8>, !relax.tensor<[8, 4], i8> -> !relax.tensor<[n, 8], i32>
  // CHECK: %1 = relax.linear %x2, %x3 bias %x4 : !relax.tensor<[8], f16> {out_dtype = f32} : !relax.tensor<[n, 4], f16>, !relax.tensor<[8, 4], f16> -> !relax.tensor<[n, 8], f32>
  %1 = relax.linear %x2, %x3 bias %x4 : !relax.tensor<[8], f16> {out_dtype = f32} : !relax.tensor<[n, 4], f16>, !relax.tensor<[8, 4], f16> -> !relax.tensor<[n, 8], f32>
  // CHECK: %2 = relax.outer %x5, %x6 : !relax.tensor<[n], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[n, m], f32>
  %2 = relax.outer %x5, %x6 : !relax.tensor<[n], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[n, m], f32>
  // CHECK: %3 = relax.einsum %x5, %x6 {subscripts = "i,j->ji"} : (!relax.tensor<[n], f32>, !relax.tensor<[m], f32>) -> !relax.tensor<[m, n], f32>
  %3 = relax.einsum %x5, %x6 {subscripts = "i,j->ji"} : (!relax.tensor<[n], f32>, !relax.tensor<[m], f32>) -> !relax.tensor<[m, n], f32>
  relax.return %2 : !relax.tensor<[n, m], f32>
}

// -----

// Convolutions and their transposes, with every kind of attribute.
// CHECK-LABEL: @convolutions
relax.func @convolutions(%x0: !relax.tensor<[n, 4, w], f32>, %x1: !relax.tensor<[8, 2, 3], f32>, %x2: !relax.tensor<[n, h, w, 3], f16>, %x3: !relax.tensor<[3, 3, 3, 8], f16>, %x4: !relax.tensor<[n, 4, w], f32>, %x5: !relax.tensor<[4, 2, 3], f32>, %x6: !relax.tensor<[n, 4, h, w], f32>, %x7: !relax.tensor<[4, 2, 3, 3], f32>) -> !relax.tensor<[n, 4, h + 2, w + 2], f32> {
  // CHECK: %0 = relax.nn.conv1d %x0, %x1 {strides = array<i64: 2>, padding = array<i64: 1>, dilation = array<i64: 2>, groups = 2 : i64}
  %0 = relax.nn.conv1d %x0, %x1 {strides = array<i64: 2>, padding = array<i64: 1>, dilation = array<i64: 2>, groups = 2 : i64} : !relax.tensor<[n, 4, w], f32>, !relax.tensor<[8, 2, 3], f32> -> !relax.tensor<[n, 8, (w + 1) floordiv 2 - 1], f32>
  // CHECK: %1 = relax.nn.conv2d %x2, %x3 {data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "NCHW", out_dtype = f32}
  %1 = relax.nn.conv2d %x2, %x3 {data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "NCHW", out_dtype = f32} : !relax.tensor<[n, h, w, 3], f16>, !relax.tensor<[3, 3, 3, 8], f16> -> !relax.tensor<[n, 8, h - 2, w - 2], f32>
  // CHECK: %2 = relax.nn.conv1d_transpose %x4, %x5 {strides = array<i64: 2>, output_padding = array<i64: 1>}
  %2 = relax.nn.conv1d_transpose %x4, %x5 {strides = array<i64: 2>, output_padding = array<i64: 1>} : !relax.tensor<[n, 4, w], f32>, !relax.tensor<[4, 2, 3], f32> -> !relax.tensor<[n, 2, w * 2 + 2], f32>
  // CHECK: %3 = relax.nn.conv2d_transpose %x6, %x7 {groups = 2 : i64}
  %3 = relax.nn.conv2d_transpose %x6, %x7 {groups = 2 : i64} : !relax.tensor<[n, 4, h, w], f32>, !relax.tensor<[4, 2, 3, 3], f32> -> !relax.tensor<[n, 4, h + 2, w + 2], f32>
  relax.return %3 : !relax.tensor<[n, 4, h + 2, w + 2], f32>
}

// -----

// Pools over windows of a size, and into a number of windows.
// CHECK-LABEL: @pools
relax.func @pools(%x0: !relax.tensor<[n, c, w], f32>, %x1: !relax.tensor<[n, c, h, w], i8>, %x2: !relax.tensor<[n, c, w], f32>, %x3: !relax.tensor<[n, h, w, c], f32>, %x4: !relax.tensor<[n, c, w], f32>, %x5: !relax.tensor<[n, c, h, w], f32>, %x6: !relax.tensor<[n, c, w], f32>, %x7: !relax.tensor<[n, c, h, w], f32>) -> !relax.tensor<[n, c, 1, 1], f32> {
  // CHECK: %0 = relax.nn.max_pool1d %x0 {pool_size = array<i64: 2>, strides = array<i64: 2>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, w floordiv 2], f32>
  %0 = relax.nn.max_pool1d %x0 {pool_size = array<i64: 2>, strides = array<i64: 2>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, w floordiv 2], f32>
  // CHECK: %1 = relax.nn.max_pool2d %x1 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, ceil_mode = true}
  %1 = relax.nn.max_pool2d %x1 {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, ceil_mode = true} : !relax.tensor<[n, c, h, w], i8> -> !relax.tensor<[n, c, h floordiv 2 + 1, w floordiv 2 + 1], i8>
  // CHECK: %2 = relax.nn.avg_pool1d %x2 {pool_size = array<i64: 2>, count_include_pad = true} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, w - 1], f32>
  %2 = relax.nn.avg_pool1d %x2 {pool_size = array<i64: 2>, count_include_pad = true} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, w - 1], f32>
  // CHECK: %3 = relax.nn.avg_pool2d %x3 {pool_size = array<i64: 2>, layout = "NHWC", out_layout = "NCHW"}
  %3 = relax.nn.avg_pool2d %x3 {pool_size = array<i64: 2>, layout = "NHWC", out_layout = "NCHW"} : !relax.tensor<[n, h, w, c], f32> -> !relax.tensor<[n, c, h - 1, w - 1], f32>
  // CHECK: %4 = relax.nn.adaptive_avg_pool1d %x4 {output_size = array<i64: 1>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 1], f32>
  %4 = relax.nn.adaptive_avg_pool1d %x4 {output_size = array<i64: 1>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 1], f32>
  // CHECK: %5 = relax.nn.adaptive_avg_pool2d %x5 {output_size = array<i64: 1, 1>} : !relax.tensor<[n, c, h, w], f32> -> !relax.tensor<[n, c, 1, 1], f32>
  %5 = relax.nn.adaptive_avg_pool2d %x5 {output_size = array<i64: 1, 1>} : !relax.tensor<[n, c, h, w], f32> -> !relax.tensor<[n, c, 1, 1], f32>
  // CHECK: %6 = relax.nn.adaptive_max_pool1d %x6 {output_size = array<i64: 1>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 1], f32>
  %6 = relax.nn.adaptive_max_pool1d %x6 {output_size = array<i64: 1>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 1], f32>
  // CHECK: %7 = relax.nn.adaptive_max_pool2d %x7 {output_size = array<i64: 1, 1>} : !relax.tensor<[n, c, h, w], f32> -> !relax.tensor<[n, c, 1, 1], f32>
  %7 = relax.nn.adaptive_max_pool2d %x7 {output_size = array<i64: 1, 1>} : !relax.tensor<[n, c, h, w], f32> -> !relax.tensor<[n, c, 1, 1], f32>
  relax.return %7 : !relax.tensor<[n, c, 1, 1], f32>
}

// -----

// Three spatial dims.
// CHECK-LABEL: @volumes
relax.func @volumes(%x0: !relax.tensor<[n, 4, d, h, w], f32>, %x1: !relax.tensor<[8, 2, 3, 3, 3], f32>, %x2: !relax.tensor<[n, d, h, w, 4], f32>, %x3: !relax.tensor<[4, 2, 2, 2, 2], f32>) -> !relax.tensor<[n, 8, 2, 2, 1], f32> {
  // CHECK: %0 = relax.nn.conv3d %x0, %x1 {padding = array<i64: 1, 1, 1>, groups = 2 : i64}
  %0 = relax.nn.conv3d %x0, %x1 {padding = array<i64: 1, 1, 1>, groups = 2 : i64} : !relax.tensor<[n, 4, d, h, w], f32>, !relax.tensor<[8, 2, 3, 3, 3], f32> -> !relax.tensor<[n, 8, d, h, w], f32>
  // CHECK: %1 = relax.nn.conv3d_transpose %x2, %x3 {data_layout = "NDHWC", out_layout = "NCDHW"}
  %1 = relax.nn.conv3d_transpose %x2, %x3 {data_layout = "NDHWC", out_layout = "NCDHW"} : !relax.tensor<[n, d, h, w, 4], f32>, !relax.tensor<[4, 2, 2, 2, 2], f32> -> !relax.tensor<[n, 2, d + 1, h + 1, w + 1], f32>
  // CHECK: %2 = relax.nn.max_pool3d %0 {pool_size = array<i64: 2, 2, 2>}
  %2 = relax.nn.max_pool3d %0 {pool_size = array<i64: 2, 2, 2>} : !relax.tensor<[n, 8, d, h, w], f32> -> !relax.tensor<[n, 8, d - 1, h - 1, w - 1], f32>
  // CHECK: %3 = relax.nn.avg_pool3d %2 {divisor_override = 5 : i64, pool_size = array<i64: 2>}
  %3 = relax.nn.avg_pool3d %2 {divisor_override = 5 : i64, pool_size = array<i64: 2>} : !relax.tensor<[n, 8, d - 1, h - 1, w - 1], f32> -> !relax.tensor<[n, 8, d - 2, h - 2, w - 2], f32>
  // CHECK: %4 = relax.nn.adaptive_avg_pool3d %3 {output_size = array<i64: 1>}
  %4 = relax.nn.adaptive_avg_pool3d %3 {output_size = array<i64: 1>} : !relax.tensor<[n, 8, d - 2, h - 2, w - 2], f32> -> !relax.tensor<[n, 8, 1, 1, 1], f32>
  // CHECK: %5 = relax.nn.adaptive_max_pool3d %3 {output_size = array<i64: 2, 2, 1>}
  %5 = relax.nn.adaptive_max_pool3d %3 {output_size = array<i64: 2, 2, 1>} : !relax.tensor<[n, 8, d - 2, h - 2, w - 2], f32> -> !relax.tensor<[n, 8, 2, 2, 1], f32>
  relax.return %5 : !relax.tensor<[n, 8, 2, 2, 1], f32>
}

// -----

// Max pools with the indices of their elements.
// CHECK-LABEL: @indices
relax.func @indices(%x0: !relax.tensor<[n, c, w], f32>, %x1: !relax.tensor<[n, c, h, w], f32>, %x2: !relax.tensor<[n, c, d, h, w], f32>) -> tuple<!relax.tensor<[n, c, w - 1], f32>, !relax.tensor<[n, c, w - 1], i64>> {
  // CHECK: %0 = relax.nn.max_pool1d_with_indices %x0 {pool_size = array<i64: 2>} : !relax.tensor<[n, c, w], f32> -> tuple<!relax.tensor<[n, c, w - 1], f32>, !relax.tensor<[n, c, w - 1], i64>>
  %0 = relax.nn.max_pool1d_with_indices %x0 {pool_size = array<i64: 2>} : !relax.tensor<[n, c, w], f32> -> tuple<!relax.tensor<[n, c, w - 1], f32>, !relax.tensor<[n, c, w - 1], i64>>
  // CHECK: %1 = relax.nn.max_pool2d_with_indices %x1
  %1 = relax.nn.max_pool2d_with_indices %x1 : !relax.tensor<[n, c, h, w], f32> -> tuple<!relax.tensor<[n, c, h, w], f32>, !relax.tensor<[n, c, h, w], i64>>
  // CHECK: %2 = relax.nn.max_pool3d_with_indices %x2
  %2 = relax.nn.max_pool3d_with_indices %x2 : !relax.tensor<[n, c, d, h, w], f32> -> tuple<!relax.tensor<[n, c, d, h, w], f32>, !relax.tensor<[n, c, d, h, w], i64>>
  relax.return %0 : tuple<!relax.tensor<[n, c, w - 1], f32>, !relax.tensor<[n, c, w - 1], i64>>
}

// -----

// Statistics of the batch, and how far the moving ones move.
// CHECK-LABEL: @batch_norm_in_training
relax.func @batch_norm_in_training(%x: !relax.tensor<[n, c], f32>, %v: !relax.tensor<[c], f32>) -> !relax.tensor<[n, c], f32> {
  // CHECK: %0 = relax.nn.batch_norm %x, %v, %v, %v, %v {axis = -1 : i64, momentum = 0.000000e+00 : f64, training = true}
  %0 = relax.nn.batch_norm %x, %v, %v, %v, %v {axis = -1 : i64, momentum = 0.000000e+00 : f64, training = true} : !relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32> -> tuple<!relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>>
  relax.return %x : !relax.tensor<[n, c], f32>
}

// Normalisations; gamma and beta that are not used are still operands.
// CHECK-LABEL: @norms
relax.func @norms(%x0: !relax.tensor<[n, c, w], f32>, %x1: !relax.tensor<[c], f32>, %x2: !relax.tensor<[c], f32>, %x3: !relax.tensor<[c], f32>, %x4: !relax.tensor<[c], f32>, %x5: !relax.tensor<[n, c], f32>, %x6: !relax.tensor<[c], f32>, %x7: !relax.tensor<[c], f32>, %x8: !relax.tensor<[n, c], f32>, %x9: !relax.tensor<[c], f32>, %x10: !relax.tensor<[n, 6, w], f32>, %x11: !relax.tensor<[6], f32>, %x12: !relax.tensor<[6], f32>, %x13: !relax.tensor<[n, c, w], f32>, %x14: !relax.tensor<[c], f32>, %x15: !relax.tensor<[c], f32>) -> !relax.tensor<[n, c, w], f32> {
  // CHECK: %0 = relax.nn.batch_norm %x0, %x1, %x2, %x3, %x4 {epsilon = 1.000000e-03 : f64, center = false, scale = false, momentum = 9.000000e-01 : f64}
  %0 = relax.nn.batch_norm %x0, %x1, %x2, %x3, %x4 {epsilon = 1.000000e-03 : f64, center = false, scale = false, momentum = 9.000000e-01 : f64} : !relax.tensor<[n, c, w], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32> -> tuple<!relax.tensor<[n, c, w], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>>
  // CHECK: %1 = relax.nn.layer_norm %x5, %x6, %x7 {axes = array<i64: -1>, epsilon = 1.000000e-06 : f64}
  %1 = relax.nn.layer_norm %x5, %x6, %x7 {axes = array<i64: -1>, epsilon = 1.000000e-06 : f64} : !relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32> -> !relax.tensor<[n, c], f32>
  // CHECK: %2 = relax.nn.rms_norm %x8, %x9 : !relax.tensor<[n, c], f32>, !relax.tensor<[c], f32> -> !relax.tensor<[n, c], f32>
  %2 = relax.nn.rms_norm %x8, %x9 : !relax.tensor<[n, c], f32>, !relax.tensor<[c], f32> -> !relax.tensor<[n, c], f32>
  // CHECK: %3 = relax.nn.group_norm %x10, %x11, %x12 {num_groups = 3 : i64, channel_axis = 1 : i64, axes = array<i64: 2>, center = false}
  %3 = relax.nn.group_norm %x10, %x11, %x12 {num_groups = 3 : i64, channel_axis = 1 : i64, axes = array<i64: 2>, center = false} : !relax.tensor<[n, 6, w], f32>, !relax.tensor<[6], f32>, !relax.tensor<[6], f32> -> !relax.tensor<[n, 6, w], f32>
  // CHECK: %4 = relax.nn.instance_norm %x13, %x14, %x15 {channel_axis = 1 : i64, axes = array<i64: 2>, scale = false}
  %4 = relax.nn.instance_norm %x13, %x14, %x15 {channel_axis = 1 : i64, axes = array<i64: 2>, scale = false} : !relax.tensor<[n, c, w], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32> -> !relax.tensor<[n, c, w], f32>
  relax.return %4 : !relax.tensor<[n, c, w], f32>
}

// -----

// Attention, with and without a bias.
// CHECK-LABEL: @attention
relax.func @attention(%x0: !relax.tensor<[b, s, h, d], f32>, %x1: !relax.tensor<[b, t, h, d], f32>, %x2: !relax.tensor<[b, t, h, d], f32>, %x3: !relax.tensor<[b, s, h, d], f32>, %x4: !relax.tensor<[b, t, h, d], f32>, %x5: !relax.tensor<[b, t, h, d], f32>, %x6: !relax.tensor<[s, t], f32>) -> !relax.tensor<[b, s, h, d], f32> {
  // CHECK: %0 = relax.nn.attention %x0, %x1, %x2
  %0 = relax.nn.attention %x0, %x1, %x2 : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, t, h, d], f32>, !relax.tensor<[b, t, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  // CHECK: %1 = relax.nn.attention %x3, %x4, %x5 bias %x6 : !relax.tensor<[s, t], f32> {scale = 1.250000e-01 : f64, causal_mask = "BottomRight", window_size = 4 : i64} : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, t, h, d], f32>, !relax.tensor<[b, t, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  %1 = relax.nn.attention %x3, %x4, %x5 bias %x6 : !relax.tensor<[s, t], f32> {scale = 1.250000e-01 : f64, causal_mask = "BottomRight", window_size = 4 : i64} : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, t, h, d], f32>, !relax.tensor<[b, t, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  relax.return %1 : !relax.tensor<[b, s, h, d], f32>
}

// One query for each of b sequences, whose keys and values are in pages of four positions.
// CHECK-LABEL: @paged_attention
relax.func @paged_attention(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  // CHECK: %0 = relax.nn.paged_attention %q, %k, %v, %t, %l {window = 3 : i64, softcap = 5.000000e+01 : f64} : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l {window = 3 : i64, softcap = 5.000000e+01 : f64} : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// Keys and values of int8 have a scale for each position and head.
// CHECK-LABEL: @paged_attention_int8
relax.func @paged_attention_int8(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], i8>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 2, 4], f32>) -> !relax.tensor<[b, 6, 5], f32> {
  // CHECK: %0 = relax.nn.paged_attention %q, %k, %v, %t, %l scales %s, %s : !relax.tensor<[n, 2, 4], f32>, !relax.tensor<[n, 2, 4], f32> {window = 3 : i64} : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l scales %s, %s : !relax.tensor<[n, 2, 4], f32>, !relax.tensor<[n, 2, 4], f32> {window = 3 : i64} : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// Layouts have axes in any order, also with blocks of an axis innermost.

// CHECK-LABEL: @layouts
relax.func @layouts(%x: !relax.tensor<[n, c, h, w, 4], f32>, %k: !relax.tensor<[8, c, 1, 1, 4], f32>) -> !relax.tensor<[h, w, n, 2, 4], f32> {
  // CHECK: %0 = relax.nn.max_pool2d %x {layout = "NCHW4c"}
  %0 = relax.nn.max_pool2d %x {layout = "NCHW4c"} : !relax.tensor<[n, c, h, w, 4], f32> -> !relax.tensor<[n, c, h, w, 4], f32>
  // CHECK: %1 = relax.nn.conv2d %0, %k {data_layout = "NCHW4c", kernel_layout = "OIHW4i", out_layout = "HWNC4c"}
  %1 = relax.nn.conv2d %0, %k {data_layout = "NCHW4c", kernel_layout = "OIHW4i", out_layout = "HWNC4c"} : !relax.tensor<[n, c, h, w, 4], f32>, !relax.tensor<[8, c, 1, 1, 4], f32> -> !relax.tensor<[h, w, n, 2, 4], f32>
  relax.return %1 : !relax.tensor<[h, w, n, 2, 4], f32>
}

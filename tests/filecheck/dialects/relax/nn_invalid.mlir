// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected out_dtype of 'relax.matmul' to be a float like float32, got int32
relax.func @main(%x: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[4, 4], f32> {
  %0 = relax.matmul %x, %x {out_dtype = i32} : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], i32>
  relax.return %x : !relax.tensor<[4, 4], f32>
}

// -----

// CHECK: expected rhs of 'relax.matmul' to have at least two dims to transpose, got (4,)
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.matmul %x, %x {transpose_rhs = true} : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[], f32>
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected lhs (…, k) and transposed rhs (…, n, k) of 'relax.matmul' to be compatible, got (4, 3) and (3, 4)
relax.func @main(%x: !relax.tensor<[4, 3], f32>, %y: !relax.tensor<[3, 4], f32>) -> !relax.tensor<[4, 3], f32> {
  %0 = relax.matmul %x, %y {transpose_rhs = true} : !relax.tensor<[4, 3], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[4, 4], f32>
  relax.return %x : !relax.tensor<[4, 3], f32>
}

// -----

// CHECK: expected operands of 'relax.outer' to have rank 1, got (4, 3)
relax.func @main(%x: !relax.tensor<[4, 3], f32>) -> !relax.tensor<[4, 3], f32> {
  %0 = relax.outer %x, %x : !relax.tensor<[4, 3], f32>, !relax.tensor<[4, 3], f32> -> !relax.tensor<[4, 3], f32>
  relax.return %x : !relax.tensor<[4, 3], f32>
}

// -----

// CHECK: expected channels of 'relax.nn.conv1d' to be compatible, got (n, 4, 8) as NCW, (2, 4, 3) as OIW and 2 groups
relax.func @main(%x: !relax.tensor<[n, 4, 8], f32>, %w: !relax.tensor<[2, 4, 3], f32>) -> !relax.tensor<[n, 4, 8], f32> {
  %0 = relax.nn.conv1d %x, %w {groups = 2 : i64} : !relax.tensor<[n, 4, 8], f32>, !relax.tensor<[2, 4, 3], f32> -> !relax.tensor<[n, 2, 6], f32>
  relax.return %x : !relax.tensor<[n, 4, 8], f32>
}

// -----

// CHECK: expected spatial dims of 'relax.nn.conv1d' with padding to hold a window of 5, got 4
relax.func @main(%x: !relax.tensor<[n, 4, 4], f32>, %w: !relax.tensor<[2, 4, 3], f32>) -> !relax.tensor<[n, 4, 4], f32> {
  %0 = relax.nn.conv1d %x, %w {dilation = array<i64: 2>} : !relax.tensor<[n, 4, 4], f32>, !relax.tensor<[2, 4, 3], f32> -> !relax.tensor<[n, 2, 0], f32>
  relax.return %x : !relax.tensor<[n, 4, 4], f32>
}

// -----

// CHECK: expected strides of 'relax.nn.conv1d' to be 1 int of at least 1, got (1, 2)
relax.func @main(%x: !relax.tensor<[n, 4, 4], f32>, %w: !relax.tensor<[2, 4, 3], f32>) -> !relax.tensor<[n, 4, 4], f32> {
  %0 = relax.nn.conv1d %x, %w {strides = array<i64: 1, 2>} : !relax.tensor<[n, 4, 4], f32>, !relax.tensor<[2, 4, 3], f32> -> !relax.tensor<[n, 2, 2], f32>
  relax.return %x : !relax.tensor<[n, 4, 4], f32>
}

// -----

// CHECK: expected padding of 'relax.nn.conv2d' to be 1, 2 or 4 ints of at least 0, got (1, 1, 1)
relax.func @main(%x: !relax.tensor<[n, 1, 4, 4], f32>, %w: !relax.tensor<[1, 1, 3, 3], f32>) -> !relax.tensor<[n, 1, 4, 4], f32> {
  %0 = relax.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1>} : !relax.tensor<[n, 1, 4, 4], f32>, !relax.tensor<[1, 1, 3, 3], f32> -> !relax.tensor<[n, 1, 4, 4], f32>
  relax.return %x : !relax.tensor<[n, 1, 4, 4], f32>
}

// -----

// CHECK: expected output_padding of 'relax.nn.conv1d_transpose' to be less than strides or dilation, got 2
relax.func @main(%x: !relax.tensor<[n, 4, 4], f32>, %w: !relax.tensor<[4, 2, 3], f32>) -> !relax.tensor<[n, 4, 4], f32> {
  %0 = relax.nn.conv1d_transpose %x, %w {strides = array<i64: 2>, output_padding = array<i64: 2>} : !relax.tensor<[n, 4, 4], f32>, !relax.tensor<[4, 2, 3], f32> -> !relax.tensor<[n, 2, 11], f32>
  relax.return %x : !relax.tensor<[n, 4, 4], f32>
}

// -----

// CHECK: expected padding of 'relax.nn.conv1d_transpose' to leave a result, got a dim of 0
relax.func @main(%x: !relax.tensor<[n, 4, 2], f32>, %w: !relax.tensor<[4, 2, 3], f32>) -> !relax.tensor<[n, 4, 2], f32> {
  %0 = relax.nn.conv1d_transpose %x, %w {padding = array<i64: 2>} : !relax.tensor<[n, 4, 2], f32>, !relax.tensor<[4, 2, 3], f32> -> !relax.tensor<[n, 2, 0], f32>
  relax.return %x : !relax.tensor<[n, 4, 2], f32>
}

// -----

// CHECK: expected padding of 'relax.nn.max_pool1d_with_indices' to be less than a window of 2, got (2,)
relax.func @main(%x: !relax.tensor<[n, 4, 4], f32>) -> !relax.tensor<[n, 4, 4], f32> {
  %0 = relax.nn.max_pool1d_with_indices %x {pool_size = array<i64: 2>, padding = array<i64: 2>} : !relax.tensor<[n, 4, 4], f32> -> tuple<!relax.tensor<[n, 4, 7], f32>, !relax.tensor<[n, 4, 7], i64>>
  relax.return %x : !relax.tensor<[n, 4, 4], f32>
}

// -----

// CHECK: expected output_size of 'relax.nn.adaptive_avg_pool1d' to be 1 int of at least 1, got (2, 2)
relax.func @main(%x: !relax.tensor<[n, 4, 4], f32>) -> !relax.tensor<[n, 4, 4], f32> {
  %0 = relax.nn.adaptive_avg_pool1d %x {output_size = array<i64: 2, 2>} : !relax.tensor<[n, 4, 4], f32> -> !relax.tensor<[n, 4, 2], f32>
  relax.return %x : !relax.tensor<[n, 4, 4], f32>
}

// -----

// CHECK: expected momentum of 'relax.nn.batch_norm' in [0, 1], got -0.1
relax.func @main(%x: !relax.tensor<[n, c], f32>, %v: !relax.tensor<[c], f32>) -> !relax.tensor<[n, c], f32> {
  %0 = relax.nn.batch_norm %x, %v, %v, %v, %v {momentum = -1.000000e-01 : f64, training = true} : !relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32> -> tuple<!relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>, !relax.tensor<[c], f32>>
  relax.return %x : !relax.tensor<[n, c], f32>
}

// -----

// CHECK: expected gamma of 'relax.nn.layer_norm' to have shape (c,), got (n,)
relax.func @main(%x: !relax.tensor<[n, c], f32>, %v: !relax.tensor<[n], f32>) -> !relax.tensor<[n, c], f32> {
  %0 = relax.nn.layer_norm %x, %v, %v {axes = array<i64: -1>} : !relax.tensor<[n, c], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n, c], f32>
  relax.return %x : !relax.tensor<[n, c], f32>
}

// -----

// CHECK: expected num_groups of 'relax.nn.group_norm' to divide the channels, got 4 and (n, 6, w)
relax.func @main(%x: !relax.tensor<[n, 6, w], f32>, %v: !relax.tensor<[6], f32>) -> !relax.tensor<[n, 6, w], f32> {
  %0 = relax.nn.group_norm %x, %v, %v {num_groups = 4 : i64, channel_axis = 1 : i64, axes = array<i64: 2>} : !relax.tensor<[n, 6, w], f32>, !relax.tensor<[6], f32>, !relax.tensor<[6], f32> -> !relax.tensor<[n, 6, w], f32>
  relax.return %x : !relax.tensor<[n, 6, w], f32>
}

// -----

// CHECK: expected axes of 'relax.nn.group_norm' without channel_axis 1, got (1, 2)
relax.func @main(%x: !relax.tensor<[n, 6, w], f32>, %v: !relax.tensor<[6], f32>) -> !relax.tensor<[n, 6, w], f32> {
  %0 = relax.nn.group_norm %x, %v, %v {num_groups = 3 : i64, channel_axis = 1 : i64, axes = array<i64: 1, 2>} : !relax.tensor<[n, 6, w], f32>, !relax.tensor<[6], f32>, !relax.tensor<[6], f32> -> !relax.tensor<[n, 6, w], f32>
  relax.return %x : !relax.tensor<[n, 6, w], f32>
}

// -----

// CHECK: expected query, key and value of 'relax.nn.attention' to be compatible, got (b, s, 3, d), (b, t, 2, d) and (b, t, 2, d)
relax.func @main(%q: !relax.tensor<[b, s, 3, d], f32>, %k: !relax.tensor<[b, t, 2, d], f32>) -> !relax.tensor<[b, s, 3, d], f32> {
  %0 = relax.nn.attention %q, %k, %k : !relax.tensor<[b, s, 3, d], f32>, !relax.tensor<[b, t, 2, d], f32>, !relax.tensor<[b, t, 2, d], f32> -> !relax.tensor<[b, s, 3, d], f32>
  relax.return %q : !relax.tensor<[b, s, 3, d], f32>
}

// -----

// CHECK: expected bias of 'relax.nn.attention' to broadcast to (b, h, s, s), got (h, s)
relax.func @main(%q: !relax.tensor<[b, s, h, d], f32>, %m: !relax.tensor<[h, s], f32>) -> !relax.tensor<[b, s, h, d], f32> {
  %0 = relax.nn.attention %q, %q, %q bias %m : !relax.tensor<[h, s], f32> : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  relax.return %q : !relax.tensor<[b, s, h, d], f32>
}

// -----

// CHECK: expected subscripts of 'relax.einsum' for tensors of rank 2 and 1, got 'ij,jk->ik'
relax.func @main(%x: !relax.tensor<[n, c], f32>, %v: !relax.tensor<[c], f32>) -> !relax.tensor<[n, c], f32> {
  %0 = relax.einsum %x, %v {subscripts = "ij,jk->ik"} : (!relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>) -> !relax.tensor<[n, c], f32>
  relax.return %x : !relax.tensor<[n, c], f32>
}

// -----

// CHECK: expected shapes of 'relax.einsum' to match 'ij,i->ij', got (n, c) and (c,)
relax.func @main(%x: !relax.tensor<[n, c], f32>, %v: !relax.tensor<[c], f32>) -> !relax.tensor<[n, c], f32> {
  %0 = relax.einsum %x, %v {subscripts = "ij,i->ij"} : (!relax.tensor<[n, c], f32>, !relax.tensor<[c], f32>) -> !relax.tensor<[n, c], f32>
  relax.return %x : !relax.tensor<[n, c], f32>
}

// -----

// CHECK: expected tile of 'relax.nn.winograd_weight' to be 2 or 4, got 6
relax.func @main(%w: !relax.tensor<[3, 3, 8, 8], f32>) -> !relax.tensor<[8, 8, 8, 8], f32> {
  %0 = relax.nn.winograd_weight %w {tile = 6 : i64} : !relax.tensor<[3, 3, 8, 8], f32> -> !relax.tensor<[8, 8, 8, 8], f32>
  relax.return %0 : !relax.tensor<[8, 8, 8, 8], f32>
}

// -----

// CHECK: expected windows of 'relax.nn.winograd_weight' to be 3x3, got 5x5
relax.func @main(%w: !relax.tensor<[5, 5, 8, 8], f32>) -> !relax.tensor<[6, 6, 8, 8], f32> {
  %0 = relax.nn.winograd_weight %w : !relax.tensor<[5, 5, 8, 8], f32> -> !relax.tensor<[6, 6, 8, 8], f32>
  relax.return %0 : !relax.tensor<[6, 6, 8, 8], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.winograd_conv2d' to be float32 or float64, got float16
relax.func @main(%x: !relax.tensor<[1, 8, 9, 9], f16>, %u: !relax.tensor<[6, 6, 8, 4], f16>) -> !relax.tensor<[1, 4, 7, 7], f16> {
  %0 = relax.nn.winograd_conv2d %x, %u : !relax.tensor<[1, 8, 9, 9], f16>, !relax.tensor<[6, 6, 8, 4], f16> -> !relax.tensor<[1, 4, 7, 7], f16>
  relax.return %0 : !relax.tensor<[1, 4, 7, 7], f16>
}

// -----

// CHECK: expected 4x4 products of 'relax.nn.winograd_conv2d' for tiles of 2, got 6x6
relax.func @main(%x: !relax.tensor<[1, 8, 9, 9], f32>, %u: !relax.tensor<[6, 6, 8, 4], f32>) -> !relax.tensor<[1, 4, 7, 7], f32> {
  %0 = relax.nn.winograd_conv2d %x, %u {tile = 2 : i64} : !relax.tensor<[1, 8, 9, 9], f32>, !relax.tensor<[6, 6, 8, 4], f32> -> !relax.tensor<[1, 4, 7, 7], f32>
  relax.return %0 : !relax.tensor<[1, 4, 7, 7], f32>
}

// -----

// CHECK: expected channels of 'relax.nn.winograd_conv2d' to be compatible, got (1, 8, 9, 9) as NCHW, (6, 6, 7, 4) as HWIO and 1 groups
relax.func @main(%x: !relax.tensor<[1, 8, 9, 9], f32>, %u: !relax.tensor<[6, 6, 7, 4], f32>) -> !relax.tensor<[1, 4, 7, 7], f32> {
  %0 = relax.nn.winograd_conv2d %x, %u : !relax.tensor<[1, 8, 9, 9], f32>, !relax.tensor<[6, 6, 7, 4], f32> -> !relax.tensor<[1, 4, 7, 7], f32>
  relax.return %0 : !relax.tensor<[1, 4, 7, 7], f32>
}

// -----

// CHECK: expected block of 'relax.nn.winograd_conv2d' to be 1 or 2 ints of at least 1, got (0, 2)
relax.func @main(%x: !relax.tensor<[1, 8, 9, 9], f32>, %u: !relax.tensor<[6, 6, 8, 4], f32>) -> !relax.tensor<[1, 4, 7, 7], f32> {
  %0 = relax.nn.winograd_conv2d %x, %u {block = array<i64: 0, 2>} : !relax.tensor<[1, 8, 9, 9], f32>, !relax.tensor<[6, 6, 8, 4], f32> -> !relax.tensor<[1, 4, 7, 7], f32>
  relax.return %0 : !relax.tensor<[1, 4, 7, 7], f32>
}

// -----

// CHECK: expected query, keys and values of 'relax.nn.paged_attention' to be compatible, got (b, 6, 8), (n, 4, 8, 4), (n, 4, 4, 5)
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 4, 8, 4], f16>, %v: !relax.tensor<[n, 4, 4, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 4, 8, 4], f16>, !relax.tensor<[n, 4, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected query, keys and values of 'relax.nn.paged_attention' to be compatible, got (b, 6, 8), (n, 2, 8, 4), (n, 2, 3, 5)
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 3, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 3, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected table of 'relax.nn.paged_attention' to be of b sequences, got (c, j)
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[c, j], i32>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[c, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.paged_attention' to be int32 for table and lengths, got int64
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[b, j], i64>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i64>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected lengths of 'relax.nn.paged_attention' to have rank 1, got (b, 1)
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b, 1], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b, 1], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected window of 'relax.nn.paged_attention' of at least 0, got -1
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l {window = -1 : i64} : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected key_scales of 'relax.nn.paged_attention' to have rank 3, got (n, 4)
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], i8>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l scales %s, %s : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected key_scales of 'relax.nn.paged_attention' to be (n, 2, 4), got (n, 2, 5)
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], i8>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 2, 5], f32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l scales %s, %s : !relax.tensor<[n, 2, 5], f32>, !relax.tensor<[n, 2, 5], f32> : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.paged_attention' to be int8 for keys and values with scales, got float16
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 2, 4], f32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l scales %s, %s : !relax.tensor<[n, 2, 4], f32>, !relax.tensor<[n, 2, 4], f32> : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.paged_attention' to be float32 for scales, got float16
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], i8>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 2, 4], f16>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l scales %s, %s : !relax.tensor<[n, 2, 4], f16>, !relax.tensor<[n, 2, 4], f16> : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected scales of keys and values of 'relax.nn.paged_attention', got one of them
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], i8>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 2, 4], f32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = "relax.nn.paged_attention"(%q, %k, %v, %t, %l, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>}> : (!relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32>, !relax.tensor<[n, 2, 4], f32>) -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.paged_attention' to be floats, got int8
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], i8>, %v: !relax.tensor<[n, 2, 4, 5], i8>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>, %s: !relax.tensor<[n, 2, 4], f32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], i8>, !relax.tensor<[n, 2, 4, 5], i8>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected softcap of 'relax.nn.paged_attention' above 0, got 0.0
relax.func @main(%q: !relax.tensor<[b, 6, 8], f32>, %k: !relax.tensor<[n, 2, 8, 4], f16>, %v: !relax.tensor<[n, 2, 4, 5], f16>, %t: !relax.tensor<[b, j], i32>, %l: !relax.tensor<[b], i32>) -> !relax.tensor<[b, 6, 5], f32> {
  %0 = relax.nn.paged_attention %q, %k, %v, %t, %l {softcap = 0.0 : f64} : !relax.tensor<[b, 6, 8], f32>, !relax.tensor<[n, 2, 8, 4], f16>, !relax.tensor<[n, 2, 4, 5], f16>, !relax.tensor<[b, j], i32>, !relax.tensor<[b], i32> -> !relax.tensor<[b, 6, 5], f32>
  relax.return %0 : !relax.tensor<[b, 6, 5], f32>
}

// -----

// CHECK: expected softcap of 'relax.nn.attention' above 0, got -1.0
relax.func @main(%q: !relax.tensor<[b, s, h, d], f32>) -> !relax.tensor<[b, s, h, d], f32> {
  %0 = relax.nn.attention %q, %q, %q {softcap = -1.0 : f64} : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  relax.return %0 : !relax.tensor<[b, s, h, d], f32>
}

// -----

// CHECK: expected window_size of 'relax.nn.attention' of at least 1, got 0
relax.func @main(%q: !relax.tensor<[b, s, h, d], f32>) -> !relax.tensor<[b, s, h, d], f32> {
  %0 = relax.nn.attention %q, %q, %q {causal_mask = "TopLeft", window_size = 0 : i64} : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  relax.return %0 : !relax.tensor<[b, s, h, d], f32>
}

// -----

// CHECK: expected a causal_mask for the window_size of 'relax.nn.attention', got none
relax.func @main(%q: !relax.tensor<[b, s, h, d], f32>) -> !relax.tensor<[b, s, h, d], f32> {
  %0 = relax.nn.attention %q, %q, %q {window_size = 3 : i64} : !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32>, !relax.tensor<[b, s, h, d], f32> -> !relax.tensor<[b, s, h, d], f32>
  relax.return %0 : !relax.tensor<[b, s, h, d], f32>
}

// -----

// CHECK: expected a layout such as NCHW, NHWC, got "NCHH"
relax.func @layout(%x: !relax.tensor<[1, 8, 9, 9], f32>) -> !relax.tensor<[1, 8, 9, 9], f32> {
  %0 = relax.nn.max_pool2d %x {layout = "NCHH"} : !relax.tensor<[1, 8, 9, 9], f32> -> !relax.tensor<[1, 8, 9, 9], f32>
  relax.return %0 : !relax.tensor<[1, 8, 9, 9], f32>
}

// -----

// CHECK: expected data of 'relax.nn.max_pool2d' to have rank 5, got (1, 8, 9, 9)
relax.func @rank(%x: !relax.tensor<[1, 8, 9, 9], f32>) -> !relax.tensor<[1, 8, 9, 9], f32> {
  %0 = relax.nn.max_pool2d %x {layout = "NCHW4c"} : !relax.tensor<[1, 8, 9, 9], f32> -> !relax.tensor<[1, 8, 9, 9], f32>
  relax.return %0 : !relax.tensor<[1, 8, 9, 9], f32>
}

// -----

// CHECK: expected data of 'relax.nn.max_pool2d' to have the layout NCHW4c, got (1, 2, 9, 9, 8)
relax.func @block(%x: !relax.tensor<[1, 2, 9, 9, 8], f32>) -> !relax.tensor<[1, 2, 9, 9, 8], f32> {
  %0 = relax.nn.max_pool2d %x {layout = "NCHW4c"} : !relax.tensor<[1, 2, 9, 9, 8], f32> -> !relax.tensor<[1, 2, 9, 9, 8], f32>
  relax.return %0 : !relax.tensor<[1, 2, 9, 9, 8], f32>
}

// -----

// CHECK: expected blocks of 4 of 'relax.nn.max_pool2d' to divide axis C of the result, got 6
relax.func @divided(%x: !relax.tensor<[1, 6, 9, 9], f32>) -> !relax.tensor<[1, 1, 9, 9, 4], f32> {
  %0 = relax.nn.max_pool2d %x {out_layout = "NCHW4c"} : !relax.tensor<[1, 6, 9, 9], f32> -> !relax.tensor<[1, 1, 9, 9, 4], f32>
  relax.return %0 : !relax.tensor<[1, 1, 9, 9, 4], f32>
}

// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected size of 'relax.image.resize2d' to have 2 ints, got 1
relax.func @main(%x: !relax.tensor<[n, c, h, w], f32>) -> !relax.tensor<[n, c, 3, 3], f32> {
  %0 = relax.image.resize2d %x {size = [#sym.expr<3>]} : !relax.tensor<[n, c, h, w], f32> -> !relax.tensor<[n, c, 3, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3, 3], f32>
}

// -----

// CHECK: expected scales of 'relax.image.resize1d' to be 1 positive numbers, got (0.0,)
relax.func @main(%x: !relax.tensor<[n, c, w], f32>) -> !relax.tensor<[n, c, 3], f32> {
  %0 = relax.image.resize1d %x {size = [#sym.expr<3>], scales = array<f64: 0.0>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3], f32>
}

// -----

// CHECK: expected roi of 'relax.image.resize1d' to have 2 numbers, got 1
relax.func @main(%x: !relax.tensor<[n, c, w], f32>) -> !relax.tensor<[n, c, 3], f32> {
  %0 = relax.image.resize1d %x {size = [#sym.expr<3>], roi = array<f64: 0.0>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3], f32>
}

// -----

// CHECK: expected spatial dims of 'relax.image.resize1d' other than 0, got (n, c, 0)
relax.func @main(%x: !relax.tensor<[n, c, 0], f32>) -> !relax.tensor<[n, c, 3], f32> {
  %0 = relax.image.resize1d %x {size = [#sym.expr<3>]} : !relax.tensor<[n, c, 0], f32> -> !relax.tensor<[n, c, 3], f32>
  relax.return %0 : !relax.tensor<[n, c, 3], f32>
}

// -----

// CHECK: expected data of 'relax.image.affine_grid' to be (n, 2, 3), got (n, 3, 3)
relax.func @main(%x: !relax.tensor<[n, 3, 3], f32>) -> !relax.tensor<[n, 2, 4, 4], f32> {
  %0 = relax.image.affine_grid %x {size = [#sym.expr<4>, #sym.expr<4>]} : !relax.tensor<[n, 3, 3], f32> -> !relax.tensor<[n, 2, 4, 4], f32>
  relax.return %0 : !relax.tensor<[n, 2, 4, 4], f32>
}

// -----

// CHECK: expected size of 'relax.image.affine_grid' to be 1 to 3 numbers, got 4
relax.func @main(%x: !relax.tensor<[n, 2, 3], f32>) -> !relax.tensor<[n, 2, 4, 4], f32> {
  %0 = relax.image.affine_grid %x {size = [#sym.expr<4>, #sym.expr<4>, #sym.expr<4>, #sym.expr<4>]} : !relax.tensor<[n, 2, 3], f32> -> !relax.tensor<[n, 2, 4, 4], f32>
  relax.return %0 : !relax.tensor<[n, 2, 4, 4], f32>
}

// -----

// CHECK: expected grid of 'relax.image.grid_sample' to be (n, 2, …), got (n, 3, 4, 4)
relax.func @main(%x: !relax.tensor<[n, c, h, w], f32>, %g: !relax.tensor<[n, 3, 4, 4], f32>) -> !relax.tensor<[n, c, 4, 4], f32> {
  %0 = relax.image.grid_sample %x, %g : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[n, 3, 4, 4], f32> -> !relax.tensor<[n, c, 4, 4], f32>
  relax.return %0 : !relax.tensor<[n, c, 4, 4], f32>
}

// -----

// CHECK: expected spatial dims of 'relax.image.grid_sample' other than 0, got (n, c, 0, w)
relax.func @main(%x: !relax.tensor<[n, c, 0, w], f32>, %g: !relax.tensor<[n, 2, 4, 4], f32>) -> !relax.tensor<[n, c, 4, 4], f32> {
  %0 = relax.image.grid_sample %x, %g : !relax.tensor<[n, c, 0, w], f32>, !relax.tensor<[n, 2, 4, 4], f32> -> !relax.tensor<[n, c, 4, 4], f32>
  relax.return %0 : !relax.tensor<[n, c, 4, 4], f32>
}

// -----

// CHECK: expected rois of 'relax.vision.roi_pool' to be rows of 5 numbers, got (m, 4)
relax.func @main(%x: !relax.tensor<[n, c, h, w], f32>, %r: !relax.tensor<[m, 4], f32>) -> !relax.tensor<[m, c, 2, 2], f32> {
  %0 = relax.vision.roi_pool %x, %r {pooled_size = array<i64: 2>} : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[m, 4], f32> -> !relax.tensor<[m, c, 2, 2], f32>
  relax.return %0 : !relax.tensor<[m, c, 2, 2], f32>
}

// -----

// CHECK: expected data of 'relax.vision.roi_align' to have elements, got (0, c, h, w)
relax.func @main(%x: !relax.tensor<[0, c, h, w], f32>, %r: !relax.tensor<[m, 5], f32>) -> !relax.tensor<[m, c, 2, 2], f32> {
  %0 = relax.vision.roi_align %x, %r {pooled_size = array<i64: 2>} : !relax.tensor<[0, c, h, w], f32>, !relax.tensor<[m, 5], f32> -> !relax.tensor<[m, c, 2, 2], f32>
  relax.return %0 : !relax.tensor<[m, c, 2, 2], f32>
}

// -----

// CHECK: expected loc_pred of 'relax.vision.multibox_transform_loc' to have shape (2, 20), got (2, 24)
relax.func @main(%c: !relax.tensor<[2, 3, 5], f32>, %l: !relax.tensor<[2, 24], f32>, %a: !relax.tensor<[1, 5, 4], f32>) -> tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>> {
  %0 = relax.vision.multibox_transform_loc %c, %l, %a : !relax.tensor<[2, 3, 5], f32>, !relax.tensor<[2, 24], f32>, !relax.tensor<[1, 5, 4], f32> -> tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>>
  relax.return %0 : tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>>
}

// -----

// CHECK: expected anchor of 'relax.vision.multibox_transform_loc' to have shape (1, 5, 4), got (1, 5, 5)
relax.func @main(%c: !relax.tensor<[2, 3, 5], f32>, %l: !relax.tensor<[2, 20], f32>, %a: !relax.tensor<[1, 5, 5], f32>) -> tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>> {
  %0 = relax.vision.multibox_transform_loc %c, %l, %a : !relax.tensor<[2, 3, 5], f32>, !relax.tensor<[2, 20], f32>, !relax.tensor<[1, 5, 5], f32> -> tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>>
  relax.return %0 : tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>>
}

// -----

// CHECK: expected 4 variances of 'relax.vision.multibox_transform_loc', got 1
relax.func @main(%c: !relax.tensor<[2, 3, 5], f32>, %l: !relax.tensor<[2, 20], f32>, %a: !relax.tensor<[1, 5, 4], f32>) -> tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>> {
  %0 = relax.vision.multibox_transform_loc %c, %l, %a {variances = array<f64: 1.0>} : !relax.tensor<[2, 3, 5], f32>, !relax.tensor<[2, 20], f32>, !relax.tensor<[1, 5, 4], f32> -> tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>>
  relax.return %0 : tuple<!relax.tensor<[2, 5, 4], f32>, !relax.tensor<[2, 3, 5], f32>>
}

// -----

// CHECK: expected coord_start of 'relax.vision.non_max_suppression' to be in (2, 5, 6), got 3
relax.func @nms(%x: !relax.tensor<[2, 5, 6], f32>, %c: !relax.tensor<[2], i32>, %i: !relax.tensor<[2, 5], i32>) -> !relax.tensor<[2, 5, 6], f32> {
  %0 = relax.vision.non_max_suppression %x, %c, %i {coord_start = 3 : i64, return_indices = false} : !relax.tensor<[2, 5, 6], f32>, !relax.tensor<[2], i32>, !relax.tensor<[2, 5], i32> -> !relax.tensor<[2, 5, 6], f32>
  relax.return %0 : !relax.tensor<[2, 5, 6], f32>
}

// -----

// CHECK: expected data of 'relax.vision.non_max_suppression' to have rank 3, got (5, 6)
relax.func @nms(%x: !relax.tensor<[5, 6], f32>, %c: !relax.tensor<[2], i32>, %i: !relax.tensor<[2, 5], i32>) -> !relax.tensor<[5, 6], f32> {
  %0 = relax.vision.non_max_suppression %x, %c, %i {return_indices = false} : !relax.tensor<[5, 6], f32>, !relax.tensor<[2], i32>, !relax.tensor<[2, 5], i32> -> !relax.tensor<[5, 6], f32>
  relax.return %0 : !relax.tensor<[5, 6], f32>
}

// -----

// CHECK: expected operands of 'relax.vision.non_max_suppression' to be int32, got int64
relax.func @nms(%x: !relax.tensor<[2, 5, 6], f32>, %c: !relax.tensor<[2], i64>, %i: !relax.tensor<[2, 5], i32>) -> !relax.tensor<[2, 5, 6], f32> {
  %0 = relax.vision.non_max_suppression %x, %c, %i {return_indices = false} : !relax.tensor<[2, 5, 6], f32>, !relax.tensor<[2], i64>, !relax.tensor<[2, 5], i32> -> !relax.tensor<[2, 5, 6], f32>
  relax.return %0 : !relax.tensor<[2, 5, 6], f32>
}

// -----

// CHECK: expected indices of 'relax.vision.non_max_suppression' to have shape (2, 5), got (2, 4)
relax.func @nms(%x: !relax.tensor<[2, 5, 6], f32>, %c: !relax.tensor<[2], i32>, %i: !relax.tensor<[2, 4], i32>) -> !relax.tensor<[2, 5, 6], f32> {
  %0 = relax.vision.non_max_suppression %x, %c, %i {return_indices = false} : !relax.tensor<[2, 5, 6], f32>, !relax.tensor<[2], i32>, !relax.tensor<[2, 4], i32> -> !relax.tensor<[2, 5, 6], f32>
  relax.return %0 : !relax.tensor<[2, 5, 6], f32>
}

// -----

// CHECK: expected id_index of 'relax.vision.get_valid_counts' to be in (2, 5, 6), got -2
relax.func @valid(%x: !relax.tensor<[2, 5, 6], f32>) -> !relax.tensor<[2], i32> {
  %0 = relax.vision.get_valid_counts %x {id_index = -2 : i64} : !relax.tensor<[2, 5, 6], f32> -> tuple<!relax.tensor<[2], i32>, !relax.tensor<[2, 5, 6], f32>, !relax.tensor<[2, 5], i32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[2], i32>, !relax.tensor<[2, 5, 6], f32>, !relax.tensor<[2, 5], i32>> -> !relax.tensor<[2], i32>
  relax.return %1 : !relax.tensor<[2], i32>
}

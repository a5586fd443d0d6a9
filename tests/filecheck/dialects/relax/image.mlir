// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Resizes of one to three dims, to sizes that may be symbolic.
// CHECK-LABEL: @resizes
relax.func @resizes(%x0: !relax.tensor<[n, c, w], f32>, %x1: !relax.tensor<[n, h, w, 3], i8>, %x2: !relax.tensor<[n, c, 4, 5, 6], f16>) -> !relax.tensor<[n, c, 8, 8, 3], f32> {
  // CHECK: %0 = relax.image.resize1d %x0 {size = [#sym.expr<w * 2>], method = "nearest_neighbor", coordinate_transformation_mode = "asymmetric", rounding_method = "floor", scales = array<f64: 2.000000e+00>}
  %0 = relax.image.resize1d %x0 {size = [#sym.expr<w * 2>], method = "nearest_neighbor", coordinate_transformation_mode = "asymmetric", rounding_method = "floor", scales = array<f64: 2.0>} : !relax.tensor<[n, c, w], f32> -> !relax.tensor<[n, c, w * 2], f32>
  // CHECK: %1 = relax.image.resize2d %x1 {size = [#sym.expr<n * 2>, #sym.expr<n * 2>], roi = array<f64: 0.000000e+00, 2.500000e-01, 1.000000e+00, 7.500000e-01>, layout = "NHWC", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 3 : i64}
  %1 = relax.image.resize2d %x1 {size = [#sym.expr<n * 2>, #sym.expr<n * 2>], roi = array<f64: 0.0, 0.25, 1.0, 0.75>, layout = "NHWC", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 3 : i64} : !relax.tensor<[n, h, w, 3], i8> -> !relax.tensor<[n, n * 2, n * 2, 3], i8>
  // CHECK: %2 = relax.image.resize3d %x2 {size = [#sym.expr<8>, #sym.expr<8>, #sym.expr<3>], method = "cubic", cubic_alpha = -5.000000e-01 : f64, cubic_exclude = true, out_dtype = f32, antialias = true}
  %2 = relax.image.resize3d %x2 {size = [#sym.expr<8>, #sym.expr<8>, #sym.expr<3>], method = "cubic", cubic_alpha = -0.5 : f64, cubic_exclude = true, out_dtype = f32, antialias = true} : !relax.tensor<[n, c, 4, 5, 6], f16> -> !relax.tensor<[n, c, 8, 8, 3], f32>
  relax.return %2 : !relax.tensor<[n, c, 8, 8, 3], f32>
}

// -----

// Regular grids of a plane and of a volume under affine transformations.
// CHECK-LABEL: @grids
relax.func @grids(%t: !relax.tensor<[n, 2, 3], f32>, %v: !relax.tensor<[n, 3, 4], f32>, %s: !relax.shape<[h, w]>) -> !relax.tensor<[n, 2, h, w], f32> {
  // CHECK: %0 = relax.image.affine_grid %t {size = [#sym.expr<h>, #sym.expr<w>]} : !relax.tensor<[n, 2, 3], f32> -> !relax.tensor<[n, 2, h, w], f32>
  %0 = relax.image.affine_grid %t {size = [#sym.expr<h>, #sym.expr<w>]} : !relax.tensor<[n, 2, 3], f32> -> !relax.tensor<[n, 2, h, w], f32>
  // CHECK: %1 = relax.image.affine_grid %v {size = [#sym.expr<4>, #sym.expr<h>, #sym.expr<w>], align_corners = false}
  %1 = relax.image.affine_grid %v {size = [#sym.expr<4>, #sym.expr<h>, #sym.expr<w>], align_corners = false} : !relax.tensor<[n, 3, 4], f32> -> !relax.tensor<[n, 3, 4, h, w], f32>
  relax.return %0 : !relax.tensor<[n, 2, h, w], f32>
}

// -----

// Samples of an image and of a volume.
// CHECK-LABEL: @samples
relax.func @samples(%x0: !relax.tensor<[n, c, h, w], f32>, %g0: !relax.tensor<[n, 2, a, b], f32>, %x1: !relax.tensor<[n, c, d, h, w], f16>, %g1: !relax.tensor<[n, 3, 2, 3, 4], f32>) -> !relax.tensor<[n, c, 2, 3, 4], f16> {
  // CHECK: %0 = relax.image.grid_sample %x0, %g0 {method = "bicubic", padding_mode = "reflection"} : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[n, 2, a, b], f32> -> !relax.tensor<[n, c, a, b], f32>
  %0 = relax.image.grid_sample %x0, %g0 {method = "bicubic", padding_mode = "reflection"} : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[n, 2, a, b], f32> -> !relax.tensor<[n, c, a, b], f32>
  // CHECK: %1 = relax.image.grid_sample %x1, %g1 {layout = "NCDHW", align_corners = false}
  %1 = relax.image.grid_sample %x1, %g1 {layout = "NCDHW", align_corners = false} : !relax.tensor<[n, c, d, h, w], f16>, !relax.tensor<[n, 3, 2, 3, 4], f32> -> !relax.tensor<[n, c, 2, 3, 4], f16>
  relax.return %1 : !relax.tensor<[n, c, 2, 3, 4], f16>
}

// -----

// Pools over regions.
// CHECK-LABEL: @regions
relax.func @regions(%x: !relax.tensor<[n, c, h, w], f32>, %r: !relax.tensor<[m, 5], f32>) -> !relax.tensor<[m, c, 2, 2], f32> {
  // CHECK: %0 = relax.vision.roi_align %x, %r {pooled_size = array<i64: 7, 7>, spatial_scale = 5.000000e-01 : f64, sample_ratio = 2 : i64, aligned = true, mode = "max"} : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[m, 5], f32> -> !relax.tensor<[m, c, 7, 7], f32>
  %0 = relax.vision.roi_align %x, %r {pooled_size = array<i64: 7, 7>, spatial_scale = 0.5 : f64, sample_ratio = 2 : i64, aligned = true, mode = "max"} : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[m, 5], f32> -> !relax.tensor<[m, c, 7, 7], f32>
  // CHECK: %1 = relax.vision.roi_pool %x, %r {pooled_size = array<i64: 2>}
  %1 = relax.vision.roi_pool %x, %r {pooled_size = array<i64: 2>} : !relax.tensor<[n, c, h, w], f32>, !relax.tensor<[m, 5], f32> -> !relax.tensor<[m, c, 2, 2], f32>
  relax.return %1 : !relax.tensor<[m, c, 2, 2], f32>
}

// -----

// Boxes from predicted offsets.
// CHECK-LABEL: @decoded
relax.func @decoded(%c: !relax.tensor<[b, k, n], f32>, %l: !relax.tensor<[b, n * 4], f32>, %a: !relax.tensor<[1, n, 4], f32>) -> tuple<!relax.tensor<[b, n, 4], f32>, !relax.tensor<[b, k, n], f32>> {
  // CHECK: %0 = relax.vision.multibox_transform_loc %c, %l, %a {clip = true, threshold = 5.000000e-01 : f64, keep_background = false} : !relax.tensor<[b, k, n], f32>, !relax.tensor<[b, n * 4], f32>, !relax.tensor<[1, n, 4], f32> -> tuple<!relax.tensor<[b, n, 4], f32>, !relax.tensor<[b, k, n], f32>>
  %0 = relax.vision.multibox_transform_loc %c, %l, %a {clip = true, threshold = 0.5 : f64, keep_background = false} : !relax.tensor<[b, k, n], f32>, !relax.tensor<[b, n * 4], f32>, !relax.tensor<[1, n, 4], f32> -> tuple<!relax.tensor<[b, n, 4], f32>, !relax.tensor<[b, k, n], f32>>
  relax.return %0 : tuple<!relax.tensor<[b, n, 4], f32>, !relax.tensor<[b, k, n], f32>>
}

// CHECK-LABEL: @rows
relax.func @rows(%x: !relax.tensor<[b, n, 6], f32>) -> !relax.tensor<[b, n], i32> {
  // CHECK: %0 = relax.vision.get_valid_counts %x {score_threshold = 5.000000e-01 : f64}
  %0 = relax.vision.get_valid_counts %x {score_threshold = 0.5 : f64} : !relax.tensor<[b, n, 6], f32> -> tuple<!relax.tensor<[b], i32>, !relax.tensor<[b, n, 6], f32>, !relax.tensor<[b, n], i32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[b], i32>, !relax.tensor<[b, n, 6], f32>, !relax.tensor<[b, n], i32>> -> !relax.tensor<[b], i32>
  %2 = relax.tuple_get_item %0[1] : tuple<!relax.tensor<[b], i32>, !relax.tensor<[b, n, 6], f32>, !relax.tensor<[b, n], i32>> -> !relax.tensor<[b, n, 6], f32>
  %3 = relax.tuple_get_item %0[2] : tuple<!relax.tensor<[b], i32>, !relax.tensor<[b, n, 6], f32>, !relax.tensor<[b, n], i32>> -> !relax.tensor<[b, n], i32>
  // CHECK: %4 = relax.vision.non_max_suppression %2, %1, %3 {top_k = 4 : i64, return_indices = false}
  %4 = relax.vision.non_max_suppression %2, %1, %3 {top_k = 4 : i64, return_indices = false} : !relax.tensor<[b, n, 6], f32>, !relax.tensor<[b], i32>, !relax.tensor<[b, n], i32> -> !relax.tensor<[b, n, 6], f32>
  // CHECK: %5 = relax.vision.non_max_suppression %4, %1, %3 :
  %5 = relax.vision.non_max_suppression %4, %1, %3 : !relax.tensor<[b, n, 6], f32>, !relax.tensor<[b], i32>, !relax.tensor<[b, n], i32> -> tuple<!relax.tensor<[b, n], i32>, !relax.tensor<[b, 1], i32>>
  %6 = relax.tuple_get_item %5[0] : tuple<!relax.tensor<[b, n], i32>, !relax.tensor<[b, 1], i32>> -> !relax.tensor<[b, n], i32>
  relax.return %6 : !relax.tensor<[b, n], i32>
}

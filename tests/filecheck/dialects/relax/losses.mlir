// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Losses, with and without weights and a batch, and their gradients.
// CHECK-LABEL: @losses
relax.func @losses(%p: !relax.tensor<[n, 3], f32>, %t: !relax.tensor<[n], i64>, %w: !relax.tensor<[3], f32>, %one: !relax.tensor<[3], f32>, %class: !relax.tensor<[], i32>, %g: !relax.tensor<[], f32>) -> !relax.tensor<[n, 3], f32> {
  // CHECK: %0 = relax.nn.nll_loss %p, %t : !relax.tensor<[n, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[], f32>
  %0 = relax.nn.nll_loss %p, %t : !relax.tensor<[n, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[], f32>
  // CHECK: %1 = relax.nn.nll_loss %p, %t weights %w : !relax.tensor<[3], f32> {reduction = "none", ignore_index = 2 : i64} : !relax.tensor<[n, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[n], f32>
  %1 = relax.nn.nll_loss %p, %t weights %w : !relax.tensor<[3], f32> {reduction = "none", ignore_index = 2 : i64} : !relax.tensor<[n, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[n], f32>
  // CHECK: %2 = relax.nn.nll_loss %one, %class {reduction = "sum"}
  %2 = relax.nn.nll_loss %one, %class {reduction = "sum"} : !relax.tensor<[3], f32>, !relax.tensor<[], i32> -> !relax.tensor<[], f32>
  // CHECK: %3 = relax.nn.cross_entropy_with_logits %p, %p
  %3 = relax.nn.cross_entropy_with_logits %p, %p : !relax.tensor<[n, 3], f32>, !relax.tensor<[n, 3], f32> -> !relax.tensor<[], f32>
  // CHECK: %4 = relax.grad.nll_loss_backward %g, %p, %t weights %w : !relax.tensor<[3], f32> : !relax.tensor<[], f32>, !relax.tensor<[n, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[n, 3], f32>
  %4 = relax.grad.nll_loss_backward %g, %p, %t weights %w : !relax.tensor<[3], f32> : !relax.tensor<[], f32>, !relax.tensor<[n, 3], f32>, !relax.tensor<[n], i64> -> !relax.tensor<[n, 3], f32>
  relax.return %4 : !relax.tensor<[n, 3], f32>
}

// -----

// Gradients that scatter, and sums of what was broadcast.
// CHECK-LABEL: @gradients
relax.func @gradients(%x: !relax.tensor<[n, 4], f32>, %i: !relax.tensor<[2], i64>, %g: !relax.tensor<[2, 4], f32>, %v: !relax.tensor<[4], f32>, %d: !relax.tensor<[1, 2, 4, 4], f32>, %h: !relax.tensor<[1, 2, 2, 2], f32>) -> !relax.tensor<[1, 2, 4, 4], f32> {
  // CHECK: %0 = relax.grad.take_backward %g, %x, %i {axis = 0 : i64}
  %0 = relax.grad.take_backward %g, %x, %i {axis = 0 : i64} : !relax.tensor<[2, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[2], i64> -> !relax.tensor<[n, 4], f32>
  // CHECK: %1 = relax.collapse_sum_to %x
  %1 = relax.collapse_sum_to %x {shape = [#sym.expr<1>, #sym.expr<4>]} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[1, 4], f32>
  // CHECK: %2 = relax.collapse_sum_like %x, %v
  %2 = relax.collapse_sum_like %x, %v : !relax.tensor<[n, 4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  // CHECK: %3 = relax.grad.max_pool2d_backward %h, %d {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
  %3 = relax.grad.max_pool2d_backward %h, %d {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : !relax.tensor<[1, 2, 2, 2], f32>, !relax.tensor<[1, 2, 4, 4], f32> -> !relax.tensor<[1, 2, 4, 4], f32>
  // CHECK: %4 = relax.grad.avg_pool2d_backward %h, %d {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
  %4 = relax.grad.avg_pool2d_backward %h, %d {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>} : !relax.tensor<[1, 2, 2, 2], f32>, !relax.tensor<[1, 2, 4, 4], f32> -> !relax.tensor<[1, 2, 4, 4], f32>
  relax.return %4 : !relax.tensor<[1, 2, 4, 4], f32>
}

// -----

// Layers, sequences and markers.
// CHECK-LABEL: @layers
relax.func @layers(%x: !relax.tensor<[n, 4, 2], f32>, %a: !relax.tensor<[4], f32>, %l: !relax.tensor<[n], i32>, %m: !relax.tensor<[2, n], f32>) -> !relax.tensor<[2, n], f32> {
  // CHECK: %0 = relax.nn.prelu %x, %a
  %0 = relax.nn.prelu %x, %a : !relax.tensor<[n, 4, 2], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4, 2], f32>
  // CHECK: %1 = relax.nn.batch_flatten %x : !relax.tensor<[n, 4, 2], f32> -> !relax.tensor<[n, 8], f32>
  %1 = relax.nn.batch_flatten %x : !relax.tensor<[n, 4, 2], f32> -> !relax.tensor<[n, 8], f32>
  // CHECK: %2 = relax.reverse_sequence %x, %l : !relax.tensor<[n, 4, 2], f32>, !relax.tensor<[n], i32> -> !relax.tensor<[n, 4, 2], f32>
  %2 = relax.reverse_sequence %x, %l : !relax.tensor<[n, 4, 2], f32>, !relax.tensor<[n], i32> -> !relax.tensor<[n, 4, 2], f32>
  // CHECK: %3 = relax.eye_like %m {k = -1 : i64}
  %3 = relax.eye_like %m {k = -1 : i64} : !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  // CHECK: %4 = relax.nn.dropout %m {rate = 2.500000e-01 : f64} : !relax.tensor<[2, n], f32> -> tuple<!relax.tensor<[2, n], f32>, !relax.tensor<[2, n], f32>>
  %4 = relax.nn.dropout %m {rate = 2.500000e-01 : f64} : !relax.tensor<[2, n], f32> -> tuple<!relax.tensor<[2, n], f32>, !relax.tensor<[2, n], f32>>
  // CHECK: %5 = relax.floor_mod %m, %3
  %5 = relax.floor_mod %m, %3 : !relax.tensor<[2, n], f32>, !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  // CHECK: %6 = relax.grad.no_grad %5
  %6 = relax.grad.no_grad %5 : !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  // CHECK: %7 = relax.builtin.stop_lift_params %6
  %7 = relax.builtin.stop_lift_params %6 : !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  // CHECK: %8 = relax.grad.start_checkpoint %7
  %8 = relax.grad.start_checkpoint %7 : !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  // CHECK: %9 = relax.grad.end_checkpoint %8 {recomputed}
  %9 = relax.grad.end_checkpoint %8 {recomputed} : !relax.tensor<[2, n], f32> -> !relax.tensor<[2, n], f32>
  relax.return %9 : !relax.tensor<[2, n], f32>
}

// -----

// CHECK-LABEL: @pixels
relax.func @pixels(%x: !relax.tensor<[n, 8, h, w], f32>) -> !relax.tensor<[n, 2, h * 2, w * 2], f32> {
  // CHECK: %0 = relax.nn.pixel_shuffle %x {upscale_factor = 2 : i64}
  %0 = relax.nn.pixel_shuffle %x {upscale_factor = 2 : i64} : !relax.tensor<[n, 8, h, w], f32> -> !relax.tensor<[n, 2, h * 2, w * 2], f32>
  relax.return %0 : !relax.tensor<[n, 2, h * 2, w * 2], f32>
}

// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected predictions of 'relax.nn.nll_loss' to have classes, got shape ()
relax.func @main(%p: !relax.tensor<[], f32>, %t: !relax.tensor<[], i64>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.nll_loss %p, %t : !relax.tensor<[], f32>, !relax.tensor<[], i64> -> !relax.tensor<[], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected targets of 'relax.nn.nll_loss' to have shape (4,), got (3,)
relax.func @main(%p: !relax.tensor<[4, 3], f32>, %t: !relax.tensor<[3], i64>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.nll_loss %p, %t : !relax.tensor<[4, 3], f32>, !relax.tensor<[3], i64> -> !relax.tensor<[], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.nll_loss' to be integers, got float32
relax.func @main(%p: !relax.tensor<[4, 3], f32>, %t: !relax.tensor<[4], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.nll_loss %p, %t : !relax.tensor<[4, 3], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected weights of 'relax.nn.nll_loss' to have shape (3,), got (4,)
relax.func @main(%p: !relax.tensor<[4, 3], f32>, %t: !relax.tensor<[4], i64>, %w: !relax.tensor<[4], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.nll_loss %p, %t weights %w : !relax.tensor<[4], f32> : !relax.tensor<[4, 3], f32>, !relax.tensor<[4], i64> -> !relax.tensor<[], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected output_grad of 'relax.grad.nll_loss_backward' to have shape (), got (4,)
relax.func @main(%g: !relax.tensor<[4], f32>, %p: !relax.tensor<[4, 3], f32>, %t: !relax.tensor<[4], i64>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.grad.nll_loss_backward %g, %p, %t : !relax.tensor<[4], f32>, !relax.tensor<[4, 3], f32>, !relax.tensor<[4], i64> -> !relax.tensor<[4, 3], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected operands of 'relax.nn.cross_entropy_with_logits' to have one shape of rank 1 or more, got (4, 3) and (3,)
relax.func @main(%p: !relax.tensor<[4, 3], f32>, %t: !relax.tensor<[3], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.cross_entropy_with_logits %p, %t : !relax.tensor<[4, 3], f32>, !relax.tensor<[3], f32> -> !relax.tensor<[], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected output_grad of 'relax.grad.take_backward' to have shape (2, 4), got (2, 3)
relax.func @main(%g: !relax.tensor<[2, 3], f32>, %x: !relax.tensor<[5, 4], f32>, %i: !relax.tensor<[2], i64>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.grad.take_backward %g, %x, %i {axis = 0 : i64} : !relax.tensor<[2, 3], f32>, !relax.tensor<[5, 4], f32>, !relax.tensor<[2], i64> -> !relax.tensor<[5, 4], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected output_grad of 'relax.grad.max_pool2d_backward' to have shape (1, 2, 4, 4), got (1, 2, 2, 2)
relax.func @main(%g: !relax.tensor<[1, 2, 2, 2], f32>, %x: !relax.tensor<[1, 2, 4, 4], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.grad.max_pool2d_backward %g, %x : !relax.tensor<[1, 2, 2, 2], f32>, !relax.tensor<[1, 2, 4, 4], f32> -> !relax.tensor<[1, 2, 4, 4], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected a shape of 'relax.collapse_sum_to' that broadcasts to (4, 3), got (2,)
relax.func @main(%x: !relax.tensor<[4, 3], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.collapse_sum_to %x {shape = [#sym.expr<2>]} : !relax.tensor<[4, 3], f32> -> !relax.tensor<[2], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected a slope of 'relax.nn.prelu' for each index of axis 1, got (2,) for (4, 3)
relax.func @main(%x: !relax.tensor<[4, 3], f32>, %a: !relax.tensor<[2], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.prelu %x, %a : !relax.tensor<[4, 3], f32>, !relax.tensor<[2], f32> -> !relax.tensor<[4, 3], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected x of 'relax.nn.batch_flatten' to have a batch, got shape ()
relax.func @main(%x: !relax.tensor<[], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.batch_flatten %x : !relax.tensor<[], f32> -> !relax.tensor<[1, 1], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected a length of 'relax.reverse_sequence' for each index of axis 0, got (3,) for (4, 3)
relax.func @main(%x: !relax.tensor<[4, 3], f32>, %l: !relax.tensor<[3], i32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.reverse_sequence %x, %l : !relax.tensor<[4, 3], f32>, !relax.tensor<[3], i32> -> !relax.tensor<[4, 3], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected channels of 'relax.nn.pixel_shuffle' to be a multiple of 4, got 6
relax.func @main(%x: !relax.tensor<[6, 2, 2], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.pixel_shuffle %x {upscale_factor = 2 : i64} : !relax.tensor<[6, 2, 2], f32> -> !relax.tensor<[1, 4, 4], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected data of 'relax.nn.pixel_shuffle' to have channels and pixels, got (6, 2)
relax.func @main(%x: !relax.tensor<[6, 2], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.pixel_shuffle %x {upscale_factor = 2 : i64} : !relax.tensor<[6, 2], f32> -> !relax.tensor<[6, 2], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected upscale_factor of 'relax.nn.pixel_shuffle' of at least 1, got 0
relax.func @main(%x: !relax.tensor<[6, 2, 2], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.nn.pixel_shuffle %x {upscale_factor = 0 : i64} : !relax.tensor<[6, 2, 2], f32> -> !relax.tensor<[6, 2, 2], f32>
  relax.return %z : !relax.tensor<[], f32>
}

// -----

// CHECK: expected x of 'relax.eye_like' to have rank 2, got (6,)
relax.func @main(%x: !relax.tensor<[6], f32>) -> !relax.tensor<[], f32> {
  %z = relax.zeros {shape = []} : !relax.tensor<[], f32>
  %0 = relax.eye_like %x : !relax.tensor<[6], f32> -> !relax.tensor<[6], f32>
  relax.return %z : !relax.tensor<[], f32>
}

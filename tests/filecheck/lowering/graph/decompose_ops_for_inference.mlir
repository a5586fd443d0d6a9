// RUN: xrelax-opt %s -p decompose-ops-for-inference,dce --split-input-file | filecheck %s

// A batch normalization by constants is a product and a sum, with one number for each channel.

// CHECK-LABEL: @norm
// CHECK:         %0 = relax.constant <float32, [], [1.0]>
// CHECK-NEXT:    %1 = relax.add %var, %0
// CHECK-NEXT:    %2 = relax.sqrt %1
// CHECK-NEXT:    %3 = relax.divide %gamma, %2
// CHECK-NEXT:    %4 = relax.multiply %mean, %3
// CHECK-NEXT:    %5 = relax.subtract %beta, %4
// CHECK-NEXT:    %6 = relax.expand_dims %3 {axis = array<i64: 1>}
// CHECK-NEXT:    %7 = relax.multiply %x, %6
// CHECK-NEXT:    %8 = relax.expand_dims %5 {axis = array<i64: 1>}
// CHECK-NEXT:    %9 = relax.add %7, %8
// CHECK-NEXT:    relax.return %9
relax.func @norm(%x: !relax.tensor<[n, 2, 4], f32>) -> !relax.tensor<[n, 2, 4], f32> {
  %gamma = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
  %beta = relax.constant <float32, [2], [0.5, -1.0]> : !relax.tensor<[2], f32>
  %mean = relax.constant <float32, [2], [3.0, 4.0]> : !relax.tensor<[2], f32>
  %var = relax.constant <float32, [2], [3.0, 15.0]> : !relax.tensor<[2], f32>
  %0 = relax.nn.batch_norm %x, %gamma, %beta, %mean, %var {epsilon = 1.0 : f64} : !relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> -> !relax.tensor<[n, 2, 4], f32>
  relax.return %1 : !relax.tensor<[n, 2, 4], f32>
}

// -----

// Without gamma and beta they are 1 and 0; the last axis needs no further dims.

// CHECK-LABEL: @plain
// CHECK:         [[EPSILON:%.+]] = relax.constant <float32, [], [1.0]>
// CHECK:         [[ONE:%.+]] = relax.constant <float32, [], [1.0]>
// CHECK-NEXT:    [[ZERO:%.+]] = relax.constant <float32, [], [0.0]>
// CHECK-NEXT:    [[SCALE:%.+]] = relax.divide [[ONE]],
// CHECK:         [[SHIFT:%.+]] = relax.subtract [[ZERO]],
// CHECK-NEXT:    [[PRODUCT:%.+]] = relax.multiply %x, [[SCALE]]
// CHECK-NEXT:    relax.add [[PRODUCT]], [[SHIFT]]
relax.func @plain(%x: !relax.tensor<[n, 2], f32>) -> !relax.tensor<[n, 2], f32> {
  %v = relax.constant <float32, [2], [3.0, 15.0]> : !relax.tensor<[2], f32>
  %0 = relax.nn.batch_norm %x, %v, %v, %v, %v {axis = -1 : i64, epsilon = 1.0 : f64, center = false, scale = false} : !relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> -> !relax.tensor<[n, 2], f32>
  relax.return %1 : !relax.tensor<[n, 2], f32>
}

// -----

// The scale goes into the constant weight of a convolution before it, and into its bias.

// CHECK-LABEL: @convolution
// CHECK:         [[SCALE:%.+]] = relax.divide %v,
// CHECK:         [[FACTOR:%.+]] = relax.expand_dims [[SCALE]] {axis = array<i64: 1, 2>}
// CHECK-NEXT:    [[WEIGHT:%.+]] = relax.multiply %w, [[FACTOR]]
// CHECK-NEXT:    [[RESULT:%.+]] = relax.nn.conv1d %x, [[WEIGHT]] {padding = array<i64: 1, 1>}
// CHECK:         [[BIAS:%.+]] = relax.multiply %b,
// CHECK-NEXT:    [[SHIFT:%.+]] = relax.add [[BIAS]],
// CHECK-NEXT:    [[END:%.+]] = relax.add [[RESULT]], [[SHIFT]]
// CHECK-NEXT:    relax.return [[END]]
relax.func @convolution(%x: !relax.tensor<[n, 1, 4], f32>) -> !relax.tensor<[n, 2, 4], f32> {
  %w = relax.constant <float32, [2, 1, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : !relax.tensor<[2, 1, 3], f32>
  %b = relax.constant <float32, [2, 1], [1.0, 2.0]> : !relax.tensor<[2, 1], f32>
  %v = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
  %c = relax.nn.conv1d %x, %w {padding = array<i64: 1>} : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[2, 1, 3], f32> -> !relax.tensor<[n, 2, 4], f32>
  %d = relax.add %b, %c : !relax.tensor<[2, 1], f32>, !relax.tensor<[n, 2, 4], f32> -> !relax.tensor<[n, 2, 4], f32>
  %0 = relax.nn.batch_norm %d, %v, %v, %v, %v : !relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> -> !relax.tensor<[n, 2, 4], f32>
  relax.return %1 : !relax.tensor<[n, 2, 4], f32>
}

// -----

// A convolution whose result is used elsewhere, too, stays as it is.

// CHECK-LABEL: @used_twice
// CHECK:         [[RESULT:%.+]] = relax.nn.conv1d %x, %w :
// CHECK:         [[PRODUCT:%.+]] = relax.multiply [[RESULT]],
// CHECK:         [[END:%.+]] = relax.add [[PRODUCT]],
// CHECK-NEXT:    relax.add [[END]], [[RESULT]]
relax.func @used_twice(%x: !relax.tensor<[n, 1, 4], f32>) -> !relax.tensor<[n, 1, 2], f32> {
  %w = relax.constant <float32, [1, 1, 3], [1.0, 2.0, 3.0]> : !relax.tensor<[1, 1, 3], f32>
  %v = relax.constant <float32, [1], [1.0]> : !relax.tensor<[1], f32>
  %c = relax.nn.conv1d %x, %w : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[1, 1, 3], f32> -> !relax.tensor<[n, 1, 2], f32>
  %0 = relax.nn.batch_norm %c, %v, %v, %v, %v : !relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32> -> tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[n, 1, 2], f32>
  %2 = relax.add %1, %c : !relax.tensor<[n, 1, 2], f32>, !relax.tensor<[n, 1, 2], f32> -> !relax.tensor<[n, 1, 2], f32>
  relax.return %2 : !relax.tensor<[n, 1, 2], f32>
}

// -----

// So does one whose normalization is used as a whole, too.

// CHECK-LABEL: @used_as_a_whole
// CHECK:         [[RESULT:%.+]] = relax.nn.conv1d %x, %w :
// CHECK-NEXT:    relax.nn.batch_norm [[RESULT]],
// CHECK-NOT:     relax.nn.conv1d
relax.func @used_as_a_whole(%x: !relax.tensor<[n, 1, 4], f32>) -> tuple<tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>, !relax.tensor<[n, 1, 2], f32>> {
  %w = relax.constant <float32, [1, 1, 3], [1.0, 2.0, 3.0]> : !relax.tensor<[1, 1, 3], f32>
  %v = relax.constant <float32, [1], [1.0]> : !relax.tensor<[1], f32>
  %c = relax.nn.conv1d %x, %w : !relax.tensor<[n, 1, 4], f32>, !relax.tensor<[1, 1, 3], f32> -> !relax.tensor<[n, 1, 2], f32>
  %0 = relax.nn.batch_norm %c, %v, %v, %v, %v : !relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32> -> tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[n, 1, 2], f32>
  %2 = relax.tuple(%0, %1) : (tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>, !relax.tensor<[n, 1, 2], f32>) -> tuple<tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>, !relax.tensor<[n, 1, 2], f32>>
  relax.return %2 : tuple<tuple<!relax.tensor<[n, 1, 2], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>, !relax.tensor<[n, 1, 2], f32>>
}

// -----

// A bias with dims in front gives the result other axes than the convolution has.

// CHECK-LABEL: @bias_with_more_dims
// CHECK:         [[RESULT:%.+]] = relax.nn.conv1d %x, %w :
// CHECK-NEXT:    [[SUM:%.+]] = relax.add [[RESULT]], %b
// CHECK:         relax.multiply [[SUM]],
relax.func @bias_with_more_dims(%x: !relax.tensor<[2, 2, 4], f32>) -> !relax.tensor<[1, 2, 2, 4], f32> {
  %w = relax.constant <float32, [2, 2, 1], [1.0, 2.0, 3.0, 4.0]> : !relax.tensor<[2, 2, 1], f32>
  %b = relax.constant <float32, [1, 1, 2, 1], [1.0, 2.0]> : !relax.tensor<[1, 1, 2, 1], f32>
  %v = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
  %c = relax.nn.conv1d %x, %w : !relax.tensor<[2, 2, 4], f32>, !relax.tensor<[2, 2, 1], f32> -> !relax.tensor<[2, 2, 4], f32>
  %s = relax.add %c, %b : !relax.tensor<[2, 2, 4], f32>, !relax.tensor<[1, 1, 2, 1], f32> -> !relax.tensor<[1, 2, 2, 4], f32>
  %0 = relax.nn.batch_norm %s, %v, %v, %v, %v : !relax.tensor<[1, 2, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> tuple<!relax.tensor<[1, 2, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[1, 2, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> -> !relax.tensor<[1, 2, 2, 4], f32>
  relax.return %1 : !relax.tensor<[1, 2, 2, 4], f32>
}

// -----

// Statistics that are handed out are those that were given. By parameters the rest stays.

// CHECK-LABEL: @stays
// CHECK:         [[NORM:%.+]] = relax.nn.batch_norm %x, %v, %v, %mean, %v
// CHECK-NEXT:    [[DATA:%.+]] = relax.tuple_get_item [[NORM]][0]
// CHECK-NEXT:    relax.tuple([[DATA]], %mean, %v)
relax.func @stays(%x: !relax.tensor<[n, 1], f32>, %v: !relax.tensor<[1], f32>, %mean: !relax.tensor<[1], f32>) -> tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> {
  %0 = relax.nn.batch_norm %x, %v, %v, %mean, %v : !relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32> -> tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[n, 1], f32>
  %2 = relax.tuple_get_item %0[1] : tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[1], f32>
  %3 = relax.tuple_get_item %0[2] : tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[1], f32>
  %4 = relax.tuple(%1, %2, %3) : (!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>) -> tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
  relax.return %4 : tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
}

// -----

// Short floats are scaled and shifted in f32; weights in f16 are not scaled.

// CHECK-LABEL: @short_floats
// CHECK:         [[RESULT:%.+]] = relax.nn.conv1d %x, %w :
// CHECK:         [[WIDE:%.+]] = relax.astype [[RESULT]] {dtype = f32}
// CHECK-NEXT:    [[SCALE:%.+]] = relax.expand_dims {{.*}} : !relax.tensor<[1], f32>
// CHECK-NEXT:    [[PRODUCT:%.+]] = relax.multiply [[WIDE]], [[SCALE]]
// CHECK-NEXT:    [[SHIFT:%.+]] = relax.expand_dims {{.*}} : !relax.tensor<[1], f32>
// CHECK-NEXT:    [[SUM:%.+]] = relax.add [[PRODUCT]], [[SHIFT]]
// CHECK-NEXT:    relax.astype [[SUM]] {dtype = f16}
relax.func @short_floats(%x: !relax.tensor<[n, 1, 4], f16>) -> !relax.tensor<[n, 1, 2], f16> {
  %w = relax.constant <float16, [1, 1, 3], [1.0, 2.0, 3.0]> : !relax.tensor<[1, 1, 3], f16>
  %v = relax.constant <float16, [1], [1.0]> : !relax.tensor<[1], f16>
  %c = relax.nn.conv1d %x, %w : !relax.tensor<[n, 1, 4], f16>, !relax.tensor<[1, 1, 3], f16> -> !relax.tensor<[n, 1, 2], f16>
  %0 = relax.nn.batch_norm %c, %v, %v, %v, %v : !relax.tensor<[n, 1, 2], f16>, !relax.tensor<[1], f16>, !relax.tensor<[1], f16>, !relax.tensor<[1], f16>, !relax.tensor<[1], f16> -> tuple<!relax.tensor<[n, 1, 2], f16>, !relax.tensor<[1], f16>, !relax.tensor<[1], f16>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n, 1, 2], f16>, !relax.tensor<[1], f16>, !relax.tensor<[1], f16>> -> !relax.tensor<[n, 1, 2], f16>
  relax.return %1 : !relax.tensor<[n, 1, 2], f16>
}

// -----

// One in training has the statistics of its data, also with constants, and stays as it is.

// CHECK-LABEL: @in_training
// CHECK:         %[[N:.*]] = relax.nn.batch_norm %x, {{.*}} {training = true}
// CHECK-NEXT:    %[[M:.*]] = relax.tuple_get_item %[[N]][1]
// CHECK-NEXT:    relax.return %[[M]]
relax.func @in_training(%x: !relax.tensor<[n, 1], f32>) -> !relax.tensor<[1], f32> {
  %v = relax.constant <float32, [1], [1.0]> : !relax.tensor<[1], f32>
  %0 = relax.nn.batch_norm %x, %v, %v, %v, %v {training = true} : !relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32> -> tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
  %1 = relax.tuple_get_item %0[1] : tuple<!relax.tensor<[n, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[1], f32>
  relax.return %1 : !relax.tensor<[1], f32>
}

// -----

// Markers that only gradients read are removed, except where a call may write their memory.

// CHECK-LABEL: relax.func @marks
// CHECK-NEXT:    %b = relax.exp %x
// CHECK-NEXT:    relax.return %b
relax.func @marks(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %a = relax.grad.start_checkpoint %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %b = relax.exp %a : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %c = relax.grad.end_checkpoint %b : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %d = relax.grad.no_grad %c : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %d : !relax.tensor<[n], f32>
}

// CHECK-LABEL: relax.func impure @written
// CHECK:         relax.grad.no_grad
relax.func impure @written(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %a = relax.grad.no_grad %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %0 = relax.call_packed "change"(%a) : (!relax.tensor<[n], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

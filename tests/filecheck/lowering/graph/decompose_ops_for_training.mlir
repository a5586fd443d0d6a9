// RUN: xrelax-opt %s -p decompose-ops-for-training --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'decompose-ops-for-inference{norms=true}' --split-input-file | filecheck %s --check-prefix=INFER
// RUN: not xrelax-opt %s -p 'decompose-ops-for-training{func_name=g}' --split-input-file 2>&1 | filecheck %s --check-prefix=NAME

// NAME: expected a graph function of the module (batch), got 'g'

// The statistics are those of the data, and move; in inference they are the moving ones.
// CHECK-LABEL: @batch
// INFER-LABEL: @batch
relax.func @batch(%x: !relax.tensor<[n, 2, 4], f32>, %g: !relax.tensor<[2], f32>, %b: !relax.tensor<[2], f32>, %m: !relax.tensor<[2], f32>, %v: !relax.tensor<[2], f32>) -> tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> {
  // CHECK-NEXT: %[[MEAN:.*]] = relax.mean %x {axis = array<i64: 0, 2>}
  // CHECK-NEXT: %[[VAR:.*]] = relax.variance %x {axis = array<i64: 0, 2>}
  // CHECK-NEXT: %[[M:.*]] = relax.expand_dims %[[MEAN]] {axis = array<i64: 0, 2>}
  // CHECK-NEXT: relax.subtract %x, %[[M]]
  // CHECK:      relax.constant <float32, [], [0.8999999761581421]>
  // CHECK:      relax.multiply {{.*}}, %m
  // INFER-NEXT: %[[M:.*]] = relax.expand_dims %m {axis = array<i64: 0, 2>}
  // INFER-NEXT: %[[C:.*]] = relax.subtract %x, %[[M]]
  // INFER-NEXT: relax.expand_dims %v
  // INFER:      %[[S:.*]] = relax.sqrt
  // INFER-NEXT: relax.divide %[[C]], %[[S]]
  // INFER:      relax.tuple(%{{.*}}, %m, %v)
  %0 = relax.nn.batch_norm %x, %g, %b, %m, %v : !relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  relax.return %0 : tuple<!relax.tensor<[n, 2, 4], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
}

// -----

// A layer normalization of the last axes; one of the first axis stays, and one in float16 is in float32.
// CHECK-LABEL: @layer
// INFER-LABEL: @layer
relax.func @layer(%x: !relax.tensor<[n, 4], f32>, %g: !relax.tensor<[4], f32>, %a: !relax.tensor<[n], f32>, %h: !relax.tensor<[n, 4], f16>, %i: !relax.tensor<[4], f16>) -> tuple<!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f16>> {
  // CHECK-NEXT: %[[MEAN:.*]] = relax.mean %x {axis = array<i64: -1>, keepdims = true}
  // CHECK-NEXT: relax.subtract %x, %[[MEAN]]
  // CHECK-NEXT: relax.variance %x {axis = array<i64: -1>, keepdims = true}
  // CHECK:      relax.multiply {{.*}}, %g
  // CHECK-NEXT: relax.add {{.*}}, %g
  // CHECK-NEXT: relax.nn.layer_norm %x, %a, %a {axes = array<i64: 0>}
  // CHECK-NEXT: %[[H:.*]] = relax.astype %h {dtype = f32}
  // CHECK-NEXT: relax.mean %[[H]]
  // CHECK:      relax.astype {{.*}} -> !relax.tensor<[n, 4], f16>
  // INFER-NEXT: relax.nn.layer_norm %x, %g, %g
  %0 = relax.nn.layer_norm %x, %g, %g {axes = array<i64: -1>} : !relax.tensor<[n, 4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.nn.layer_norm %x, %a, %a {axes = array<i64: 0>} : !relax.tensor<[n, 4], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n, 4], f32>
  %2 = relax.nn.layer_norm %h, %i, %i {axes = array<i64: -1>} : !relax.tensor<[n, 4], f16>, !relax.tensor<[4], f16>, !relax.tensor<[4], f16> -> !relax.tensor<[n, 4], f16>
  %3 = relax.tuple(%0, %1, %2) : (!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f16>) -> tuple<!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f16>>
  relax.return %3 : tuple<!relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f16>>
}

// -----

// A batch normalization in float16 is computed in float32, and so are its statistics.
// CHECK-LABEL: @short
// INFER-LABEL: @short
relax.func @short(%x: !relax.tensor<[n, 2], f16>, %g: !relax.tensor<[2], f16>, %m: !relax.tensor<[2], f16>) -> tuple<!relax.tensor<[n, 2], f16>, !relax.tensor<[2], f16>, !relax.tensor<[2], f16>> {
  // CHECK-NEXT:      %[[X:.*]] = relax.astype %x {dtype = f32}
  // CHECK-NEXT:      relax.mean %[[X]]
  // CHECK-COUNT-2:   relax.astype {{.*}} -> !relax.tensor<[2], f16>
  // INFER-NEXT:      %[[X:.*]] = relax.astype %x {dtype = f32}
  // INFER-NEXT:      %[[M:.*]] = relax.astype %m {dtype = f32}
  // INFER:           relax.astype {{.*}} -> !relax.tensor<[n, 2], f16>
  // INFER-NEXT:      relax.tuple(%{{.*}}, %m, %m)
  %0 = relax.nn.batch_norm %x, %g, %g, %m, %m : !relax.tensor<[n, 2], f16>, !relax.tensor<[2], f16>, !relax.tensor<[2], f16>, !relax.tensor<[2], f16>, !relax.tensor<[2], f16> -> tuple<!relax.tensor<[n, 2], f16>, !relax.tensor<[2], f16>, !relax.tensor<[2], f16>>
  relax.return %0 : tuple<!relax.tensor<[n, 2], f16>, !relax.tensor<[2], f16>, !relax.tensor<[2], f16>>
}

// -----

// One that is in training has the same parts; for inference it takes the moving statistics.
// CHECK-LABEL: @trained
// INFER-LABEL: @trained
relax.func @trained(%x: !relax.tensor<[n, 2], f32>, %g: !relax.tensor<[2], f32>, %m: !relax.tensor<[2], f32>) -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>> {
  // CHECK-NEXT: %[[MEAN:.*]] = relax.mean %x {axis = array<i64: 0>}
  // CHECK-NEXT: relax.variance %x {axis = array<i64: 0>}
  // CHECK:      relax.constant <float32, [], [0.25]>
  // CHECK-NEXT: relax.multiply {{.*}}, %[[MEAN]]
  // INFER-NEXT: %[[M:.*]] = relax.expand_dims %m {axis = array<i64: 0>}
  // INFER-NEXT: relax.subtract %x, %[[M]]
  // INFER:      relax.tuple(%{{.*}}, %m, %m)
  %0 = relax.nn.batch_norm %x, %g, %g, %m, %m {momentum = 2.500000e-01 : f64, training = true} : !relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32> -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
  relax.return %0 : tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32>, !relax.tensor<[2], f32>>
}

// RUN: xrelax-opt %s -p 'to-mixed-precision{out_dtype=float32 fp16_input_names=h}' --split-input-file | filecheck %s
// RUN: not xrelax-opt %s -p 'to-mixed-precision{out_dtype=int8}' --split-input-file 2>&1 | filecheck %s --check-prefix=DTYPE

// DTYPE: expected out_dtype of 'to-mixed-precision' float32 or float16, got 'int8'

// A value that only contractions read is stored in float16; relu follows, softmax keeps its dtype.
// CHECK-LABEL: @follow
relax.func @follow(%x: !relax.tensor<[n, 8], f32>, %w: !relax.tensor<[8, 8], f32>) -> !relax.tensor<[n, 8], f32> {
  %r = relax.dataflow -> !relax.tensor<[n, 8], f32> {
    // CHECK:      %[[X:.*]] = relax.astype %x {dtype = f16}
    // CHECK-NEXT: %[[W:.*]] = relax.astype %w {dtype = f16}
    // CHECK-NEXT: %[[P:.*]] = relax.matmul %[[X]], %[[W]] {out_dtype = f32} : {{.*}} -> !relax.tensor<[n, 8], f32>
    // CHECK-NEXT: %[[H:.*]] = relax.astype %[[P]] {dtype = f16}
    %0 = relax.matmul %x, %w : !relax.tensor<[n, 8], f32>, !relax.tensor<[8, 8], f32> -> !relax.tensor<[n, 8], f32>
    // CHECK-NEXT: %[[R:.*]] = relax.nn.relu %[[H]] : {{.*}} -> !relax.tensor<[n, 8], f16>
    %1 = relax.nn.relu %0 : !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 8], f32>
    // CHECK-NEXT: %[[B:.*]] = relax.astype %[[R]] {dtype = f32}
    // CHECK-NEXT: %[[S:.*]] = relax.nn.softmax %[[B]] : {{.*}} -> !relax.tensor<[n, 8], f32>
    // CHECK-NEXT: relax.output %[[S]]
    %2 = relax.nn.softmax %1 : !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 8], f32>
    relax.output %2 : !relax.tensor<[n, 8], f32>
  }
  relax.return %r : !relax.tensor<[n, 8], f32>
}

// -----

// A parameter becomes float16, and is converted back where float32 is read. Outputs keep their dtype.
// CHECK-LABEL: @inputs(%h: !relax.tensor<[n], f16>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
relax.func @inputs(%h: !relax.tensor<[n], f32>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %r = relax.dataflow -> !relax.tensor<[n], f32> {
    // CHECK: %[[A:.*]] = relax.exp %h : {{.*}} -> !relax.tensor<[n], f16>
    %0 = relax.exp %h : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK-NEXT: %[[B:.*]] = relax.astype %[[A]] {dtype = f32}
    // CHECK-NEXT: %[[C:.*]] = relax.add %[[B]], %x
    // CHECK-NEXT: relax.output %[[C]]
    %1 = relax.add %0, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output %1 : !relax.tensor<[n], f32>
  }
  relax.return %r : !relax.tensor<[n], f32>
}

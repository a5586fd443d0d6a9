// RUN: xrelax-opt %s -p fold-constant,dce --split-input-file | filecheck %s

// What constants determine is computed, step by step; dtypes and integers behave as at run time.

// CHECK-LABEL: @chain
// CHECK-NEXT:    %0 = relax.constant <float32, [2], [3.0, 4.0]>
// CHECK-NEXT:    %1 = relax.multiply %x, %0
// CHECK-NEXT:    %2 = relax.constant <int8, [], [-56]>
// CHECK-NEXT:    relax.tuple(%1, %2)
relax.func @chain(%x: !relax.tensor<[n, 2], f32>) -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[], i8>> {
  %a = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
  %b = relax.constant <float32, [], [1.0]> : !relax.tensor<[], f32>
  %0 = relax.add %a, %b : !relax.tensor<[2], f32>, !relax.tensor<[], f32> -> !relax.tensor<[2], f32>
  %1 = relax.add %0, %b : !relax.tensor<[2], f32>, !relax.tensor<[], f32> -> !relax.tensor<[2], f32>
  %2 = relax.multiply %x, %1 : !relax.tensor<[n, 2], f32>, !relax.tensor<[2], f32> -> !relax.tensor<[n, 2], f32>
  %c = relax.constant <int8, [], [100]> : !relax.tensor<[], i8>
  %3 = relax.add %c, %c : !relax.tensor<[], i8>, !relax.tensor<[], i8> -> !relax.tensor<[], i8>
  %4 = relax.tuple(%2, %3) : (!relax.tensor<[n, 2], f32>, !relax.tensor<[], i8>) -> tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[], i8>>
  relax.return %4 : tuple<!relax.tensor<[n, 2], f32>, !relax.tensor<[], i8>>
}

// -----

// In dataflow blocks, and operators with several results; bfloat16 is held as its bits.

// CHECK-LABEL: @several
// CHECK-NEXT:    %0, %1 = relax.dataflow
// CHECK-NEXT:      %a = relax.constant <bfloat16, [1], [16256]>
// CHECK-NEXT:      %n = relax.constant <float32, [1], [1.5]>
// CHECK-NEXT:      relax.output %a, %n
relax.func @several() -> tuple<!relax.tensor<[1], bf16>, !relax.tensor<[1], f32>> {
  %0, %1 = relax.dataflow -> !relax.tensor<[1], bf16>, !relax.tensor<[1], f32> {
    %h = relax.constant <bfloat16, [1], [16128]> : !relax.tensor<[1], bf16>
    %a = relax.add %h, %h : !relax.tensor<[1], bf16>, !relax.tensor<[1], bf16> -> !relax.tensor<[1], bf16>
    %x = relax.constant <float32, [1, 1], [1.0]> : !relax.tensor<[1, 1], f32>
    %v = relax.constant <float32, [1], [1.5]> : !relax.tensor<[1], f32>
    %n = relax.nn.batch_norm %x, %v, %v, %v, %v : !relax.tensor<[1, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32> -> tuple<!relax.tensor<[1, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>>
    %m = relax.tuple_get_item %n[1] : tuple<!relax.tensor<[1, 1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>> -> !relax.tensor<[1], f32>
    relax.output %a, %m : !relax.tensor<[1], bf16>, !relax.tensor<[1], f32>
  }
  %2 = relax.tuple(%0, %1) : (!relax.tensor<[1], bf16>, !relax.tensor<[1], f32>) -> tuple<!relax.tensor<[1], bf16>, !relax.tensor<[1], f32>>
  relax.return %2 : tuple<!relax.tensor<[1], bf16>, !relax.tensor<[1], f32>>
}

// -----

// Symbols in a shape, results much larger than their operands, and constants whose data is not
// there stay.

// CHECK-LABEL: @stays
// CHECK:         %0 = relax.broadcast_to %c
// CHECK-NEXT:    %1 = relax.broadcast_to %c
// CHECK-NEXT:    %w = relax.constant <float32, [4, 8], "w",
// CHECK-NEXT:    %2 = relax.nn.relu %w
relax.func @stays(%s: !relax.shape<[n]>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[1000000], f32>, !relax.tensor<[4, 8], f32>> {
  %c = relax.constant <float32, [], [1.0]> : !relax.tensor<[], f32>
  %0 = relax.broadcast_to %c {shape = [#sym.expr<n>]} : !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
  %1 = relax.broadcast_to %c {shape = [#sym.expr<1000000>]} : !relax.tensor<[], f32> -> !relax.tensor<[1000000], f32>
  %w = relax.constant <float32, [4, 8], "w", "00"> : !relax.tensor<[4, 8], f32>
  %2 = relax.nn.relu %w : !relax.tensor<[4, 8], f32> -> !relax.tensor<[4, 8], f32>
  %3 = relax.tuple(%0, %1, %2) : (!relax.tensor<[n], f32>, !relax.tensor<[1000000], f32>, !relax.tensor<[4, 8], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[1000000], f32>, !relax.tensor<[4, 8], f32>>
  relax.return %3 : tuple<!relax.tensor<[n], f32>, !relax.tensor<[1000000], f32>, !relax.tensor<[4, 8], f32>>
}

// -----

// Neither is a tensor that a call may write.

// CHECK-LABEL: @written
// CHECK:         %0 = relax.zeros
// CHECK-NEXT:    relax.call_packed "f"(%0)
relax.func impure @written() -> !relax.tensor<[2], f32> {
  %0 = relax.zeros {shape = [#sym.expr<2>]} : !relax.tensor<[2], f32>
  %1 = relax.call_packed "f"(%0) : (!relax.tensor<[2], f32>) -> tuple<>
  relax.return %0 : !relax.tensor<[2], f32>
}

// -----

// A conversion to the dtype that a tensor has already goes away; one to another dtype stays.

// CHECK-LABEL: @same_dtype
// CHECK-NEXT:    %[[EXP:.*]] = relax.exp %x
// CHECK-NEXT:    %[[HALF:.*]] = relax.astype %[[EXP]] {dtype = f16}
// CHECK-NEXT:    relax.return %[[HALF]]
relax.func @same_dtype(%x: !relax.tensor<[n, 2], f32>) -> !relax.tensor<[n, 2], f16> {
  %0 = relax.astype %x {dtype = f32} : !relax.tensor<[n, 2], f32> -> !relax.tensor<[n, 2], f32>
  %1 = relax.exp %0 : !relax.tensor<[n, 2], f32> -> !relax.tensor<[n, 2], f32>
  %2 = relax.astype %1 {dtype = f16} : !relax.tensor<[n, 2], f32> -> !relax.tensor<[n, 2], f16>
  %3 = relax.astype %2 {dtype = f16} : !relax.tensor<[n, 2], f16> -> !relax.tensor<[n, 2], f16>
  relax.return %3 : !relax.tensor<[n, 2], f16>
}

// -----

// A copy whose memory a call takes stays.

// CHECK-LABEL: @written
// CHECK-NEXT:    %[[X:.*]] = relax.nn.relu %x
// CHECK-NEXT:    %[[COPY:.*]] = relax.astype %[[X]] {dtype = f32}
// CHECK-NEXT:    relax.call_tir_inplace @one(%[[COPY]])
tir.prim_func @one(%X: !tir.buffer<[4], f32>) {
  %0 = arith.constant 1.0 : f32
  tir.store %0, %X[0] : !tir.buffer<[4], f32>
}
relax.func @written(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.astype %0 {dtype = f32} : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.call_tir_inplace @one(%1) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %3 = relax.add %0, %2 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %3 : !relax.tensor<[4], f32>
}

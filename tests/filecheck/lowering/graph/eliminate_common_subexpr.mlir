// RUN: xrelax-opt %s -p eliminate-common-subexpr --split-input-file | filecheck %s

// Equal operations are one.

// CHECK-LABEL: @equal
// CHECK:         %0 = relax.nn.relu %x
// CHECK-NEXT:    %1 = relax.add %0, %0
relax.func @equal(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.add %0, %1 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %2 : !relax.tensor<[4], f32>
}

// -----

// A tensor that a call may write has memory of its own, under each of its names. What only reads
// others is one still.

// CHECK-LABEL: @written
// CHECK:         relax.nn.relu %x
// CHECK-NEXT:    relax.nn.relu %x
// CHECK:         relax.exp %x
// CHECK-NOT:     relax.exp
relax.func impure @written(%x: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>> {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.tuple(%0) : (!relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>>
  %3 = relax.tuple_get_item %2[0] : tuple<!relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %4 = relax.call_packed "f"(%3) : (!relax.tensor<[4], f32>) -> tuple<>
  %5 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %6 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %7 = relax.add %5, %6 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %8 = relax.tuple(%0, %1, %7) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  relax.return %8 : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
}

// -----

// What is read before such a call is not what is read after it.

// CHECK-LABEL: @before_and_after
// CHECK:         relax.exp %x
// CHECK-NEXT:    relax.call_packed
// CHECK-NEXT:    relax.exp %x
relax.func impure @before_and_after(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.call_packed "f"(%x) : (!relax.tensor<[4], f32>) -> tuple<>
  %2 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %3 = relax.add %0, %2 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %3 : !relax.tensor<[4], f32>
}

// -----

// A call in place takes the memory of one of two equal tensors.

// CHECK-LABEL: @in_place
// CHECK:         [[A:%.+]] = relax.nn.relu %x
// CHECK-NEXT:    [[B:%.+]] = relax.nn.relu %x
// CHECK-NEXT:    [[C:%.+]] = relax.call_tir_inplace @one([[A]])
// CHECK-NEXT:    relax.add [[B]], [[C]]
tir.prim_func @one(%X: !tir.buffer<[4], f32>) {
  %0 = arith.constant 1.0 : f32
  tir.store %0, %X[0] : !tir.buffer<[4], f32>
}
relax.func @in_place(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.call_tir_inplace @one(%0) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %3 = relax.add %1, %2 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %3 : !relax.tensor<[4], f32>
}

// -----

// What gradients recompute, to keep less, is not merged with the first computation.

// CHECK-LABEL: @recomputed
// CHECK:         [[A:%.+]] = relax.exp %x :
// CHECK-NEXT:    [[B:%.+]] = relax.exp %x {recomputed}
// CHECK-NEXT:    relax.add [[A]], [[B]]
relax.func @recomputed(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.exp %x {recomputed} : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.add %0, %1 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %2 : !relax.tensor<[4], f32>
}

// -----

// Equal casts check the same.

// CHECK-LABEL: @casts
// CHECK:         [[A:%.+]] = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[4], f32>
// CHECK-NEXT:    [[B:%.+]] = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[n], f32>
// CHECK-NEXT:    relax.tuple([[A]], [[A]], [[B]])
relax.func @casts(%x: !relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<rank 1, f32>> {
  %0 = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[4], f32>
  %1 = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[4], f32>
  %2 = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[n], f32>
  %3 = relax.tuple(%0, %1, %2) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[n], f32>>
  relax.return %3 : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[n], f32>>
}

// -----

// Calls of registered functions whose results nothing uses are not merged.

// CHECK-LABEL: @unused_calls
// CHECK-COUNT-2: relax.call_pure_packed "log"
// CHECK-NEXT:    relax.return
relax.func @unused_calls(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_pure_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_pure_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[4], f32>
}

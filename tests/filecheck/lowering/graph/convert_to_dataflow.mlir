// RUN: xrelax-opt %s -p convert-to-dataflow --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'convert-to-dataflow{min_size=4}' --split-input-file | filecheck %s --check-prefix=MORE

// Operations between effects make blocks, in branches too; one alone does not.
// CHECK-LABEL: @blocks
// MORE-LABEL: @blocks
// MORE-NOT: relax.dataflow
// MORE: @result
relax.func impure @blocks(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %k = relax.constant
  %k = relax.constant <float32, [1], [1.5]> : !relax.tensor<[1], f32>
  // CHECK-NEXT: %b = relax.dataflow -> !relax.tensor<[n], f32> {
  // CHECK-NEXT:   %a = relax.add %x, %k
  // CHECK-NEXT:   %b_1 = relax.multiply %a, %x
  // CHECK-NEXT:   relax.output %b_1
  // CHECK-NEXT: }
  %a = relax.add %x, %k : !relax.tensor<[n], f32>, !relax.tensor<[1], f32> -> !relax.tensor<[n], f32>
  %b = relax.multiply %a, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: relax.call_packed "log"(%b)
  %0 = relax.call_packed "log"(%b) : (!relax.tensor<[n], f32>) -> !relax.object
  // CHECK-NEXT: %d = relax.add %b, %k
  %d = relax.add %b, %k : !relax.tensor<[n], f32>, !relax.tensor<[1], f32> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: relax.if
  %1 = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    // CHECK-NEXT: %f = relax.dataflow -> !relax.tensor<[n], f32> {
    %e = relax.add %d, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %f = relax.add %e, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK: relax.yield %f
    relax.yield %f : !relax.tensor<[n], f32>
  } else {
    relax.yield %x : !relax.tensor<[n], f32>
  }
  relax.return %1 : !relax.tensor<[n], f32>
}

// -----

// What is beside a block becomes part of it; the tuple that a function ends with is written there.
// CHECK-LABEL: @result
relax.func @result(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  // CHECK-NEXT: relax.dataflow
  %y = relax.dataflow -> !relax.tensor<[n], f32> {
    %a = relax.add %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output %a : !relax.tensor<[n], f32>
  }
  // CHECK-NEXT:   relax.add %x, %x
  // CHECK-NEXT:   relax.add %{{.*}}, %x
  // CHECK-NEXT:   relax.output %{{.*}}, %{{.*}} :
  // CHECK-NEXT: }
  %b = relax.add %y, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  // CHECK-NEXT: relax.tuple(
  %t = relax.tuple(%y, %b) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %t : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// -----

// A call of a registered function whose result has no uses runs, as it would not inside of a block.
// CHECK-LABEL: @unused
relax.func @unused(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: relax.call_pure_packed "log"
  // CHECK-NEXT: relax.dataflow
  // CHECK-NEXT:   relax.call_pure_packed "relu"
  %0 = relax.call_pure_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %y = relax.call_pure_packed "relu"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %z = relax.add %y, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %z : !relax.tensor<[n], f32>
}

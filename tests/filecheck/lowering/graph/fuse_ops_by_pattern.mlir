// RUN: xrelax-opt %s -p 'fuse-ops-by-pattern{patterns="scaled=relax.nn.relu(relax.multiply(_, const))","linear=relax.add(relax.matmul(_, _), _) | relax.add(relax.matmul(_, _), const)"}' --split-input-file | filecheck %s

// A match becomes a private function with the pattern's name; its call stands for the last operation.
// CHECK-LABEL: relax.func private @fused_relax_matmul_relax_add
// CHECK-SAME:    (%x: !relax.tensor<[n, 3], f32>, %w: !relax.tensor<[3, 4], f32>, %b: !relax.tensor<[4], f32>) -> !relax.tensor<[n, 4], f32> attributes {Composite = "linear", Primitive = true}
// CHECK-NEXT:    relax.dataflow
// CHECK-NEXT:      %1 = relax.matmul %x, %w
// CHECK-NEXT:      %2 = relax.add %1, %b
// CHECK-NEXT:      relax.output %2
// CHECK-LABEL: relax.func @linear
// CHECK-NEXT:    %0 = relax.call @fused_relax_matmul_relax_add(%x, %w, %b)
// CHECK-NEXT:    relax.return %0
relax.func @linear(%x: !relax.tensor<[n, 3], f32>, %w: !relax.tensor<[3, 4], f32>, %b: !relax.tensor<[4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.matmul %x, %w : !relax.tensor<[n, 3], f32>, !relax.tensor<[3, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.add %0, %b : !relax.tensor<[n, 4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %1 : !relax.tensor<[n, 4], f32>
}

// -----

// Constants go into the function, also in a dataflow block; the first pattern comes first.
// CHECK-LABEL: relax.func private @fused_relax_multiply_relax_nn_relu
// CHECK-SAME:    (%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {Composite = "scaled", Primitive = true}
// CHECK:           relax.constant
// CHECK-NEXT:      relax.multiply
// CHECK-NEXT:      relax.nn.relu
// CHECK-LABEL: relax.func @constant
// CHECK-NOT:     relax.constant
// CHECK:         relax.dataflow
// CHECK-NEXT:      %[[R:.*]] = relax.call @fused_relax_multiply_relax_nn_relu(%x)
// CHECK-NEXT:      relax.output %[[R]]
relax.func @constant(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.dataflow -> !relax.tensor<[n], f32> {
    %c = relax.constant <float32, [], [2.0]> : !relax.tensor<[], f32>
    %0 = relax.multiply %x, %c : !relax.tensor<[n], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
    %1 = relax.nn.relu %0 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output %1 : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// A product that is also used elsewhere becomes another result.
// CHECK-LABEL: relax.func private @fused_relax_matmul_relax_add
// CHECK-SAME:    -> tuple<!relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32>>
// CHECK-LABEL: relax.func @shared
// CHECK-NEXT:    %[[C:.*]] = relax.call @fused_relax_matmul_relax_add(%x)
// CHECK-NEXT:    %[[A:.*]] = relax.tuple_get_item %[[C]][1]
// CHECK-NEXT:    %[[B:.*]] = relax.tuple_get_item %[[C]][0]
// CHECK-NEXT:    relax.multiply %[[B]], %[[A]]
relax.func @shared(%x: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[4, 4], f32> {
  %0 = relax.matmul %x, %x : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %1 = relax.add %0, %x : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %2 = relax.multiply %1, %0 : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  relax.return %2 : !relax.tensor<[4, 4], f32>
}

// -----

// Operations on both sides of the end of a dataflow block are no match.
// CHECK-LABEL: relax.func @apart
// CHECK-NOT:     relax.call
relax.func @apart(%x: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[4, 4], f32> {
  %y = relax.dataflow -> !relax.tensor<[4, 4], f32> {
    %0 = relax.matmul %x, %x : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
    relax.output %0 : !relax.tensor<[4, 4], f32>
  }
  %1 = relax.add %y, %x : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  relax.return %1 : !relax.tensor<[4, 4], f32>
}

// -----

// Equal matches share a function.
// CHECK:         relax.func private @fused_relax_matmul_relax_add(
// CHECK-NOT:     relax.func private
// CHECK-LABEL: relax.func @twice
// CHECK-NEXT:    %0 = relax.call @fused_relax_matmul_relax_add(%x, %w)
// CHECK-NEXT:    %1 = relax.call @fused_relax_matmul_relax_add(%0, %x)
relax.func @twice(%x: !relax.tensor<[4, 4], f32>, %w: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[4, 4], f32> {
  %0 = relax.matmul %x, %w : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %1 = relax.add %0, %w : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %2 = relax.matmul %1, %x : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  %3 = relax.add %2, %x : !relax.tensor<[4, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  relax.return %3 : !relax.tensor<[4, 4], f32>
}

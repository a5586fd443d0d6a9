// RUN: xrelax-opt %s -p merge-composite-functions --split-input-file | filecheck %s

// Calls of composite functions of one code generator become one function, with the composite functions as local ones. A value that is also used outside is another result.
// CHECK-LABEL: relax.func @fused_matmul_relu_own(
// CHECK-SAME:    attributes {Codegen = "own", global_symbol = "fused_matmul_relu_own"}
// CHECK-NEXT:    %fused_matmul = relax.local_func @fused_matmul({{.*}} attributes {Composite = "own.matmul"}
// CHECK:         %[[A:.*]] = relax.invoke %fused_matmul(%x, %w)
// CHECK-NEXT:    %fused_relu = relax.local_func @fused_relu({{.*}} attributes {Composite = "own.relu"}
// CHECK:         %[[B:.*]] = relax.invoke %fused_relu(%[[A]])
// CHECK-NEXT:    %[[T:.*]] = relax.tuple(%[[A]], %[[B]])
// CHECK-NEXT:    relax.return %[[T]]
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %[[C:.*]] = relax.call @fused_matmul_relu_own(%x, %w)
// CHECK-NEXT:    relax.tuple_get_item %[[C]][0]
// CHECK-NEXT:    relax.tuple_get_item %[[C]][1]
// CHECK-NEXT:    relax.exp
// CHECK-NOT: @fused_matmul(
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[n, 4], f32> {
  %0 = relax.call @fused_matmul(%x, %w) : (!relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32>) -> !relax.tensor<[n, 4], f32>
  %2 = relax.exp %0 : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %1 = relax.call @fused_relu(%0) : (!relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32>
  %3 = relax.add %1, %2 : !relax.tensor<[n, 4], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %3 : !relax.tensor<[n, 4], f32>
}
relax.func private @fused_matmul(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[n, 4], f32> attributes {Composite = "own.matmul", Primitive = true} {
  %0 = relax.matmul %x, %w : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %0 : !relax.tensor<[n, 4], f32>
}
relax.func private @fused_relu(%x: !relax.tensor<[n, 4], f32>) -> !relax.tensor<[n, 4], f32> attributes {Composite = "own.relu", Primitive = true} {
  %0 = relax.nn.relu %x : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %0 : !relax.tensor<[n, 4], f32>
}

// -----

// A call joins none that it also reaches through another operation, here the exponential.
// CHECK-LABEL: relax.func @around
// CHECK-NEXT:    %0 = relax.call @fused_relu1_own(%x)
// CHECK-NEXT:    %1 = relax.exp %0
// CHECK-NEXT:    %2 = relax.call @fused_add1_own(%0, %1)
relax.func @around(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @fused_relu(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.exp %0 : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.call @fused_add(%0, %1) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %2 : !relax.tensor<[4], f32>
}
relax.func private @fused_relu(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Composite = "own.relu"} {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func private @fused_add(%x: !relax.tensor<[4], f32>, %y: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Composite = "own.add"} {
  %0 = relax.add %x, %y : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// Calls of two code generators stay apart, and functions that are not composite as they are.
// CHECK-LABEL: relax.func @two
// CHECK-NEXT:    relax.call @fused_relu1_own(%x)
// CHECK-NEXT:    relax.call @fused_exp1_other(
// CHECK-NEXT:    relax.call @plain(
relax.func @two(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @fused_relu(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call @fused_exp(%0) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.call @plain(%1) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %2 : !relax.tensor<[4], f32>
}
relax.func private @fused_relu(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Composite = "own.relu"} {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func private @fused_exp(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Composite = "other.exp"} {
  %0 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
relax.func private @plain(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.sin %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected 1 carried and then stacked tensors as the result of 'relax.loop', got tuple<>
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<>
  relax.return %l : tuple<>
}

// -----

// CHECK: expected 'relax.loop' to give tensors of known shape and dtype, got !relax.tensor<rank 1, f32>
relax.func @main(%h: !relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<rank 1, f32>> {
  %l = relax.loop @step to 3 carried (%h) scanned () given () : (!relax.tensor<rank 1, f32>) () () -> tuple<!relax.tensor<rank 1, f32>>
  relax.return %l : tuple<!relax.tensor<rank 1, f32>>
}

// -----

// CHECK: expected 1 carried and then stacked tensors as the result of 'relax.loop', got tuple<!relax.tensor<[n], f32>, tuple<!relax.tensor<[3], f32>>>
relax.func @main(%h: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %l = relax.loop @step to 3 carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>, tuple<!relax.tensor<[3], f32>>>
  relax.return %h : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a carried tensor of type !relax.tensor<[4], f32>, as the result, got !relax.tensor<[n], f32>
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[4], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[4], f32>>
  relax.return %l : tuple<!relax.tensor<[4], f32>>
}

// -----

// CHECK: expected scanned and stacked tensors of n elements along the first axis, got !relax.tensor<[m, 2], f32>
relax.func @main(%h: !relax.tensor<[n], f32>, %x: !relax.tensor<[m, 2], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned (%x) given () : (!relax.tensor<[n], f32>) (!relax.tensor<[m, 2], f32>) () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// CHECK: expected scanned and stacked tensors of n elements along the first axis, got !relax.tensor<[], f32>
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>, !relax.tensor<[], f32>>
}

// -----

// CHECK: expected given tensors, shapes, numbers or tuples of them, got tuple<!relax.object>
relax.func @main(%h: !relax.tensor<[n], f32>, %o: tuple<!relax.object>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given (%o) : (!relax.tensor<[n], f32>) () (tuple<!relax.object>) -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// CHECK: expected a number of trips of 'relax.loop', got none
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// CHECK: expected no scanned and stacked tensors of a while loop, got 1
relax.func @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[], i1>> {
  %l = relax.loop @step while to n carried (%c) scanned (%x) given () : (!relax.tensor<[], i1>) (!relax.tensor<[n], f32>) () -> tuple<!relax.tensor<[], i1>>
  relax.return %l : tuple<!relax.tensor<[], i1>>
}

// -----

// CHECK: expected a condition of type !relax.tensor<[], i1> as the first carried tensor
relax.func @main(%h: !relax.tensor<[1], i1>) -> tuple<!relax.tensor<[1], i1>> {
  %l = relax.loop @step while carried (%h) scanned () given () : (!relax.tensor<[1], i1>) () () -> tuple<!relax.tensor<[1], i1>>
  relax.return %l : tuple<!relax.tensor<[1], i1>>
}

// -----

// CHECK: symbol 'm' is not determined by the parameters of 'main'
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to m carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// The effects of a loop are those of its function.

// CHECK: expected pure operations in a dataflow block, got 'relax.loop'
relax.func private impure @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %p = relax.print "{}"(%h) : (!relax.tensor<[n], f32>) -> tuple<>
  %o = relax.tuple(%h) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>>
  relax.return %o : tuple<!relax.tensor<[n], f32>>
}
relax.func impure @main(%h: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %l = relax.loop @step to 2 carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
    relax.output
  }
  relax.return %h : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'main' to be declared impure, as it has 'relax.loop'
relax.func private impure @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %p = relax.print "{}"(%h) : (!relax.tensor<[n], f32>) -> tuple<>
  %o = relax.tuple(%h) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>>
  relax.return %o : tuple<!relax.tensor<[n], f32>>
}
relax.func @main(%h: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %l = relax.loop @step to 2 carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %h : !relax.tensor<[n], f32>
}

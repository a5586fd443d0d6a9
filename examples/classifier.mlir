// One layer of a classifier, for any number of inputs and classes.
relax.func @main(%x: !relax.tensor<[1, n], f32>, %w: !relax.tensor<[n, m], f32>) -> !relax.tensor<[1, m], f32> {
  %y = relax.dataflow -> !relax.tensor<[1, m], f32> {
    %0 = relax.matmul %x, %w : !relax.tensor<[1, n], f32>, !relax.tensor<[n, m], f32> -> !relax.tensor<[1, m], f32>
    %1 = relax.nn.relu %0 : !relax.tensor<[1, m], f32> -> !relax.tensor<[1, m], f32>
    relax.output %1 : !relax.tensor<[1, m], f32>
  }
  relax.return %y : !relax.tensor<[1, m], f32>
}

// RUN: xrelax-opt %s -p bundle-model-params | filecheck %s

// The parameters after the inputs are fields of a tuple; one that is not used has no variable.
// CHECK-LABEL: relax.func @main
// CHECK-SAME:    (%x: !relax.tensor<[n], f32>, %model_params: tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>>)
// CHECK-NEXT:    relax.dataflow
// CHECK-NEXT:      %w = relax.tuple_get_item %model_params[0]
// CHECK-NEXT:      %{{.*}} = relax.add %x, %w
// CHECK-NEXT:      %b = relax.tuple_get_item %model_params[1]
// CHECK-NEXT:      %{{.*}} = relax.add %{{.*}}, %b
relax.func @main(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[n], f32>, %b: !relax.tensor<[n], f32>, %u: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {num_input = 1 : i64} {
  %y = relax.dataflow -> !relax.tensor<[n], f32> {
    %0 = relax.add %x, %w : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %1 = relax.add %0, %b : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output %1 : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// Without `num_input` a function stays.
// CHECK-LABEL: relax.func @other(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[n], f32>)
relax.func @other(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %w : !relax.tensor<[n], f32>
}

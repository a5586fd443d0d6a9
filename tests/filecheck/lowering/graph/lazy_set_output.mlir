// RUN: xrelax-opt %s -p lazy-set-output --split-input-file | filecheck %s

// A result is given where it is computed, and each of its places gets it.

// CHECK-LABEL: relax.func impure @transform
// CHECK-SAME:    %fset_output: !relax.func<impure (!relax.prim<i64>, !relax.object) -> tuple<>>, %A: {{.*}}, %U: {{.*}}) -> tuple<>
// CHECK-NEXT:    %[[I:[0-9]+]] = relax.prim_value : !relax.prim<i64, 3>
// CHECK-NEXT:    relax.invoke %fset_output(%[[I]], %x)
// CHECK-NEXT:    %C = relax.add
// CHECK-NEXT:    relax.prim_value : !relax.prim<i64, 1>
// CHECK-NEXT:    relax.invoke %fset_output(%{{.*}}, %C)
// CHECK-NEXT:    relax.prim_value : !relax.prim<i64, 2>
// CHECK-NEXT:    relax.invoke %fset_output(%{{.*}}, %C)
// CHECK-NEXT:    %E = relax.dataflow
// CHECK:         relax.prim_value : !relax.prim<i64, 0>
// CHECK-NEXT:    relax.invoke %fset_output(%{{.*}}, %E)

relax.func @transform(%x: !relax.tensor<[4], f32>, %A: !relax.tensor<[4], f32>, %U: !relax.tensor<[4], f32>, %B: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>> attributes {num_input = 1 : i64} {
  %C = relax.add %A, %x : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %E = relax.dataflow -> !relax.tensor<[4], f32> {
    %D = relax.multiply %C, %B : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
    relax.output %D : !relax.tensor<[4], f32>
  }
  %0 = relax.tuple(%E, %C, %C, %x) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  relax.return %0 : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
}

// -----

// Private functions stay.
// CHECK-LABEL: relax.func private @inner(%A: !relax.tensor<[4], f32>)
relax.func private @inner(%A: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %A : !relax.tensor<[4], f32>
}

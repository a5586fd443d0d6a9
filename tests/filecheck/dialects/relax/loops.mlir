// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// A loop carries, scans, stacks, and gives tensors, shapes, numbers and tuples to every iteration.
// CHECK-LABEL: @scan
relax.func @scan(%h: !relax.tensor<[4], f32>, %x: !relax.tensor<[n, 4], f32>, %s: !relax.shape<[4]>, %t: tuple<!relax.tensor<[], i1>, !relax.prim<i64, k>>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[n, 2], i64>> {
  // CHECK-NEXT: %r = relax.dataflow
  %r = relax.dataflow -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[n, 2], i64>> {
    // CHECK-NEXT: %k = relax.prim_value
    %k = relax.prim_value : !relax.prim<i64, k>
    // CHECK-NEXT: %l = relax.loop @step to n carried (%h) scanned (%x) given (%s, %t, %k) : (!relax.tensor<[4], f32>) (!relax.tensor<[n, 4], f32>) (!relax.shape<[4]>, tuple<!relax.tensor<[], i1>, !relax.prim<i64, k>>, !relax.prim<i64, k>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[n, 2], i64>>
    %l = relax.loop @step to n carried (%h) scanned (%x) given (%s, %t, %k) : (!relax.tensor<[4], f32>) (!relax.tensor<[n, 4], f32>) (!relax.shape<[4]>, tuple<!relax.tensor<[], i1>, !relax.prim<i64, k>>, !relax.prim<i64, k>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[n, 2], i64>>
    relax.output %l : tuple<!relax.tensor<[4], f32>, !relax.tensor<[n, 2], i64>>
  }
  relax.return %r : tuple<!relax.tensor<[4], f32>, !relax.tensor<[n, 2], i64>>
}

// -----

// While loops, with a bound and without one, and a loop that stacks alone.
// CHECK-LABEL: @others
relax.func @others(%c: !relax.tensor<[], i1>, %h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n * 2, 3], f32>> {
  // CHECK-NEXT: %a = relax.loop @step while carried (%c, %h) scanned () given () : (!relax.tensor<[], i1>, !relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[], i1>, !relax.tensor<[n], f32>>
  %a = relax.loop @step while carried (%c, %h) scanned () given () : (!relax.tensor<[], i1>, !relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[], i1>, !relax.tensor<[n], f32>>
  // CHECK-NEXT: %b = relax.loop @step while to n + 1 carried (%c)
  %b = relax.loop @step while to 1 + n carried (%c) scanned () given () : (!relax.tensor<[], i1>) () () -> tuple<!relax.tensor<[], i1>>
  // CHECK-NEXT: %d = relax.loop @step to n * 2 carried () scanned () given () : () () () -> tuple<!relax.tensor<[n * 2, 3], f32>>
  %d = relax.loop @step to 2 * n carried () scanned () given () : () () () -> tuple<!relax.tensor<[n * 2, 3], f32>>
  relax.return %d : tuple<!relax.tensor<[n * 2, 3], f32>>
}

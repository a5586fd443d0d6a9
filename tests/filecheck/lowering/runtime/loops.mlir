// RUN: xrelax-opt %s -p convert-relax-to-rt --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p convert-relax-to-rt,plan-memory --check --split-input-file | filecheck %s --check-prefix=PLAN

// A loop carries its tensor in the memory of its result and in spare memory; slices and rows of
// stacked tensors are views. A symbol of the caller is not that of the iteration.

// CHECK-LABEL: rt.func private @step(%h: !tir.buffer<[4], f32>, %x: !tir.buffer<[4], f32>, %a: !tir.buffer<[4], f32>, %b: !tir.buffer<[4], f32>) results tuple 2 symbols [i] {
// CHECK-LABEL: rt.func @scan(
// CHECK-SAME:    %x: !tir.buffer<[i, 4], f32>, %h: !tir.buffer<[4], f32>, %l: !tir.buffer<[4], f32>, %l_1: !tir.buffer<[i, 4], f32>) results tuple 2 {
// CHECK:         rt.dataflow {
// CHECK-NEXT:      rt.copy %h, %l :
// CHECK-NEXT:      %l_2 = rt.alloc : !tir.buffer<[4], f32>
// CHECK-NEXT:      rt.for i_1 to i carried (%l_3, %l_4) = (%l, %l_2) : !tir.buffer<[4], f32> {
// CHECK-NEXT:        %[[X:.*]] = rt.slice %x[i_1] : !tir.buffer<[i, 4], f32> to !tir.buffer<[4], f32>
// CHECK-NEXT:        %[[Y:.*]] = rt.slice %l_1[i_1] : !tir.buffer<[i, 4], f32> to !tir.buffer<[4], f32>
// CHECK-NEXT:        rt.call_dps @step(%l_3, %[[X]]) outs(%l_4, %[[Y]]) vars [i_1] :
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// Spare memory is that of the caller; the body has none.

// PLAN-LABEL: rt.func private @step(
// PLAN-NOT:     scratch
// PLAN-LABEL: rt.func @scan
// PLAN:         [[A:%[0-9]+]] = rt.arena 64
// PLAN:         %[[S:.*]] = rt.view [[A]][0]
// PLAN:         rt.for i_1 to i carried (%l_3, %l_4) = (%l, %[[S]])
tir.prim_func @add(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %Z: !tir.buffer<[n], f32>) attributes {"private"} {
  tir.for %j in (0, n) {
    %x = tir.load %X[%j] : !tir.buffer<[n], f32>
    %y = tir.load %Y[%j] : !tir.buffer<[n], f32>
    %z = arith.addf %x, %y : f32
    tir.store %z, %Z[%j] : !tir.buffer<[n], f32>
  }
}
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[4], f32>, %x: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> {
  %a = relax.call_tir @add(%h, %x) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %b = relax.call_tir @add(%a, %a) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %o = relax.tuple(%a, %b) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  relax.return %o : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
}
relax.func @scan(%x: !relax.tensor<[i, 4], f32>, %h: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[i, 4], f32>> {
  %r = relax.dataflow -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[i, 4], f32>> {
    %l = relax.loop @step to i carried (%h) scanned (%x) given () : (!relax.tensor<[4], f32>) (!relax.tensor<[i, 4], f32>) () -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[i, 4], f32>>
    relax.output %l : tuple<!relax.tensor<[4], f32>, !relax.tensor<[i, 4], f32>>
  }
  relax.return %r : tuple<!relax.tensor<[4], f32>, !relax.tensor<[i, 4], f32>>
}

// -----

// The condition of a while loop stays in its place. What the caller gives of a tuple are its tensors, and
// symbols are passed as numbers.

// CHECK-LABEL: rt.func @until
// CHECK:         rt.copy %c, %[[C:[a-z_0-9]+]] :
// CHECK-NEXT:    rt.copy %h, %[[H:[a-z_0-9]+]] :
// CHECK-NEXT:    %[[C2:.*]] = rt.alloc : !tir.buffer<[], i1>
// CHECK-NEXT:    %[[H2:.*]] = rt.alloc : !tir.buffer<[n], f32>
// CHECK-NEXT:    rt.for i to n - 1 while %[[C]] : !tir.buffer<[], i1> carried (%[[R:.*]], %[[W:.*]]) = (%[[H]], %[[H2]]) : !tir.buffer<[n], f32> {
// CHECK-NEXT:      rt.call_dps @step(%[[C]], %[[R]], %t, %t_1) outs(%[[C2]], %[[W]]) vars [i, n * 2] :
// CHECK-NEXT:      rt.copy %[[C2]], %[[C]] :
// CHECK-NEXT:    }

// The two bools share no memory with what the loop uses, also where the last use is in the loop.

// PLAN-LABEL: rt.func @until
// PLAN:         rt.arena ((n + 15) floordiv 16) * 64 + 64
relax.func private @step(%i: !relax.prim<i64, i>, %c: !relax.tensor<[], i1>, %h: !relax.tensor<[m], f32>, %t: tuple<!relax.tensor<[], i1>, tuple<!relax.tensor<[m], f32>>>, %k: !relax.prim<i64, k>) -> tuple<!relax.tensor<[], i1>, !relax.tensor<[m], f32>> {
  %d = relax.tuple_get_item %t[0] : tuple<!relax.tensor<[], i1>, tuple<!relax.tensor<[m], f32>>> -> !relax.tensor<[], i1>
  %o = relax.tuple(%d, %h) : (!relax.tensor<[], i1>, !relax.tensor<[m], f32>) -> tuple<!relax.tensor<[], i1>, !relax.tensor<[m], f32>>
  relax.return %o : tuple<!relax.tensor<[], i1>, !relax.tensor<[m], f32>>
}
relax.func @until(%c: !relax.tensor<[], i1>, %h: !relax.tensor<[n], f32>, %t: tuple<!relax.tensor<[], i1>, tuple<!relax.tensor<[n], f32>>>) -> tuple<!relax.tensor<[], i1>, !relax.tensor<[n], f32>> {
  %k = relax.prim_value : !relax.prim<i64, n * 2>
  %l = relax.loop @step while to n - 1 carried (%c, %h) scanned () given (%t, %k) : (!relax.tensor<[], i1>, !relax.tensor<[n], f32>) () (tuple<!relax.tensor<[], i1>, tuple<!relax.tensor<[n], f32>>>, !relax.prim<i64, n * 2>) -> tuple<!relax.tensor<[], i1>, !relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[], i1>, !relax.tensor<[n], f32>>
}

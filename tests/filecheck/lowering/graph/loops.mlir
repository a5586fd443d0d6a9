// RUN: xrelax-opt %s -p dead-code-elimination --split-input-file | filecheck %s --check-prefix=DEAD
// RUN: xrelax-opt %s -p eliminate-common-subexpr --split-input-file | filecheck %s --check-prefix=CSE
// RUN: xrelax-opt %s -p legalize-ops,fuse-ops --split-input-file | filecheck %s --check-prefix=FUSE
// RUN: xrelax-opt %s -p resolve-shapes --split-input-file | filecheck %s --check-prefix=SHAPES
// RUN: xrelax-opt %s -p lambda-lift --split-input-file | filecheck %s --check-prefix=LIFT
// RUN: xrelax-opt %s -p resolve-shapes,fold-constant,convert-layout,legalize-ops,fuse-ops,fuse-tir --check --split-input-file

// A function that only a loop runs is used, and so is what it calls. Loops without effects and
// without uses go away, and equal ones are one.

// DEAD-NOT:    @unused
// DEAD:        relax.func private @inner
// DEAD:        relax.func private @step
// DEAD-LABEL:  @equal
// DEAD:          %c = relax.loop
// DEAD-NEXT:     %o = relax.tuple(%a, %b, %c)

// CSE-LABEL: @equal
// CSE:         %a = relax.loop @step to n carried (%h)
// CSE-NEXT:    %c = relax.loop @step to m carried (%h)
// CSE-NEXT:    %o = relax.tuple(%a, %a, %c)
relax.func private @unused(%x: !relax.tensor<[k], f32>) -> !relax.tensor<[k], f32> {
  relax.return %x : !relax.tensor<[k], f32>
}
relax.func private @inner(%x: !relax.tensor<[k], f32>) -> !relax.tensor<[k], f32> {
  relax.return %x : !relax.tensor<[k], f32>
}
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k], f32>> {
  %y = relax.call @inner(%h) : (!relax.tensor<[k], f32>) -> !relax.tensor<[k], f32>
  %o = relax.tuple(%y) : (!relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k], f32>>
  relax.return %o : tuple<!relax.tensor<[k], f32>>
}
relax.func @equal(%h: !relax.tensor<[n], f32>, %x: !relax.tensor<[m], f32>) -> tuple<tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>> {
  %a = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  %b = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  %c = relax.loop @step to m carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  %d = relax.loop @step to 5 carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  %o = relax.tuple(%a, %b, %c) : (tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>) -> tuple<tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>>
  relax.return %o : tuple<tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>, tuple<!relax.tensor<[n], f32>>>
}

// -----

// Operators of the body are fused, and those before and after a loop, but not across it: its
// function might end the life of a tensor, as a call may.

// DEAD-LABEL: @between
// CSE-LABEL:  @between

// FUSE:       relax.func private @fused_add_tir_tanh(
// FUSE:       relax.func private @step
// FUSE:         relax.call @fused_add_tir_tanh(
// FUSE-LABEL: relax.func @between
// FUSE:         %a = relax.call_tir @tir_exp(%h)
// FUSE-NEXT:    %l = relax.loop @step to 3 carried (%a) scanned () given (%h)
// FUSE-NEXT:    %r = relax.tuple_get_item %l[0]
// FUSE-NEXT:    relax.call_tir @multiply(%r, %a)
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>, %g: !relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k], f32>> {
  %s = relax.add %h, %g : !relax.tensor<[k], f32>, !relax.tensor<[k], f32> -> !relax.tensor<[k], f32>
  %t = relax.tanh %s : !relax.tensor<[k], f32> -> !relax.tensor<[k], f32>
  %o = relax.tuple(%t) : (!relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k], f32>>
  relax.return %o : tuple<!relax.tensor<[k], f32>>
}
relax.func @between(%h: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %a = relax.exp %h : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %l = relax.loop @step to 3 carried (%a) scanned () given (%h) : (!relax.tensor<[n], f32>) () (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>>
  %r = relax.tuple_get_item %l[0] : tuple<!relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  %z = relax.multiply %r, %a : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %z : !relax.tensor<[n], f32>
}

// -----

// The result of a loop has the dims of what is carried, and trips and stacks those of a cast.

// SHAPES-LABEL: relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[h_0], f32>, %x: !relax.tensor<[], f32>) -> tuple<!relax.tensor<[h_0], f32>, !relax.tensor<[], f32>> {
// SHAPES-LABEL: relax.func @open(
// SHAPES-SAME:    -> tuple<!relax.tensor<[h_0], f32>, !relax.tensor<[x_0], f32>> {
// SHAPES:         %l = relax.loop @step to x_0 carried (%a) scanned (%b) given () : (!relax.tensor<[h_0], f32>) (!relax.tensor<[x_0], f32>) () -> tuple<!relax.tensor<[h_0], f32>, !relax.tensor<[x_0], f32>>
relax.func private @step(%i: !relax.prim<i64>, %h: !relax.tensor<rank 1, f32>, %x: !relax.tensor<[], f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<[], f32>> {
  %o = relax.tuple(%h, %x) : (!relax.tensor<rank 1, f32>, !relax.tensor<[], f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<[], f32>>
  relax.return %o : tuple<!relax.tensor<rank 1, f32>, !relax.tensor<[], f32>>
}
relax.func @open(%h: !relax.tensor<rank 1, f32>, %x: !relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<rank 1, f32>, !relax.tensor<rank 1, f32>> {
  %a = relax.match_cast %h : !relax.tensor<rank 1, f32> -> !relax.tensor<[n], f32>
  %b = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[m], f32>
  %l = relax.loop @step to m carried (%a) scanned (%b) given () : (!relax.tensor<[n], f32>) (!relax.tensor<[m], f32>) () -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[m], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>, !relax.tensor<[m], f32>>
}

// -----

// A local function captures what its loop scans, and the symbol that is its bound.

// LIFT-LABEL: relax.func @main
// LIFT:         %[[M:.*]] = relax.prim_value : !relax.prim<i64, m>
// LIFT-NEXT:    relax.call @main_local(%h, %[[M]])
// LIFT:       relax.func private @main_local(%g: !relax.tensor<[4], f32>, %m: !relax.prim<i64, m>)
// LIFT-NEXT:    relax.loop @step to m carried (%g)
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k], f32>> {
  %o = relax.tuple(%h) : (!relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k], f32>>
  relax.return %o : tuple<!relax.tensor<[k], f32>>
}
relax.func @main(%h: !relax.tensor<[4], f32>, %x: !relax.tensor<[m], f32>) -> tuple<!relax.tensor<[4], f32>> {
  %f = relax.local_func @local(%g: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>> {
    %l = relax.loop @step to m carried (%g) scanned () given () : (!relax.tensor<[4], f32>) () () -> tuple<!relax.tensor<[4], f32>>
    relax.return %l : tuple<!relax.tensor<[4], f32>>
  }
  %r = relax.invoke %f(%h) : !relax.func<(!relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>>>, (!relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>>
  relax.return %r : tuple<!relax.tensor<[4], f32>>
}

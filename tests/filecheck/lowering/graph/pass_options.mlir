// RUN: xrelax-opt %s -p 'eliminate-common-subexpr{call-only=true}' | filecheck %s --check-prefix=CALLS
// RUN: xrelax-opt %s -p 'dead-code-elimination{entry-functions=kept}' | filecheck %s --check-prefix=ENTRY
// RUN: not xrelax-opt %s -p 'dead-code-elimination{entry-functions=keps}' 2>&1 | filecheck %s --check-prefix=NAME

// Only calls are merged: there are two tuples of equal fields.
// CALLS-LABEL: @main
// CALLS-COUNT-1: relax.exp
// CALLS-NOT: relax.exp
// CALLS: relax.tuple(
// CALLS: relax.tuple(

// Public functions and entries stay, and what kernels call.
// ENTRY: @main
// ENTRY-NOT: @unused
// ENTRY: @kept
// ENTRY: @copy
// ENTRY: @same

// NAME: expected a function of the module (main, unused, kept, copy, same), got 'keps'
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.exp %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.tuple(%0, %0) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  %3 = relax.tuple(%1, %1) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>>
  %4 = relax.tuple_get_item %2[0] : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %5 = relax.tuple_get_item %3[1] : tuple<!relax.tensor<[4], f32>, !relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %6 = relax.add %4, %5 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %6 : !relax.tensor<[4], f32>
}
relax.func private @unused(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}
relax.func private @kept(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @copy(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}
tir.prim_func @copy(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  tir.for %i in (0, 4) {
    tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
      %y = tir.call @same(%x) : (f32) -> f32
      tir.store %y, %Y[%vi] : !tir.buffer<[4], f32>
    }
  }
}
tir.prim_func @same(%x: f32) attributes {private} {
  tir.return %x : f32
}

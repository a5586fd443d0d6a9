// RUN: xrelax-opt %s -p 'eliminate-common-subexpr{call-only=true}' | filecheck %s --check-prefix=CALLS
// RUN: xrelax-opt %s -p 'dead-code-elimination{entry-functions=main}' | filecheck %s --check-prefix=ENTRY
// RUN: not xrelax-opt %s -p 'dead-code-elimination{entry-functions=maim}' 2>&1 | filecheck %s --check-prefix=NAME

// Only calls are merged: there are two tuples of equal fields.
// CALLS-LABEL: @main
// CALLS-COUNT-1: relax.exp
// CALLS-NOT: relax.exp
// CALLS: relax.tuple(
// CALLS: relax.tuple(

// A public function that no entry calls goes away.
// ENTRY: @main
// ENTRY-NOT: @unused

// NAME: expected a function of the module (main, unused), got 'maim'
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
relax.func @unused(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}

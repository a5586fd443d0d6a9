// RUN: xrelax-opt %s -p expand-tuple-arguments --split-input-file | filecheck %s

// Nested tuples too; the fields of a tuple that is not made by the caller are extracted.

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %y = relax.call @func(%a, %b, %a) :
// CHECK-NEXT:    [[F:%[0-9]+]] = relax.tuple_get_item %p[0]
// CHECK-NEXT:    [[I:%[0-9]+]] = relax.tuple_get_item %p[1]
// CHECK-NEXT:    [[G:%[0-9]+]] = relax.tuple_get_item [[I]][0]
// CHECK-NEXT:    %z = relax.call @func([[F]], [[G]], %a) :
// CHECK:       relax.func private @func(%t: !relax.tensor<[4], f32>, %t_1: !relax.tensor<[4], f32>, %u: !relax.tensor<[4], f32>) params ("t_0", "t_1_0", "u")
// CHECK-NEXT:    %s = relax.add %t_1, %u
// CHECK-NEXT:    relax.return %s
relax.func @main(%a: !relax.tensor<[4], f32>, %b: !relax.tensor<[4], f32>, %p: tuple<!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>>) -> !relax.tensor<[4], f32> {
  %i = relax.tuple(%b) : (!relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>>
  %t = relax.tuple(%a, %i) : (!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>) -> tuple<!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>>
  %y = relax.call @func(%t, %a) : (tuple<!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %z = relax.call @func(%p, %a) : (tuple<!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>>, !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %s = relax.add %y, %z : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %s : !relax.tensor<[4], f32>
}
relax.func private @func(%t: tuple<!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>>, %u: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %i = relax.tuple_get_item %t[1] : tuple<!relax.tensor<[4], f32>, tuple<!relax.tensor<[4], f32>>> -> tuple<!relax.tensor<[4], f32>>
  %b = relax.tuple_get_item %i[0] : tuple<!relax.tensor<[4], f32>> -> !relax.tensor<[4], f32>
  %s = relax.add %b, %u : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %s : !relax.tensor<[4], f32>
}

// -----

// The parameters of public functions stay.

// CHECK-LABEL: relax.func @public(%t: tuple<
relax.func @public(%t: tuple<!relax.tensor<[4], f32>>) -> tuple<!relax.tensor<[4], f32>> {
  relax.return %t : tuple<!relax.tensor<[4], f32>>
}

// RUN: xrelax-opt %s -p lazy-get-input --split-input-file | filecheck %s --check-prefix=GET
// RUN: xrelax-opt %s -p lazy-get-input,normalize --split-input-file | filecheck %s --check-prefix=CALL

// A weight is asked for before its first use, in whichever dataflow block that is. One without uses
// is not.

// GET-LABEL: relax.func @transform(%x: !relax.tensor<[4], f32>, %fget_param: !relax.func<(!relax.prim<i64>, !relax.object) -> !relax.object>)
// GET-SAME:    attributes {num_input = 2 : i64}
// GET-NEXT:    %0 = relax.prim_value : !relax.prim<i64, 0>
// GET-NEXT:    %1 = relax.str "A" : !relax.object
// GET-NEXT:    %2 = relax.invoke %fget_param(%0, %1)
// GET-NEXT:    %A = relax.match_cast %2 : !relax.object -> !relax.tensor<[4], f32>
// GET-NEXT:    %C = relax.add %A, %x
// GET-NEXT:    %3 = relax.prim_value : !relax.prim<i64, 2>
// GET:         %B = relax.match_cast
// GET-NEXT:    %E = relax.dataflow
// GET-NEXT:      %D = relax.multiply %C, %B

// Builds call a function that is a parameter by one of the runtime.

// CALL-LABEL: relax.func @transform(%x: !relax.tensor<[4], f32>, %fget_param: !relax.object)
// CALL:         %2 = relax.call_pure_packed "vm.builtin.invoke_closure"(%fget_param, %0, %1)
// CALL-NEXT:    %A = relax.call_pure_packed "vm.builtin.value_of"(%2) : (!relax.object) -> !relax.tensor<[4], f32>
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
// GET-LABEL: relax.func private @inner(%A: !relax.tensor<[4], f32>)
// CALL-LABEL: relax.func private @inner(%A: !relax.tensor<[4], f32>)
relax.func private @inner(%A: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %A : !relax.tensor<[4], f32>
}

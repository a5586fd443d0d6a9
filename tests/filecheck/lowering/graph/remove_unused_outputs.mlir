// RUN: xrelax-opt %s -p remove-unused-outputs --split-input-file | filecheck %s

// Of three fields two are used, by two calls.
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %t = relax.call @three(%x)
// CHECK-NEXT:    %a = relax.tuple_get_item %t[0]
// CHECK-NEXT:    %u = relax.call @three(%a)
// CHECK-NEXT:    %b = relax.tuple_get_item %u[1]
// CHECK-LABEL: relax.func private @three
// CHECK-NEXT:    %[[E:.*]] = relax.exp %x
// CHECK-NEXT:    %[[A:.*]] = relax.abs %x
// CHECK-NEXT:    relax.tuple(%[[E]], %[[A]])
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %t = relax.call @three(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %a = relax.tuple_get_item %t[0] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  %u = relax.call @three(%a) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %b = relax.tuple_get_item %u[2] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  relax.return %b : !relax.tensor<[n], f32>
}
relax.func private @three(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  %0 = relax.exp %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %1 = relax.sin %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %2 = relax.abs %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %3 = relax.tuple(%0, %1, %2) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %3 : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// -----

// One field is returned without a tuple.
// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %b = relax.call @two(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
// CHECK-NEXT:    relax.return %b
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %t = relax.call @two(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %b = relax.tuple_get_item %t[1] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  relax.return %b : !relax.tensor<[n], f32>
}
relax.func private @two(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  %0 = relax.tuple(%x, %x) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %0 : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// -----

// A tuple that is used as a whole stays.
// CHECK-LABEL: relax.func @whole
// CHECK-NEXT:    relax.call @two(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
relax.func @whole(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  %t = relax.call @two(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %t : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}
relax.func private @two(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  %0 = relax.tuple(%x, %x) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %0 : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

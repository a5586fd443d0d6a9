// RUN: xrelax-opt %s -p inline-private-functions --split-input-file | filecheck %s

// Also calls in inlined bodies are inlined, and dataflow blocks join the one around the call.

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %y = relax.dataflow
// CHECK-NEXT:      %a = relax.exp %x
// CHECK-NEXT:      {{%[a-z0-9]+}} = relax.sqrt %a
// CHECK-NEXT:      relax.output
// CHECK-NOT:   relax.func private
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %y = relax.dataflow -> !relax.tensor<[4], f32> {
    %b = relax.call @both(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
    relax.output %b : !relax.tensor<[4], f32>
  }
  relax.return %y : !relax.tensor<[4], f32>
}
relax.func private @both(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %a = relax.exp %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %b = relax.call @second(%a) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %b : !relax.tensor<[n], f32>
}
relax.func private @second(%x: !relax.tensor<[m], f32>) -> !relax.tensor<[m], f32> {
  %y = relax.dataflow -> !relax.tensor<[m], f32> {
    %a = relax.sqrt %x : !relax.tensor<[m], f32> -> !relax.tensor<[m], f32>
    relax.output %a : !relax.tensor<[m], f32>
  }
  relax.return %y : !relax.tensor<[m], f32>
}

// -----

// Public, primitive and recursive functions stay.

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    relax.call @public
// CHECK-NEXT:    relax.call @primitive
// CHECK-NEXT:    relax.call @recursive
// CHECK:       relax.func @public
// CHECK:       relax.func private @primitive
// CHECK:       relax.func private @recursive
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %a = relax.call @public(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %b = relax.call @primitive(%a) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %c = relax.call @recursive(%b) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %c : !relax.tensor<[4], f32>
}
relax.func @public(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}
relax.func private @primitive(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> attributes {Primitive = true} {
  relax.return %x : !relax.tensor<[4], f32>
}
relax.func private @recursive(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %a = relax.call @recursive(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %a : !relax.tensor<[4], f32>
}

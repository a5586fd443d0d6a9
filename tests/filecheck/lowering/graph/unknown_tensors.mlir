// RUN: xrelax-opt %s -p resolve-shapes --split-input-file | filecheck %s

// Branches of different shapes have objects.
// CHECK-LABEL: relax.func @branches(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.object {
// CHECK-NEXT:    %r = relax.if %c : !relax.tensor<[], i1> -> !relax.object {
// CHECK-NEXT:      %0 = relax.call_pure_packed "vm.builtin.copy"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
// CHECK-NEXT:      relax.yield %0 : !relax.object
// CHECK:           relax.yield {{.*}} : !relax.object
relax.func @branches(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32> {
  %r = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<rank 1, f32> {
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    %y = relax.concat %x, %x : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n * 2], f32>
    relax.yield %y : !relax.tensor<[n * 2], f32>
  }
  relax.return %r : !relax.tensor<rank 1, f32>
}

// -----

// An argument of unknown type is cast to the type of the parameter, when the call runs.
// CHECK-LABEL: relax.func @argument
// CHECK-NEXT:    %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[2], f32>) -> !relax.object
// CHECK-NEXT:    %0 = relax.call_pure_packed "vm.builtin.value_of"(%y) : (!relax.object) -> !relax.tensor<[2], f32>
// CHECK-NEXT:    relax.call @callee(%0)
relax.func @argument(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32>
  %z = relax.call @callee(%y) : (!relax.tensor<rank 1, f32>) -> !relax.tensor<[2], f32>
  relax.return %z : !relax.tensor<[2], f32>
}
relax.func private @callee(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {
  relax.return %x : !relax.tensor<[2], f32>
}

// -----

// What a registered function returns to users stays a tensor.
// CHECK-LABEL: relax.func @returned(%x: !relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32> {
// CHECK-NEXT:    %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32>
relax.func @returned(%x: !relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32> {
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32>
  relax.return %y : !relax.tensor<rank 1, f32>
}

// -----

// Where an operator needs the shape, nothing changes.
// CHECK-LABEL: relax.func @computed
// CHECK:         relax.add %y, %y : !relax.tensor<rank 1, f32>
relax.func @computed(%x: !relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32> {
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[2], f32>) -> !relax.tensor<rank 1, f32>
  %z = relax.add %y, %y : !relax.tensor<rank 1, f32>, !relax.tensor<rank 1, f32> -> !relax.tensor<rank 1, f32>
  relax.return %z : !relax.tensor<rank 1, f32>
}

// -----

// Parameters of unknown rank are objects, which are checked; so are shapes of unknown rank.

// CHECK-LABEL: relax.func @shape_of(%t: !relax.object) -> !relax.object
// CHECK:         %[[D:.*]] = relax.str "int32"
// CHECK:         %[[T:.*]] = relax.call_pure_packed "vm.builtin.check_tensor_info"(%t, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:         relax.call_pure_packed "vm.builtin.shape_of"(%[[T]]) : (!relax.object) -> !relax.object
relax.func @shape_of(%t: !relax.tensor<*, i32>) -> !relax.shape<*> {
  %0 = relax.shape_of %t : !relax.tensor<*, i32> -> !relax.shape<*>
  relax.return %0 : !relax.shape<*>
}

// CHECK-LABEL: relax.func @passed(%s: !relax.object) -> !relax.object
// CHECK:         relax.call_pure_packed "vm.builtin.check_shape_info"(%s, %{{.*}}, %{{.*}})
relax.func @passed(%s: !relax.shape<*>) -> !relax.shape<*> {
  relax.return %s : !relax.shape<*>
}

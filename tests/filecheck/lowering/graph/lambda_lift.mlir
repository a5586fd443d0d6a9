// RUN: xrelax-opt %s -p lambda-lift --split-input-file | filecheck %s

// Captured values, and symbols that the parameters do not determine, become parameters.
// CHECK-LABEL: relax.func @main
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[m], f32>) -> !relax.shape<[m, n]> {
  %f = relax.local_func @inner(%a: !relax.tensor<[m], f32>) -> !relax.shape<[m, n]> {
    %b = relax.add %a, %y : !relax.tensor<[m], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[m], f32>
    %s = relax.shape : !relax.shape<[m, n]>
    relax.return %s : !relax.shape<[m, n]>
  }
  // CHECK-NEXT: %n = relax.prim_value : !relax.prim<i64, n>
  // CHECK-NEXT: %z = relax.call @main_inner(%y, %y, %n)
  %z = relax.invoke %f(%y) : !relax.func<(!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>>, (!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>
  relax.return %z : !relax.shape<[m, n]>
}
// CHECK: relax.func private @main_inner(%a: !relax.tensor<[m], f32>, %y: !relax.tensor<[m], f32>, %n: !relax.prim<i64, n>) -> !relax.shape<[m, n]> {
// CHECK-NEXT: relax.add %a, %y

// -----

// A function inside of a local function is lifted first.
// CHECK-LABEL: relax.func @nested
relax.func @nested(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @outer(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    %g = relax.local_func @inner(%b: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
      %c = relax.add %b, %a : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
      relax.return %c : !relax.tensor<[n], f32>
    }
    %d = relax.invoke %g(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.return %d : !relax.tensor<[n], f32>
  }
  // CHECK-NEXT: relax.call @nested_outer(%x, %x)
  %y = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}
// CHECK: relax.func private @nested_outer(%a: !relax.tensor<[n], f32>, %x: !relax.tensor<[n], f32>)
// CHECK-NEXT: relax.call @nested_inner(%x, %a)
// CHECK: relax.func private @nested_inner(%b: !relax.tensor<[n], f32>, %a: !relax.tensor<[n], f32>)

// -----

// A call that returns a function is replaced by its body, and so is one that takes a function.
// CHECK-LABEL: relax.func @closures
// CHECK-NEXT:    %z = relax.call @closures_inner(%x, %y)
// CHECK-NEXT:    relax.return %z
// CHECK:       relax.func private @closures_inner(%a: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>)
// CHECK-NOT:   @less
relax.func @closures(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.call @less(%y) : (!relax.tensor<[n], f32>) -> !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>
  %g = relax.local_func @apply(%h: !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>) -> !relax.tensor<[n], f32> {
    %b = relax.invoke %h(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.return %b : !relax.tensor<[n], f32>
  }
  %z = relax.invoke %g(%f) : !relax.func<(!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>) -> !relax.tensor<[n], f32>>, (!relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>) -> !relax.tensor<[n], f32>
  relax.return %z : !relax.tensor<[n], f32>
}
relax.func @less(%y: !relax.tensor<[n], f32>) -> !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>> {
  %f = relax.local_func @inner(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    %b = relax.subtract %a, %y : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.return %b : !relax.tensor<[n], f32>
  }
  relax.return %f : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>
}

// -----

// A function that calls itself passes on what it captures.
// CHECK-LABEL: relax.func @loop
relax.func @loop(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[m], f32>) -> !relax.shape<[m, n]> {
  %f = relax.local_func @inner(%a: !relax.tensor<[m], f32>) -> !relax.shape<[m, n]> {
    %own = relax.own_func : !relax.func<(!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>>
    %b = relax.add %a, %y : !relax.tensor<[m], f32>, !relax.tensor<[m], f32> -> !relax.tensor<[m], f32>
    %s = relax.invoke %own(%b) : !relax.func<(!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>>, (!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>
    relax.return %s : !relax.shape<[m, n]>
  }
  // CHECK-NEXT: %n = relax.prim_value
  // CHECK-NEXT: relax.call @loop_inner(%y, %y, %n)
  %z = relax.invoke %f(%y) : !relax.func<(!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>>, (!relax.tensor<[m], f32>) -> !relax.shape<[m, n]>
  relax.return %z : !relax.shape<[m, n]>
}
// CHECK: relax.func private @loop_inner(%a: !relax.tensor<[m], f32>, %y: !relax.tensor<[m], f32>, %n: !relax.prim<i64, n>) -> !relax.shape<[m, n]> {
// CHECK-NEXT: %b = relax.add %a, %y
// CHECK-NEXT: relax.call @loop_inner(%b, %y, %n)

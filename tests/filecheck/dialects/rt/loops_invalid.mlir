// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected a number of trips or a condition, got none
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.for i { }
}

// -----

// CHECK: expected trips over symbols, got arg(0)
rt.func @main(%x: !tir.buffer<[n], f32>) {
  "rt.for"() <{var = "i", trips = #sym.expr<arg(0)>, operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0:
  }) : () -> ()
}

// -----

// CHECK: expected a condition of one bool, got !tir.buffer<[1], i1>
rt.func @main(%c: !tir.buffer<[1], i1>) {
  rt.for i while %c : !tir.buffer<[1], i1> { }
}

// -----

// CHECK: expected as many spare buffers as carried ones, of their types
rt.func @main(%x: !tir.buffer<[n], f32>) {
  "rt.for"(%x) <{var = "i", trips = #sym.expr<n>, operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0:
  }) : (!tir.buffer<[n], f32>) -> ()
}

// -----

// CHECK: expected two arguments of the region for each carried buffer
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) {
  "rt.for"(%x, %y) <{var = "i", trips = #sym.expr<n>, operandSegmentSizes = array<i32: 0, 1, 1>}> ({
  ^bb0(%a: !tir.buffer<[n], f32>):
  }) : (!tir.buffer<[n], f32>, !tir.buffer<[n], f32>) -> ()
}

// -----

// CHECK: expected carried buffers to be dense
rt.func @main(%x: !tir.buffer<[4], f32, strides = [2]>, %y: !tir.buffer<[4], f32, strides = [2]>) {
  rt.for i to 3 carried (%a, %b) = (%x, %y) : !tir.buffer<[4], f32, strides = [2]> { }
}

// -----

// CHECK: expected 'rt.check' outside of 'rt.for'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.for i to n {
    rt.check %x "x" : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: expected calls, loops, copies and allocations in a dataflow region, got 'rt.if'
rt.func @main(%c: !tir.buffer<[], i1>) {
  rt.dataflow {
    rt.if %c : !tir.buffer<[], i1> { } else { }
  }
}

// -----

// CHECK: expected a new symbol of a loop, got 'n'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.for n to 3 { }
}

// -----

// CHECK: expected a new symbol of a loop, got 'i'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.for i to n {
    rt.for i to n { }
  }
}

// -----

// The bound does not know the symbol, and neither does what follows the loop.

// CHECK: symbol 'i' in 'rt.for' is not determined by the parameters of 'main'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.for i to i { }
}

// -----

// CHECK: symbol 'i' in 'rt.slice' is not determined by the parameters of 'main'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.for i to n { }
  %e = rt.slice %x[i] : !tir.buffer<[n], f32> to !tir.buffer<[], f32>
}

// -----

// CHECK: expected a slice of a dense tensor with axes, got !tir.buffer<[], f32>
rt.func @main(%x: !tir.buffer<[], f32>) {
  "rt.slice"(%x) <{index = #sym.expr<0>}> : (!tir.buffer<[], f32>) -> !tir.buffer<[], f32>
}

// -----

// CHECK: expected a slice of a dense tensor with axes, got !tir.buffer<[4], f32, strides = [2]>
rt.func @main(%x: !tir.buffer<[4], f32, strides = [2]>) {
  %e = rt.slice %x[0] : !tir.buffer<[4], f32, strides = [2]> to !tir.buffer<[], f32>
}

// -----

// CHECK: expected an index over symbols, got arg(0)
rt.func @main(%x: !tir.buffer<[4], f32>) {
  "rt.slice"(%x) <{index = #sym.expr<arg(0)>}> : (!tir.buffer<[4], f32>) -> !tir.buffer<[], f32>
}

// -----

// CHECK: expected an element along the first axis, got !tir.buffer<[3], f32>
rt.func @main(%x: !tir.buffer<[4, 2], f32>) {
  "rt.slice"(%x) <{index = #sym.expr<0>}> : (!tir.buffer<[4, 2], f32>) -> !tir.buffer<[3], f32>
}

// -----

// CHECK: expected !tir.buffer<[2], f32>, got !tir.buffer<[3], f32>
rt.func @main(%x: !tir.buffer<[4, 2], f32>) {
  %e = rt.slice %x[0] : !tir.buffer<[4, 2], f32> to !tir.buffer<[3], f32>
}

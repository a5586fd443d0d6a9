// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'loops.func': expected distinct symbols, got n, n
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n, n] {

}

// -----

// CHECK: 'loops.func': expected parameter 1 to be a buffer or a scalar, got vector<4xf32>
loops.func @main(%X: !tir.buffer<[n], f32>, %v: vector<4xf32>) symbols [n] {

}

// -----

// CHECK: symbol 'n' in 'loops.func' is not among those of 'main': none
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) {

}

// -----

// CHECK: 'loops.func': symbol 'k' in 'loops.for' is not among those of 'main': n
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  loops.for %i in (0, k) {
  }
}

// -----

// CHECK: 'loops.for': expected a loop variable of type index
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  "loops.for"() <{"lower" = #sym.expr<0>, "extent" = #sym.expr<n>, "kind" = "serial", "operandSegmentSizes" = array<i32: 0, 0>}> ({
  ^bb0(%i: i32):
    loops.yield
  }) : () -> ()
}

// -----

// CHECK: 'loops.for': expected a loop kind (serial, parallel, vectorized, unrolled), got 'fast'
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  "loops.for"() <{"lower" = #sym.expr<0>, "extent" = #sym.expr<n>, "kind" = "fast", "operandSegmentSizes" = array<i32: 0, 0>}> ({
  ^bb0(%i: index):
    loops.yield
  }) : () -> ()
}

// -----

// CHECK: 'loops.for': expected a loop to end with 'loops.yield'
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  "loops.for"() <{"lower" = #sym.expr<0>, "extent" = #sym.expr<n>, "kind" = "serial", "operandSegmentSizes" = array<i32: 0, 0>}> ({
  ^bb0(%i: index):
    %m = tir.apply n
  }) : () -> ()
}

// -----

// CHECK: 'loops.for': expected carried values to keep their types through the loop
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %s = loops.for %i in (0, n) carry (%a = %z : f32) {
    loops.yield %i : index
  }
}

// -----

// CHECK: 'loops.for': expected a parallel loop to carry no values
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %s = loops.for %i in (0, n) parallel carry (%a = %z : f32) {
    loops.yield %a : f32
  }
}

// -----

// CHECK: 'loops.for': expected a loop extent of at least 0, got -1
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  loops.for %i in (0, -1) {
  }
}

// -----

// CHECK: expected at most 0 index operands in 'loops.for', got arg(0)
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  "loops.for"() <{"lower" = #sym.expr<arg(0)>, "extent" = #sym.expr<n>, "kind" = "serial", "operandSegmentSizes" = array<i32: 0, 0>}> ({
  ^bb0(%i: index):
    loops.yield
  }) : () -> ()
}

// -----

// CHECK: 'loops.if': expected at least one bound
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  loops.if () {
  }
}

// -----

// CHECK: 'loops.load': expected 1 indices for !tir.buffer<[n], f32>, got 2
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %v = loops.load %X[0, 0] : !tir.buffer<[n], f32> -> f32
}

// -----

// CHECK: 'loops.load': expected elements of type f32 for !tir.buffer<[n], f32>, got i32
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %v = loops.load %X[0] : !tir.buffer<[n], f32> -> i32
}

// -----

// CHECK: 'loops.load': expected a vector of one dim, got vector<4x4xf32>
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %v = loops.load %X[0] : !tir.buffer<[n], f32> -> vector<4x4xf32>
}

// -----

// CHECK: 'loops.load': expected a vector along the last dim of !tir.buffer<[], f32>, which has none
loops.func @main(%Y: !tir.buffer<[], f32>) symbols [n] {
  %v = loops.load %Y[] : !tir.buffer<[], f32> -> vector<4xf32>
}

// -----

// CHECK: 'loops.load': expected the last dim of !tir.buffer<[n], f32, strides = [2]> to be contiguous for a vector
loops.func @main(%Y: !tir.buffer<[n], f32, strides = [2]>) symbols [n] {
  %v = loops.load %Y[0] : !tir.buffer<[n], f32, strides = [2]> -> vector<4xf32>
}

// -----

// CHECK: 'loops.load': expected a mask on vector accesses only
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %m = loops.mask n : vector<1xi1>
  %v = loops.load %X[0] mask %m : !tir.buffer<[n], f32> -> f32
}

// -----

// CHECK: 'loops.load': expected a mask of 4 lanes, got vector<8xi1>
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %m = loops.mask n : vector<8xi1>
  %v = "loops.load"(%X, %m) <{"indices" = [#sym.expr<0>], "operandSegmentSizes" = array<i32: 1, 0, 1>}> : (!tir.buffer<[n], f32>, vector<8xi1>) -> vector<4xf32>
}

// -----

// CHECK: 'loops.store': expected 1 indices for !tir.buffer<[n], f32>, got 0
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  loops.store %z, %X[] : !tir.buffer<[n], f32>, f32
}

// -----

// CHECK: 'loops.store': expected elements of type i8 for !tir.buffer<[n], ui8>, got f32
loops.func @main(%Y: !tir.buffer<[n], ui8>, %z: f32) symbols [n] {
  loops.store %z, %Y[0] : !tir.buffer<[n], ui8>, f32
}

// -----

// CHECK: 'loops.mask': expected a vector of i1, got vector<4xf32>
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %m = "loops.mask"() <{"active" = #sym.expr<n>}> : () -> vector<4xf32>
}

// -----

// CHECK: 'loops.mask': expected a vector of one dim, got vector<4x4xi1>
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %m = "loops.mask"() <{"active" = #sym.expr<n>}> : () -> vector<4x4xi1>
}

// -----

// CHECK: 'loops.alloca': expected a buffer of constant size on the stack, got !tir.buffer<[n], f32>
loops.func @main(%X: !tir.buffer<[n], f32>, %z: f32) symbols [n] {
  %t = loops.alloca : !tir.buffer<[n], f32>
}

// -----

// CHECK: 'loops.alloca': expected a new buffer without strides and offset, got !tir.buffer<[4], f32, offset = 2>
loops.func @main(%X: !tir.buffer<[4], f32>) {
  %t = loops.alloca : !tir.buffer<[4], f32, offset = 2>
}

// -----

// CHECK: 'loops.func': expected external kernel 'main' to have no body, got 'arith.constant'
loops.func @main(%X: !tir.buffer<[4], f32>) external "xrelax.main.1f2e" {
  %0 = arith.constant 1.0 : f32
}

// -----

// CHECK: 'loops.view': expected a view of element type f32, got f64
loops.func @main(%X: !tir.buffer<[4], f32>) {
  loops.for %i in (0, 4) {
    %v = loops.view %X at %i : !tir.buffer<[4], f32> to !tir.buffer<[4], f64>
  }
}

// -----

// CHECK: 'loops.prefetch': expected 2 indices for !tir.buffer<[4, 8], f32>, got 1
loops.func @main(%X: !tir.buffer<[4, 8], f32>) {
  loops.prefetch %X[0] : !tir.buffer<[4, 8], f32>
}

// -----

// CHECK: 'loops.for': expected blocks of sums of at least 1 iteration, got 0
loops.func @main(%X: !tir.buffer<[4], f32>) {
  loops.for %i in (0, 4) block 0 {
  }
}

// -----

// CHECK: 'loops.func': expected a reuse distance of at least 0, got -1
"loops.func"() <{sym_name = "main", symbols = [], reuse_distance = -1 : i64}> ({
^bb0(%X: !tir.buffer<[4], f32>):
}) : () -> ()

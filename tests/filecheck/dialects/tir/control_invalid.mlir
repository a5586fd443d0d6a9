// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'tir.break': expected a serial loop around the jump
tir.prim_func @nowhere() {
  tir.break
}

// -----

// CHECK: 'tir.continue': expected a serial loop around the jump
tir.prim_func @parallel() {
  tir.for %i in (0, 8) parallel {
    tir.continue
  }
}

// -----

// CHECK: 'tir.return': expected results of one type, got i32 and f32
tir.prim_func @results(%x: i32, %y: f32) {
  tir.return %x : i32
  tir.return %y : f32
}

// -----

// CHECK: 'tir.call': expected a kernel called 'square'
tir.prim_func @unknown(%x: f32) {
  %0 = tir.call @square(%x) : (f32) -> f32
}

// -----

// CHECK: 'tir.call': expected 2 arguments of 'square', got 1
tir.prim_func @square(%x: f32, %p: !tir.handle<f32>) {
}
tir.prim_func @count(%x: f32) {
  tir.call @square(%x) : (f32) -> ()
}

// -----

// CHECK: 'tir.call': expected argument 'p' of 'square' to be !tir.handle<f32>, got !tir.buffer<[], i8>
tir.prim_func @square(%p: !tir.handle<f32>) {
}
tir.prim_func @memory(%X: !tir.buffer<[], i8>) {
  tir.call @square(%X) : (!tir.buffer<[], i8>) -> ()
}

// -----

// CHECK: 'tir.call': expected 'square' to return f32, got None
tir.prim_func @square() {
}
tir.prim_func @result() {
  %0 = tir.call @square() : () -> f32
}

// -----

// CHECK: 'tir.attr': expected 2 operands, got 1
tir.prim_func @attr(%x: f32) {
  tir.attr "pragma"(%x) : f32 {
    %s = tir.string "inside"
  }
}

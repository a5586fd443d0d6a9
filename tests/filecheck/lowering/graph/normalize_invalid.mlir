// RUN: xrelax-opt %s -p normalize --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected call_tir of a PrimFunc of the module (gelu, tanh), got 'relu'
tir.prim_func @gelu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
tir.prim_func @tanh(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a call of a graph function of the module (main), got 'relu'
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'linear0' expects 4 arguments (x, w, b, z), got 2 inputs and 1 output
tir.prim_func @linear0(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>, %B: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1, n], f32>) params ("x", "w", "b", "z") {
}
relax.func @main(%x: !relax.tensor<[1, 784], f32>, %w: !relax.tensor<[128, 784], f32>) -> !relax.tensor<[1, 128], f32> {
  %0 = relax.call_dps_packed "linear0"(%x, %w) : (!relax.tensor<[1, 784], f32>, !relax.tensor<[128, 784], f32>) -> !relax.tensor<[1, 128], f32>
  relax.return %0 : !relax.tensor<[1, 128], f32>
}

// -----

// CHECK: 'f' expects 2 arguments (x, y), got 1
relax.func @f(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call @f(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: call of 'f': expected symbol 'n' to be 8 as in argument 'x', got 4 in the result
relax.func @f(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func @main(%x: !relax.tensor<[8], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call @f(%x) : (!relax.tensor<[8], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'relu': expected argument 'X' to have dtype float32, got float64
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f64>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @relu(%x) : (!relax.tensor<[4], f64>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'relu': expected argument 'Y' to have rank 1, got 2 (shape (1, n))
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[1, n], f32> {
  %0 = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[1, n], f32>
  relax.return %0 : !relax.tensor<[1, n], f32>
}

// -----

// The snippet of the course about effects outside of dataflow blocks has shapes that do not fit.

// CHECK: call of 'linear1': expected argument 'W' to have shape (10, 128), got (1, 128)
tir.prim_func @linear1(%X: !tir.buffer<[1, 128], f32>, %W: !tir.buffer<[10, 128], f32>, %B: !tir.buffer<[10], f32>, %Z: !tir.buffer<[1, 10], f32>) {
}
relax.func @main(%gv0: !relax.tensor<[1, 128], f32>, %b0: !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32> {
  %gv1 = relax.alloc_tensor : !relax.tensor<[1, 128], f32>
  %out = relax.call_tir @linear1(%gv0, %gv1, %b0) : (!relax.tensor<[1, 128], f32>, !relax.tensor<[1, 128], f32>, !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32>
  relax.return %out : !relax.tensor<[1, 128], f32>
}

// -----

// CHECK: call of 'linear0': expected symbol 'm' to be 784 as in argument 'x', got 128 in argument 'w'
tir.prim_func @linear0(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>, %B: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1, n], f32>) params ("x", "w", "b", "z") {
}
relax.func @main(%x: !relax.tensor<[1, 784], f32>, %w: !relax.tensor<[784, 128], f32>, %b: !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32> {
  %0 = relax.call_tir @linear0(%x, %w, %b) : (!relax.tensor<[1, 784], f32>, !relax.tensor<[784, 128], f32>, !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32>
  relax.return %0 : !relax.tensor<[1, 128], f32>
}

// -----

// Symbolic dims that can never be equal are as wrong as numbers.

// CHECK: call of 'add': expected symbol 'n' to be k as in argument 'A', got k + 1 in argument 'B'
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>, %C: !tir.buffer<[n], f32>) {
}
relax.func @main(%a: !relax.tensor<[k], f32>, %b: !relax.tensor<[k + 1], f32>) -> !relax.tensor<[k], f32> {
  %0 = relax.call_tir @add(%a, %b) : (!relax.tensor<[k], f32>, !relax.tensor<[k + 1], f32>) -> !relax.tensor<[k], f32>
  relax.return %0 : !relax.tensor<[k], f32>
}

// -----

// CHECK: call of 'twice': expected argument 'Y' to have shape (8,), got (9,)
tir.prim_func @twice(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n * 2], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[9], f32> {
  %0 = relax.call_tir @twice(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[9], f32>
  relax.return %0 : !relax.tensor<[9], f32>
}

// -----

// CHECK: 'window' expects 1 index value (i), got 0
tir.prim_func @window(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n - i], f32>, %i: index) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[2], f32> {
  %0 = relax.call_tir @window(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[2], f32>
  relax.return %0 : !relax.tensor<[2], f32>
}

// -----

// CHECK: call of 'window': expected argument 'Y' to have shape (1,), got (2,)
tir.prim_func @window(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n - i], f32>, %i: index) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[2], f32> {
  %0 = relax.call_tir @window(%x) vars [#sym.expr<3>] : (!relax.tensor<[4], f32>) -> !relax.tensor<[2], f32>
  relax.return %0 : !relax.tensor<[2], f32>
}

// -----

// CHECK: 'scale' expects 3 arguments (X, Y, alpha), got 1 input and 1 output
tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %alpha: f32) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @scale(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'scale': expected argument 'alpha' to be !relax.prim<f32>, got !relax.tensor<[], f32>
tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %alpha: f32, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>, %a: !relax.tensor<[], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @scale(%x, %a) : (!relax.tensor<[4], f32>, !relax.tensor<[], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'scale': expected argument 'times' to be !relax.prim<f32>, got !relax.prim<f64>
tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %times: f32, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>, %a: !relax.prim<f64>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @scale(%x, %a) : (!relax.tensor<[4], f32>, !relax.prim<f64>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'scale': expected parameters to be buffers or numbers, got 'X' of type !tir.handle
tir.prim_func @scale(%X: !tir.handle, %Y: !tir.buffer<[4], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @scale(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'column': expected argument 'X' to have strides (2,) and offset 0, got (1,) and 0
tir.prim_func @column(%X: !tir.buffer<[n], f32, strides = [2]>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @column(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'clear': expected its inputs to be read only, it writes 'X'
tir.prim_func @clear(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %X[%i] : !tir.buffer<[n], f32>
  }
}
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @clear(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'relu': expected argument 'X' to be a tensor, got !relax.object
tir.prim_func @relu(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
}
relax.func @main(%x: !relax.object) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @relu(%x) : (!relax.object) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: call of 'f': expected argument 't' to have type tuple<!relax.tensor<[n], f32>>, got !relax.tensor<[n], f32>
relax.func @f(%t: tuple<!relax.tensor<[n], f32>>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call @f(%x, %x) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.invoke': call of 'f': expected argument 0 to have rank 1, got 2 (shape (n, n))
relax.func @argument_of_a_function_value(%x: !relax.tensor<[n, n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @same(%a: !relax.tensor<[m], f32>) -> !relax.tensor<[m], f32> {
    relax.return %a : !relax.tensor<[m], f32>
  }
  %y = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[m], f32>) -> !relax.tensor<[m], f32>>, (!relax.tensor<[n, n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.invoke': call of 'f': expected the result to have dtype float32, got int32
relax.func @result_of_a_function_value(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], i32> {
  %f = relax.local_func @same(%a: !relax.tensor<[m], f32>) -> !relax.tensor<[m], f32> {
    relax.return %a : !relax.tensor<[m], f32>
  }
  %y = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[m], f32>) -> !relax.tensor<[m], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], i32>
  relax.return %y : !relax.tensor<[n], i32>
}

// -----

// A call passes new memory for the output: nothing has written what the first iteration adds to.

// CHECK: 'tir.load': expected block 'Y' to read initialized elements, got [20159] of 'Y' (n = 20160, m = 40320), which nothing has written: add T.init() to the block, or store a first value before it
tir.prim_func @sum(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, m], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}
relax.func @main(%x: !relax.tensor<[n, m], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @sum(%x) : (!relax.tensor<[n, m], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// Scratch memory of which a view is written in half, and which data indexes before anything is.

// CHECK: 'tir.load': expected block 'b' to read initialized elements, got [8] of 'S', which nothing has written: store a value before it
tir.prim_func @half(%Y: !tir.buffer<[16], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[16], f32>
  tir.block "a" () writes (%S[0 : 8]) {
    %V = tir.match_buffer %S[0] : !tir.buffer<[16], f32> to !tir.buffer<[8], f32>
    tir.for %i in (0, 8) {
      %one = arith.constant 1.0 : f32
      tir.store %one, %V[%i] : !tir.buffer<[8], f32>
    }
  }
  tir.block "b" () reads (%S[8]) writes (%Y[0]) {
    %s = tir.load %S[8] : !tir.buffer<[16], f32>
    tir.store %s, %Y[0] : !tir.buffer<[16], f32>
  }
}

// -----

// CHECK: 'tir.load': expected block 'b' to read initialized elements, got [?] of 'S', which nothing has written: store a value before it
tir.prim_func @data(%I: !tir.buffer<[1], i64>, %Y: !tir.buffer<[16], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[16], f32>
  tir.block "b" () reads (%I[0], %S[0 : 16]) writes (%Y[0]) {
    %p = tir.load %I[0] : !tir.buffer<[1], i64>
    %q = arith.index_cast %p : i64 to index
    %s = tir.load %S[%q] : !tir.buffer<[16], f32>
    tir.store %s, %Y[0] : !tir.buffer<[16], f32>
  }
}

// -----

// CHECK: 'tir.load': expected iterations of parallel loop 'k' to read only their own elements of 'Y', got one that reads what another one writes
tir.prim_func @sums(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, m) parallel {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, m], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Scratch memory is an iteration's own: what another one has left there is not read.

// CHECK: 'tir.load': expected block 'Y' to read initialized elements, got [0] of 'T' (n = 20160), which nothing has written: store a value before it
tir.prim_func @running(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[1], f32>
  tir.for %i in (0, n) parallel {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%T[0]) writes (%Y[%vi]) {
      %t = tir.load %T[0] : !tir.buffer<[1], f32>
      tir.store %t, %Y[%vi] : !tir.buffer<[n], f32>
    }
    tir.block "T" (%vi: spatial (0, n) = %i) reads (%X[%vi]) writes (%T[0]) {
      %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
      tir.store %x, %T[0] : !tir.buffer<[1], f32>
    }
  }
}

// -----

// CHECK: expected known dims in the match_cast of 'o', an object, got n
relax.func @main() -> !relax.shape<rank 1> {
  %o = relax.call_pure_packed "test.f"() : () -> !relax.object
  %x = relax.match_cast %o : !relax.object -> !relax.shape<[n]>
  relax.return %x : !relax.shape<[n]>
}

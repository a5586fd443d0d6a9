// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'tir.prim_func': expected 1 parameter names, got 2
tir.prim_func @main(%X: !tir.buffer<[n], f32>) params ("x", "y") {
}

// -----

// CHECK: 'tir.prim_func': expected distinct parameter names, got x, x
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) params ("x", "x") {
}

// -----

// CHECK: 'tir.prim_func': expected parameter 'X' to be a buffer or a scalar, got ui8
tir.prim_func @main(%X: ui8) {
}

// -----

// CHECK: 'tir.prim_func': expected 'layout_free_buffers' of 'main' to be a list of positions of buffers (0), got [1]
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %i: index) attributes {layout_free_buffers = [1 : i64]} {
}

// -----

// CHECK: 'tir.prim_func': expected 'layout_free_buffers' of 'main' to be a list of positions of buffers (0), got yes
tir.prim_func @main(%X: !tir.buffer<[n], f32>) attributes {layout_free_buffers = "yes"} {
}

// -----

// CHECK: symbol 'm' in 'tir.prim_func' is not determined by the parameters of 'main'
tir.prim_func @main(%X: !tir.buffer<[m + 1], f32>) {
}

// -----

// CHECK: symbol 'm' in 'tir.for' is not determined by the parameters of 'main'
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, m) {
  }
}

// -----

// CHECK: symbol 'm' in 'tir.block' is not determined by the parameters of 'main'
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" (%v: opaque (0, m) = 0) {
  }
}

// -----

// CHECK: expected an element type of a tensor, got i7
tir.prim_func @main(%X: !tir.buffer<[n], i7>) {
}

// -----

// CHECK: expected 1 strides for a buffer of rank 1, got 2
tir.prim_func @main(%X: !tir.buffer<[n], f32, strides = [1, 1]>) {
}

// -----

// CHECK: expected buffer dims over symbols, got arg(0)
tir.prim_func @main(%X: !tir.buffer<[arg(0)], f32>) {
}

// -----

// CHECK: expected buffer dims of at least 0, got -1
tir.prim_func @main(%X: !tir.buffer<[-1], f32>) {
}

// -----

// CHECK: 'tir.for': expected one loop variable of type index
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.for"() <{"min" = #sym.expr<0>, "extent" = #sym.expr<4>, "kind" = "serial"}> ({
  ^bb0(%i: i32):
  }) : () -> ()
}

// -----

// CHECK: 'tir.for': expected a loop kind (serial, parallel, vectorized, unrolled, thread_binding), got 'fast'
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.for"() <{"min" = #sym.expr<0>, "extent" = #sym.expr<4>, "kind" = "fast"}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

// CHECK: 'tir.for': expected a thread tag on thread-bound loops, and only there
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.for"() <{"min" = #sym.expr<0>, "extent" = #sym.expr<4>, "kind" = "thread_binding"}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

// CHECK: 'tir.for': expected a loop extent of at least 0, got -4
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, -4) {
  }
}

// -----

// CHECK: expected at most 0 index operands in 'tir.for', got arg(0)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.for"() <{"min" = #sym.expr<arg(0)>, "extent" = #sym.expr<4>, "kind" = "serial"}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

// CHECK: 'tir.load': expected 1 indices for !tir.buffer<[n], f32>, got 2
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = tir.load %X[0, 0] : !tir.buffer<[n], f32>
}

// -----

// CHECK: 'tir.load': expected a value of type f32 for !tir.buffer<[n], f32>, got i32
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = "tir.load"(%X) <{"indices" = [#sym.expr<0>]}> : (!tir.buffer<[n], f32>) -> i32
}

// -----

// CHECK: 'tir.store': expected a value of type i8 for !tir.buffer<[4], ui8>, got f32
tir.prim_func @main(%Z: !tir.buffer<[4], ui8>) {
  %c = arith.constant 1.0 : f32
  "tir.store"(%c, %Z) <{"indices" = [#sym.expr<0>]}> : (f32, !tir.buffer<[4], ui8>) -> ()
}

// -----

// CHECK: expected at most 0 index operands in 'tir.load', got arg(0)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = "tir.load"(%X) <{"indices" = [#sym.expr<arg(0)>]}> : (!tir.buffer<[n], f32>) -> f32
}

// -----

// CHECK: expected at most 0 index operands in 'tir.apply', got arg(1)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = "tir.apply"() <{"expr" = #sym.expr<arg(1)>}> : () -> index
}

// -----

// CHECK: 'tir.match_buffer': expected 1 starts for !tir.buffer<[n], f32>, got 2
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = tir.match_buffer %X[0, 0] : !tir.buffer<[n], f32> to !tir.buffer<[n], f32>
}

// -----

// CHECK: 'tir.match_buffer': expected a view of rank at most 1, got 2
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = tir.match_buffer %X[0] : !tir.buffer<[n], f32> to !tir.buffer<[1, n], f32>
}

// -----

// CHECK: 'tir.match_buffer': expected a view of element type f32, got i32
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = tir.match_buffer %X[0] : !tir.buffer<[n], f32> to !tir.buffer<[n], i32>
}

// -----

// CHECK: 'tir.match_buffer': indices of dim 0 of 'Y' take values in [13, 17), outside [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = tir.match_buffer %Y[13] : !tir.buffer<[16], f32> to !tir.buffer<[4], f32>
}

// -----

// CHECK: expected 'tir.init' to be the first operation of a block
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.init {
  }
}

// -----

// CHECK: expected 'tir.init' to be the first operation of a block
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" () {
    %c = tir.apply 1
    tir.init {
    }
  }
}

// -----

// CHECK: 'tir.load': indices of dim 0 of 'Y' take values in [1, 17), outside [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    %v = tir.load %Y[%i + 1] : !tir.buffer<[16], f32>
  }
}

// -----

// CHECK: 'tir.store': indices of dim 0 of 'X' take values in [-1, n - 1), outside [0, n)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, n) {
    %c = arith.constant 1.0 : f32
    tir.store %c, %X[%i - 1] : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: 'tir.load': indices of dim 0 of 'X' take values in [0, n * 2), outside [0, n)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, n * 2) {
    %v = tir.load %X[%i] : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: 'tir.load': indices of dim 0 of 'Y' take values in [16, 17), outside [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  %v = tir.load %Y[16] : !tir.buffer<[16], f32>
}

// -----

// CHECK: 'tir.load': indices of dim 0 of 'Y' take values in [0, 32), outside [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 32) {
    %k = tir.apply %i
    %v = tir.load %Y[%k] : !tir.buffer<[16], f32>
  }
}

// -----

// CHECK: 'tir.load': indices of dim 0 of 'Y' take values in [0, 19), outside [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 10) {
    tir.for %j in (0, %i + 1) {
      %v = tir.load %Y[%i + %j] : !tir.buffer<[16], f32>
    }
  }
}

// -----

// CHECK: 'tir.load': indices of dim 0 of 'Y' take values in [1, 17), outside [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    tir.block "b" (%v: spatial (0, 16) = %i) where (%i < 16) reads (%Y[%v + 1]) {
      %c = tir.load %Y[%v + 1] : !tir.buffer<[16], f32>
    }
  }
}

// -----

// CHECK: 'tir.block': expected as many axes as bindings and block arguments, got 1 axes, 0 bindings and 0 arguments
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.block"() <{"operandSegmentSizes" = array<i32: 0, 0, 0>, "block_name" = "b", "predicates" = [], "writes" = [], "axes" = [#tir.axis<"spatial", #sym.expr<0>, #sym.expr<4>>], "bindings" = [], "reads" = []}> ({
  ^bb0:
  }) : () -> ()
}

// -----

// CHECK: 'tir.block': expected block axes of type index
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.block"() <{"operandSegmentSizes" = array<i32: 0, 0, 0>, "block_name" = "b", "predicates" = [], "writes" = [], "axes" = [#tir.axis<"spatial", #sym.expr<0>, #sym.expr<1>>], "bindings" = [#sym.expr<0>], "reads" = []}> ({
  ^bb0(%v: i32):
  }) : () -> ()
}

// -----

// CHECK: 'tir.block': expected one region for each read buffer, got 1 for 0
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.block"() <{"operandSegmentSizes" = array<i32: 0, 0, 0>, "block_name" = "b", "predicates" = [], "writes" = [], "axes" = [], "bindings" = [], "reads" = [#tir.region<[#sym.expr<0>], [#sym.expr<1>]>]}> ({
  ^bb0:
  }) : () -> ()
}

// -----

// CHECK: 'tir.block': expected axis ranges, bindings and predicates not to use the block's own axes
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.block"() <{"operandSegmentSizes" = array<i32: 0, 0, 0>, "block_name" = "b", "predicates" = [], "writes" = [], "axes" = [#tir.axis<"spatial", #sym.expr<0>, #sym.expr<1>>], "bindings" = [#sym.expr<arg(0)>], "reads" = []}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

// CHECK: expected at most 1 index operands in 'tir.block', got arg(3)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.block"() <{"operandSegmentSizes" = array<i32: 0, 0, 0>, "block_name" = "b", "predicates" = [], "writes" = [], "axes" = [#tir.axis<"spatial", #sym.expr<0>, #sym.expr<1>>], "bindings" = [#sym.expr<arg(3)>], "reads" = []}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

// CHECK: expected an axis kind (spatial, reduce, opaque, scan), got 'time
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  "tir.block"() <{"operandSegmentSizes" = array<i32: 0, 0, 0>, "block_name" = "b", "predicates" = [], "writes" = [], "axes" = [#tir.axis<"time", #sym.expr<0>, #sym.expr<1>>], "bindings" = [#sym.expr<0>], "reads" = []}> ({
  ^bb0(%v: index):
  }) : () -> ()
}

// -----

// CHECK: 'tir.block': expected a region of rank 1 for !tir.buffer<[n], f32>, got 2 first indices and 2 extents
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" () reads (%X[0, 0]) {
  }
}

// -----

// CHECK: 'tir.block': expected axis 'v' to have an extent of at least 0, got -2
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    tir.block "b" (%v: spatial (0, -2) = %i) {
    }
  }
}

// -----

// CHECK: 'tir.block': binding of axis 'v' takes values in [0, 16), outside its range [0, 8)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    tir.block "b" (%v: spatial (0, 8) = %i) {
    }
  }
}

// -----

// CHECK: 'tir.block': binding of axis 'v' takes values in [-1, 15), outside its range [0, 15)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    tir.block "b" (%v: spatial (0, 15) = %i - 1) {
    }
  }
}

// -----

// CHECK: 'tir.block': binding of axis 'v' takes values in [0, n + 1), outside its range [0, n)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, n + 1) {
    tir.block "b" (%v: spatial (0, n) = %i) {
    }
  }
}

// -----

// CHECK: 'tir.block': binding of axis 'v' takes values in [0, 20), outside its range [0, 16)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 5) {
    tir.for %j in (0, 4) {
      tir.block "b" (%v: spatial (0, 16) = %i * 4 + %j) where (%i * 4 + %j < 18) {
      }
    }
  }
}

// -----

// CHECK: 'tir.block': block 'Y' accumulates in 'Y' along spatial axis 'vk': expected a reduction axis, as of T.axis.reduce, where iterations share an element
tir.prim_func @main(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: spatial (0, m) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
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

// CHECK: 'tir.block': block 'Y' accumulates in 'Y' along spatial axis 'vi': expected a reduction axis
tir.prim_func @main(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[32], f32>) {
  tir.for %i in (0, 64) {
    tir.block "Y" (%vi: spatial (0, 64) = %i) reads (%X[%vi]) writes (%Y[%vi floordiv 2]) {
      %y = tir.load %Y[%vi floordiv 2] : !tir.buffer<[32], f32>
      %x = tir.load %X[%vi] : !tir.buffer<[64], f32>
      %s = arith.addf %y, %x : f32
      tir.store %s, %Y[%vi floordiv 2] : !tir.buffer<[32], f32>
    }
  }
}

// -----

// CHECK: 'tir.block': block 'outer' accumulates in 'Y' along spatial axis 'vk': expected a reduction axis
tir.prim_func @main(%X: !tir.buffer<[8, 16], f32>, %Y: !tir.buffer<[8], f32>) {
  tir.for %k in (0, 4) {
    tir.block "outer" (%vk: spatial (0, 4) = %k) reads (%X[0 : 8, %vk * 4 : 4]) writes (%Y[0 : 8]) {
      tir.for %i in (0, 8) {
        tir.for %j in (0, 4) {
          tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: reduce (0, 4) = %j) reads (%X[%vi, %vk * 4 + %vj]) writes (%Y[%vi]) {
            %y = tir.load %Y[%vi] : !tir.buffer<[8], f32>
            %x = tir.load %X[%vi, %vk * 4 + %vj] : !tir.buffer<[8, 16], f32>
            %s = arith.addf %y, %x : f32
            tir.store %s, %Y[%vi] : !tir.buffer<[8], f32>
          }
        }
      }
    }
  }
}

// -----

// CHECK: 'tir.block': block 'b' reads 'X' without declaring it
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" () writes (%X[0]) {
  }
  tir.block "b" () writes (%Y[0]) {
    %v = tir.load %X[0] : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: 'tir.block': block 'b' writes 'X' without declaring it
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" () reads (%X[0]) {
    %c = arith.constant 1.0 : f32
    tir.store %c, %X[0] : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: 'tir.block': block 'b' reads 'V' without declaring it
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" () writes (%Y[0]) {
    %V = tir.match_buffer %X[0] : !tir.buffer<[n], f32> to !tir.buffer<[n], f32>
    %v = tir.load %V[0] : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: 'tir.block': block 'outer' writes 'Y' without declaring it
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "outer" (%o: opaque (0, 1) = 0) reads (%X[0]) {
    tir.block "inner" () writes (%Y[0]) {
    }
  }
}

// -----

// CHECK: 'tir.block': block 'b' reads 'Y' in dim 0 at [v + 1, v + 2), outside the region that it declares, [v, v + 1)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 15) {
    tir.block "b" (%v: spatial (0, 15) = %i) reads (%Y[%v]) {
      %c = tir.load %Y[%v + 1] : !tir.buffer<[16], f32>
    }
  }
}

// -----

// CHECK: 'tir.block': block 'b' writes 'Y' in dim 0 at [0, 8), outside the region that it declares, [0, 4)
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.block "b" () writes (%Y[0 : 4]) {
    %c = arith.constant 1.0 : f32
    tir.for %j in (0, 8) {
      tir.store %c, %Y[%j] : !tir.buffer<[16], f32>
    }
  }
}

// -----

// CHECK: 'tir.block': reduction axis 'v' of block 'b' indexes its write to 'Y'
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    tir.block "b" (%v: reduce (0, 16) = %i) writes (%Y[%v]) {
    }
  }
}

// -----

// CHECK: 'tir.block': reduction axis 'v' of block 'b' indexes its write to 'Y'
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 16) {
    tir.block "b" (%v: reduce (0, 16) = %i) writes (%Y[0 : 16]) {
      %c = arith.constant 1.0 : f32
      tir.store %c, %Y[%v] : !tir.buffer<[16], f32>
    }
  }
}

// -----

// CHECK: 'tir.block': reduction axis 'v' of block 'b' indexes its write to 'Y'
tir.prim_func @main(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[16], f32>) {
  tir.for %i in (0, 4) {
    tir.block "b" (%v: reduce (0, 4) = %i) writes (%Y[0 : 16]) {
      %c = arith.constant 1.0 : f32
      tir.for %j in (%v * 4, 4) {
        %k = tir.apply %j
        tir.store %c, %Y[%k] : !tir.buffer<[16], f32>
      }
    }
  }
}

// -----

// CHECK: 'tir.prim_func': expected 'b' to be an integer parameter
tir.prim_func @f(%b: i1) unsigned ("b") {
}

// -----

// CHECK: 'tir.alloc_buffer': expected a new buffer without strides and offset, got !tir.buffer<[n], f32, strides = [2]>
tir.prim_func @gaps(%X: !tir.buffer<[n], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[n], f32, strides = [2]>
}

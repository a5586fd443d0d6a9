// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: symbol 'k' in 'rt.alloc' is not determined by the parameters of 'early'
rt.func @early(%c: !tir.buffer<[1], i64>) {
  %t = rt.alloc : !tir.buffer<[k], f32>
  rt.read_sizes %c [k at_most 8]
}

// -----

// CHECK: expected a new symbol of 'rt.read_sizes', got 'n'
rt.func @again(%x: !tir.buffer<[n], f32>, %c: !tir.buffer<[1], i64>) {
  rt.read_sizes %c [n at_most 8]
}

// -----

// CHECK: symbol 'k' in 'rt.alloc' is not determined by the parameters of 'branch'
rt.func @branch(%c: !tir.buffer<[1], i64>, %b: !tir.buffer<[], i1>) {
  rt.if %b : !tir.buffer<[], i1> {
    rt.read_sizes %c [k at_most 8]
  } else {
  }
  %t = rt.alloc : !tir.buffer<[k], f32>
}

// -----

// CHECK: expected sizes in !tir.buffer<[1], i64>, got !tir.buffer<[2], i64>
rt.func @count(%c: !tir.buffer<[2], i64>) {
  "rt.read_sizes"(%c) <{names = ["k"], at_most = [#sym.expr<8>]}> : (!tir.buffer<[2], i64>) -> ()
}

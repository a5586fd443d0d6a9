// RUN: xrelax-opt %s -p deduplicate-prim-funcs --split-input-file | filecheck %s

// Other names of values, parameters and symbols, and other linkage, are the same kernel. What
// remains is a public one, and the calls of all go there.

// CHECK-LABEL: builtin.module {
// CHECK-NOT:     @double_1
// CHECK:         tir.prim_func @double(%A: !tir.buffer<[m], f32>
// CHECK-NOT:     tir.prim_func
// CHECK:         relax.call_tir @double(%a)
// CHECK-NEXT:    relax.call_tir @double(%0)
tir.prim_func @double_1(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) params ("x", "y") attributes {"private"} {
  tir.for %i in (0, n) {
    tir.block "Y" (%v: spatial (0, n) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[n], f32>
      %y = arith.addf %x, %x : f32
      tir.store %y, %Y[%v] : !tir.buffer<[n], f32>
    }
  }
}
tir.prim_func @double(%A: !tir.buffer<[m], f32>, %B: !tir.buffer<[m], f32>) attributes {"global_symbol" = "double"} {
  tir.for %j in (0, m) {
    tir.block "Y" (%w: spatial (0, m) = %j) reads (%A[%w]) writes (%B[%w]) {
      %0 = tir.load %A[%w] : !tir.buffer<[m], f32>
      %1 = arith.addf %0, %0 : f32
      tir.store %1, %B[%w] : !tir.buffer<[m], f32>
    }
  }
}
relax.func @main(%a: !relax.tensor<[k], f32>) -> !relax.tensor<[k], f32> {
  %0 = relax.call_tir @double_1(%a) : (!relax.tensor<[k], f32>) -> !relax.tensor<[k], f32>
  %1 = relax.call_tir @double(%0) : (!relax.tensor<[k], f32>) -> !relax.tensor<[k], f32>
  relax.return %1 : !relax.tensor<[k], f32>
}

// -----

// Public kernels stay for those who call them by name; calls of the module share the first.

// CHECK-LABEL: builtin.module {
// CHECK:         tir.prim_func @first
// CHECK:         tir.prim_func @second
// CHECK:         rt.call_dps @first(%x) outs(%y)
tir.prim_func @first(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) {
}
tir.prim_func @second(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) {
}
rt.func @main(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  rt.call_dps @second(%x) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// A constant, an element type, an attribute or the order of parameters makes another kernel.

// CHECK-LABEL: builtin.module {
// CHECK:         tir.prim_func @one
// CHECK:         tir.prim_func @two
// CHECK:         tir.prim_func @noalias
// CHECK:         tir.prim_func @wide
// CHECK:         tir.prim_func @swapped
tir.prim_func @one(%X: !tir.buffer<[], f32>, %Y: !tir.buffer<[], f32>) attributes {"private"} {
  %0 = arith.constant 1.0 : f32
  tir.store %0, %Y[] : !tir.buffer<[], f32>
}
tir.prim_func @two(%X: !tir.buffer<[], f32>, %Y: !tir.buffer<[], f32>) attributes {"private"} {
  %0 = arith.constant 2.0 : f32
  tir.store %0, %Y[] : !tir.buffer<[], f32>
}
tir.prim_func @noalias(%X: !tir.buffer<[], f32>, %Y: !tir.buffer<[], f32>) attributes {"private", "tir.noalias" = true} {
  %0 = arith.constant 1.0 : f32
  tir.store %0, %Y[] : !tir.buffer<[], f32>
}
tir.prim_func @wide(%X: !tir.buffer<[], f64>, %Y: !tir.buffer<[], f32>) attributes {"private"} {
  %0 = arith.constant 1.0 : f32
  tir.store %0, %Y[] : !tir.buffer<[], f32>
}
tir.prim_func @swapped(%X: !tir.buffer<[], f32>, %Y: !tir.buffer<[], f32>) attributes {"private"} {
  %0 = arith.constant 1.0 : f32
  tir.store %0, %X[] : !tir.buffer<[], f32>
}

// -----

// So does what a loop holds, and what comes after it.

// CHECK-LABEL: builtin.module {
// CHECK:         tir.prim_func @in_loop
// CHECK:         tir.prim_func @after_loop
tir.prim_func @in_loop(%X: !tir.buffer<[2], f32>) attributes {"private"} {
  %0 = arith.constant 1.0 : f32
  tir.for %i in (0, 0) {
    tir.store %0, %X[0] : !tir.buffer<[2], f32>
    tir.store %0, %X[1] : !tir.buffer<[2], f32>
  }
}
tir.prim_func @after_loop(%X: !tir.buffer<[2], f32>) attributes {"private"} {
  %0 = arith.constant 1.0 : f32
  tir.for %i in (0, 0) {
    tir.store %0, %X[0] : !tir.buffer<[2], f32>
  }
  tir.store %0, %X[1] : !tir.buffer<[2], f32>
}

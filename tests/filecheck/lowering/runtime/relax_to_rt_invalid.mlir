// RUN: xrelax-opt %s -p convert-relax-to-rt --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected operations that run on memory in 'main', got 'relax.nn.relu': legalize it first
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.nn.relu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected operations that run on memory in 'main', got 'arith.constant'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = arith.constant 1.0 : f32
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected parameter 'x' of 'main' to have a known shape and dtype, got !relax.tensor<[n], ?>
relax.func @main(%x: !relax.tensor<[n], ?>) -> !relax.tensor<[n], ?> {
  relax.return %x : !relax.tensor<[n], ?>
}

// -----

// CHECK: expected the result of 'main' to be a tensor, a shape, a number or a tuple of them, got !relax.object
relax.func @main() -> !relax.object {
  %o = relax.memory.alloc_storage 64
  relax.return %o : !relax.object
}

// -----

// CHECK: expected arguments of 'relax.call_packed' in 'main' to be tensors, got !relax.object
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %s = relax.memory.alloc_storage n * 4
  %o = relax.call_packed "log"(%s) : (!relax.object) -> !relax.object
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'main': expected 'relax.call_pure_packed' to give tensors of known shape and dtype, got !relax.tensor<rank 1, f32>
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32>
  %z = relax.print "{}"(%y) : (!relax.tensor<rank 1, f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected argument of 'relax.print' in 'main' to have a known shape and dtype, got !relax.tensor<rank 1, f32>
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32> {
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32>
  %z = relax.print "{}"(%y) : (!relax.tensor<rank 1, f32>) -> tuple<>
  relax.return %y : !relax.tensor<rank 1, f32>
}

// -----

// CHECK: expected result of 'main' to have a known shape and dtype, got !relax.tensor<rank 1, f32>
relax.func private impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32> {
  %y = relax.call_pure_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<rank 1, f32>
  %z = relax.print "{}"(%y) : (!relax.tensor<rank 1, f32>) -> tuple<>
  relax.return %y : !relax.tensor<rank 1, f32>
}

// -----

// CHECK: expected the result of call_packed 'load' in 'main' not to be used
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %o = relax.call_packed "load"(%x) : (!relax.tensor<[n], f32>) -> !relax.shape<[n]>
  %p = relax.call_packed "free"(%o) : (!relax.shape<[n]>) -> !relax.object
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected parameter 'o' of 'f' to be a tensor, a shape, a number or a tuple of them, got !relax.func<() -> !relax.tensor<[1], f32>>
relax.func private @f(%o: !relax.func<() -> !relax.tensor<[1], f32>>) -> !relax.tensor<[1], f32> {
  %y = relax.alloc_tensor : !relax.tensor<[1], f32>
  relax.return %y : !relax.tensor<[1], f32>
}

// -----

// Calls are checked here too: what follows lets the kernel write where the shapes say.

// CHECK: expected call_tir of a PrimFunc of the module (none), got 'relu'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// A condition that does not determine a symbol cannot be checked at the function's entry.

// CHECK: call of 'add' in 'main': j * k of argument 'B' may not be m * n
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>, %C: !tir.buffer<[n], f32>) {
}
relax.func @main(%p: !relax.tensor<[n, m], f32>, %q: !relax.tensor<[j, k], f32>, %a: !relax.tensor<[n * m], f32>, %b: !relax.tensor<[j * k], f32>) -> !relax.tensor<[n * m], f32> {
  %y = relax.call_tir @add(%a, %b) : (!relax.tensor<[n * m], f32>, !relax.tensor<[j * k], f32>) -> !relax.tensor<[n * m], f32>
  relax.return %y : !relax.tensor<[n * m], f32>
}

// -----

// CHECK: call of 'pair': expected symbol 'j' to be 4 as in argument 'A', got 6 in argument 'B'
tir.prim_func @four(%A: !tir.buffer<[4], f32>, %B: !tir.buffer<[4], f32>) {
}
tir.prim_func @six(%A: !tir.buffer<[6], f32>, %B: !tir.buffer<[6], f32>) {
}
tir.prim_func @pair(%A: !tir.buffer<[j], f32>, %B: !tir.buffer<[j], f32>, %C: !tir.buffer<[j], f32>) {
}
relax.func @main(%a: !relax.tensor<[n], f32>, %b: !relax.tensor<[m], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @four(%a) : (!relax.tensor<[n], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_tir @six(%b) : (!relax.tensor<[m], f32>) -> !relax.tensor<[6], f32>
  %2 = relax.call_tir @pair(%a, %b) : (!relax.tensor<[n], f32>, !relax.tensor<[m], f32>) -> !relax.tensor<[n], f32>
  relax.return %2 : !relax.tensor<[n], f32>
}

// -----

// CHECK: entry of 'column': expected argument 'X' to have strides (2,) and offset 0, got (1,) and 0
tir.prim_func @column(%X: !tir.buffer<[n], f32, strides = [2]>) {
}

// -----

// CHECK: entry of 'column': expected argument 'X' to be row-major, got n where that is 1
tir.prim_func @column(%X: !tir.buffer<[n], f32, strides = [n]>) {
}

// -----

// CHECK: expected result of 'relax.if' in 'main' to have a known shape and dtype, got !relax.tensor<rank 1, f32>
relax.func impure @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>, %z: !relax.tensor<[m], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<rank 1, f32> {
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    relax.yield %z : !relax.tensor<[m], f32>
  }
  %p = relax.print "{}"(%y) : (!relax.tensor<rank 1, f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// Loops that do not fit their functions.

// CHECK: 'relax.loop': expected a call of a graph function of the module (main), got 'step'
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// CHECK: 'relax.loop': loop of 'step': expected 1 argument (i), got the number of the iteration, 1 carried, 0 scanned and 0 given
relax.func private @step(%i: !relax.prim<i64, i>) -> tuple<> {
  %o = relax.tuple() : () -> tuple<>
  relax.return %o : tuple<>
}
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// CHECK: 'relax.loop': loop of 'step': expected the result to have type tuple<>, got tuple<!relax.tensor<[n], f32>>
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>) -> tuple<> {
  %o = relax.tuple() : () -> tuple<>
  relax.return %o : tuple<>
}
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// CHECK: 'relax.loop': loop of 'step': expected field 1 of the result to have dtype int64, got float32
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>, %x: !relax.tensor<[], i64>) -> tuple<!relax.tensor<[k], f32>, !relax.tensor<[], i64>> {
  %o = relax.tuple(%h, %x) : (!relax.tensor<[k], f32>, !relax.tensor<[], i64>) -> tuple<!relax.tensor<[k], f32>, !relax.tensor<[], i64>>
  relax.return %o : tuple<!relax.tensor<[k], f32>, !relax.tensor<[], i64>>
}
relax.func @main(%h: !relax.tensor<[n], f32>, %x: !relax.tensor<[n], i64>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned (%x) given () : (!relax.tensor<[n], f32>) (!relax.tensor<[n], i64>) () -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// -----

// A carried tensor that gets longer.

// CHECK: 'relax.loop': loop of 'step': expected field 0 of the result to have shape (n + 1,), got (n,)
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k + 1], f32>> {
  %g = relax.call_dps_packed "f"(%h) : (!relax.tensor<[k], f32>) -> !relax.tensor<[k + 1], f32>
  %o = relax.tuple(%g) : (!relax.tensor<[k + 1], f32>) -> tuple<!relax.tensor<[k + 1], f32>>
  relax.return %o : tuple<!relax.tensor<[k + 1], f32>>
}
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// One that would have to be empty.

// CHECK: 'relax.loop': call of 'step' in 'main': n of field 0 of the result may not be n * 2
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[k], f32>) -> tuple<!relax.tensor<[k * 2], f32>> {
  %g = relax.call_dps_packed "f"(%h) : (!relax.tensor<[k], f32>) -> !relax.tensor<[k * 2], f32>
  %o = relax.tuple(%g) : (!relax.tensor<[k * 2], f32>) -> tuple<!relax.tensor<[k * 2], f32>>
  relax.return %o : tuple<!relax.tensor<[k * 2], f32>>
}
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

// -----

// Sizes that the number of the iteration decides.

// CHECK: 'relax.loop': loop of 'step': expected a size of argument 'h' to be i in every iteration, got n
relax.func private @step(%i: !relax.prim<i64, i>, %h: !relax.tensor<[i], f32>) -> tuple<!relax.tensor<[i], f32>> {
  %o = relax.tuple(%h) : (!relax.tensor<[i], f32>) -> tuple<!relax.tensor<[i], f32>>
  relax.return %o : tuple<!relax.tensor<[i], f32>>
}
relax.func @main(%h: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>> {
  %l = relax.loop @step to n carried (%h) scanned () given () : (!relax.tensor<[n], f32>) () () -> tuple<!relax.tensor<[n], f32>>
  relax.return %l : tuple<!relax.tensor<[n], f32>>
}

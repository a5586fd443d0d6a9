// RUN: xrelax-opt %s -p specialize-prim-funcs --split-input-file | filecheck %s

// Static calls get kernels of their own, equal ones share it, dynamic ones keep the dynamic kernel.
// The kernel that users wrote stays; the clones are private and have no symbol left.

// CHECK-LABEL: tir.prim_func @relu(%X: !tir.buffer<[1, n], f32>, %Y: !tir.buffer<[1, n], f32>) params ("x", "y") attributes {global_symbol = "relu", tir.noalias = true} {
// CHECK-LABEL: tir.prim_func @relu_20(%X: !tir.buffer<[1, 20], f32>, %Y: !tir.buffer<[1, 20], f32>) params ("x", "y") attributes {tir.noalias = true, private} {
// CHECK:         tir.for %j in (0, 20) {
// CHECK-NEXT:      tir.block "Y" (%vj: spatial (0, 20) = %j) reads (%X[0, %vj]) writes (%Y[0, %vj]) {
// CHECK-NEXT:        %x = tir.load %X[0, %vj] : !tir.buffer<[1, 20], f32>
// CHECK-LABEL: tir.prim_func @relu_10(%X: !tir.buffer<[1, 10], f32>
// CHECK-LABEL: relax.func @main
// CHECK:         %0 = relax.call_tir @relu_10(%a)
// CHECK:         %1 = relax.call_tir @relu_20(%b)
// CHECK:         %2 = relax.call_tir @relu_10(%0)
// CHECK:         %3 = relax.call_tir @relu(%c)
tir.prim_func @relu(%X: !tir.buffer<[1, n], f32>, %Y: !tir.buffer<[1, n], f32>) params ("x", "y") attributes {"global_symbol" = "relu", "tir.noalias" = true} {
  tir.for %j in (0, n) {
    tir.block "Y" (%vj: spatial (0, n) = %j) reads (%X[0, %vj]) writes (%Y[0, %vj]) {
      %x = tir.load %X[0, %vj] : !tir.buffer<[1, n], f32>
      tir.store %x, %Y[0, %vj] : !tir.buffer<[1, n], f32>
    }
  }
}
relax.func @main(%a: !relax.tensor<[1, 10], f32>, %b: !relax.tensor<[1, 20], f32>, %c: !relax.tensor<[1, k], f32>) -> !relax.tensor<[1, k], f32> {
  %0 = relax.call_tir @relu(%a) : (!relax.tensor<[1, 10], f32>) -> !relax.tensor<[1, 10], f32>
  %1 = relax.call_tir @relu(%b) : (!relax.tensor<[1, 20], f32>) -> !relax.tensor<[1, 20], f32>
  %2 = relax.call_tir @relu(%0) : (!relax.tensor<[1, 10], f32>) -> !relax.tensor<[1, 10], f32>
  %3 = relax.call_tir @relu(%c) : (!relax.tensor<[1, k], f32>) -> !relax.tensor<[1, k], f32>
  relax.return %3 : !relax.tensor<[1, k], f32>
}

// -----

// A private kernel that nobody calls any more goes away, and a taken name is not taken again.

// CHECK-LABEL: builtin.module {
// CHECK-NOT:     @add(
// CHECK:         tir.prim_func @add_4_1(%A: !tir.buffer<[4], f32>
// CHECK:         tir.prim_func @add_4(%A: !tir.buffer<[n], f32>)
// CHECK:         relax.call_tir @add_4_1(%a)
tir.prim_func @add(%A: !tir.buffer<[n], f32>, %B: !tir.buffer<[n], f32>) attributes {"private"} {
}
tir.prim_func @add_4(%A: !tir.buffer<[n], f32>) {
}
relax.func @main(%a: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir @add(%a) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// Index parameters stay parameters; what their values say about shapes is built in.

// CHECK-LABEL: builtin.module {
// CHECK:         tir.prim_func @window_8_2(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[6], f32>, %i: index) attributes {private} {
// CHECK-NEXT:      tir.for %j in (0, 6) {
// CHECK-NEXT:        %x = tir.load %X[%j + %i] : !tir.buffer<[8], f32>
// CHECK:         relax.call_tir @window_8_2(%x) vars [#sym.expr<2>]
tir.prim_func @window(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n - i], f32>, %i: index) {
  tir.for %j in (0, n - i) {
    %x = tir.load %X[%j + %i] : !tir.buffer<[n], f32>
    tir.store %x, %Y[%j] : !tir.buffer<[n - i], f32>
  }
}
relax.func @main(%x: !relax.tensor<[8], f32>) -> !relax.tensor<[6], f32> {
  %0 = relax.call_tir @window(%x) vars [#sym.expr<2>] : (!relax.tensor<[8], f32>) -> !relax.tensor<[6], f32>
  relax.return %0 : !relax.tensor<[6], f32>
}

// -----

// Kernels without symbols and kernels that are called with a symbol stay as they are.

// CHECK-LABEL: builtin.module {
// CHECK-NEXT:    tir.prim_func @four(
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.prim_func @pair(
// CHECK-NEXT:    }
// CHECK-NEXT:    relax.func @main
// CHECK-NEXT:      %0 = relax.call_tir @four(%x)
// CHECK-NEXT:      %1 = relax.call_tir @pair(%x, %y)
tir.prim_func @four(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) {
}
tir.prim_func @pair(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[m], f32>, %Z: !tir.buffer<[n, m], f32>) {
}
relax.func @main(%x: !relax.tensor<[4], f32>, %y: !relax.tensor<[k], f32>) -> !relax.tensor<[4, k], f32> {
  %0 = relax.call_tir @four(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %1 = relax.call_tir @pair(%x, %y) : (!relax.tensor<[4], f32>, !relax.tensor<[k], f32>) -> !relax.tensor<[4, k], f32>
  relax.return %1 : !relax.tensor<[4, k], f32>
}

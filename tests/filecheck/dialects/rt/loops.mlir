// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Slices of tensors, and memory that iterations exchange; the symbol is known in the loop.
// CHECK-LABEL: @scan
rt.func @scan(%x: !tir.buffer<[n, 4], f32>, %h: !tir.buffer<[4], f32>, %k: !tir.buffer<[], i64>) written [1, 2] {
  %s = rt.alloc : !tir.buffer<[4], f32>
  %t = rt.alloc : !tir.buffer<[], i64>
  // CHECK: rt.for "max" to n carried (%a, %b) = (%h, %s) : !tir.buffer<[4], f32>, (%c, %d) = (%k, %t) : !tir.buffer<[], i64> {
  rt.for "max" to n carried (%a, %b) = (%h, %s) : !tir.buffer<[4], f32>, (%c, %d) = (%k, %t) : !tir.buffer<[], i64> {
    // CHECK-NEXT: %r = rt.slice %x["max"] : !tir.buffer<[n, 4], f32> to !tir.buffer<[4], f32>
    %r = rt.slice %x["max"] : !tir.buffer<[n, 4], f32> to !tir.buffer<[4], f32>
    // CHECK-NEXT: rt.call_dps @f(%a, %c, %r) outs(%b, %d) vars ["max"]
    rt.call_dps @f(%a, %c, %r) outs(%b, %d) vars ["max"] : (!tir.buffer<[4], f32>, !tir.buffer<[], i64>, !tir.buffer<[4], f32>), (!tir.buffer<[4], f32>, !tir.buffer<[], i64>)
    // CHECK-NEXT: }
  }
}

// -----

// Loops until a bool in memory is false, with a bound and without one, in a dataflow region.
// CHECK-LABEL: @while
rt.func @while(%c: !tir.buffer<[], i1>, %x: !tir.buffer<[n], f32>) {
  // CHECK: rt.dataflow {
  rt.dataflow {
    // CHECK-NEXT: rt.for i while %c : !tir.buffer<[], i1> {
    // CHECK-NEXT: }
    rt.for i while %c : !tir.buffer<[], i1> { }
    // CHECK-NEXT: rt.for i to n * 2 while %c : !tir.buffer<[], i1> {
    rt.for i to 2 * n while %c : !tir.buffer<[], i1> {
      // CHECK-NEXT: rt.for j to i + 1 {
      rt.for j to i + 1 {
        // CHECK-NEXT: rt.slice %x[i * 3 + j] : !tir.buffer<[n], f32> to !tir.buffer<[], f32>
        %e = rt.slice %x[j + i * 3] : !tir.buffer<[n], f32> to !tir.buffer<[], f32>
      }
    }
  }
}

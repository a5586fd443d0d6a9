// RUN: xrelax-opt %s -p plan-memory --split-input-file | filecheck %s

// A chain of ten equal calls needs two places: each is free again once the next call has read it.

// CHECK-LABEL: rt.func @chain
// CHECK-NEXT:    rt.check %x "x"
// CHECK-NEXT:    [[A:%[0-9]+]] = rt.arena ((n + 15) floordiv 16) * 128
// CHECK-NEXT:    rt.dataflow {
// CHECK-NEXT:      %a0 = rt.view [[A]][0] : !tir.buffer<[((n + 15) floordiv 16) * 128], i8> to !tir.buffer<[1, n], f32>
// CHECK-NEXT:      rt.call_dps @relu(%x) outs(%a0)
// CHECK-NEXT:      %a1 = rt.view [[A]][((n + 15) floordiv 16) * 64]
// CHECK:           %a2 = rt.view [[A]][0]
// CHECK:           %a3 = rt.view [[A]][((n + 15) floordiv 16) * 64]
// CHECK:           %a4 = rt.view [[A]][0]
// CHECK:           %a5 = rt.view [[A]][((n + 15) floordiv 16) * 64]
// CHECK:           %a6 = rt.view [[A]][0]
// CHECK:           %a7 = rt.view [[A]][((n + 15) floordiv 16) * 64]
// CHECK:           %a8 = rt.view [[A]][0]
// CHECK-NOT:         rt.view
// CHECK:           rt.call_dps @relu(%a8) outs(%y)
rt.func @chain(%x: !tir.buffer<[1, n], f32>, %y: !tir.buffer<[1, n], f32>) results 1 {
  rt.check %x "x" : !tir.buffer<[1, n], f32>
  rt.dataflow {
    %a0 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%x) outs(%a0) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a1 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a0) outs(%a1) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a2 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a1) outs(%a2) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a3 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a2) outs(%a3) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a4 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a3) outs(%a4) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a5 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a4) outs(%a5) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a6 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a5) outs(%a6) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a7 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a6) outs(%a7) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    %a8 = rt.alloc : !tir.buffer<[1, n], f32>
    rt.call_dps @relu(%a7) outs(%a8) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
    rt.call_dps @relu(%a8) outs(%y) : (!tir.buffer<[1, n], f32>), (!tir.buffer<[1, n], f32>)
  }
}

// -----

// Offsets are multiples of 64 bytes. The smallest free place that fits is taken: 8 bytes go into the 32 of %b
// although the 512 of %a come first.

// CHECK-LABEL: rt.func @best_fit
// CHECK-NEXT:    [[A:%[0-9]+]] = rt.arena 640
// CHECK-NEXT:    %a = rt.view [[A]][0] :
// CHECK-NEXT:    %b = rt.view [[A]][512] :
// CHECK:         %c = rt.view [[A]][576] :
// CHECK:         %d = rt.view [[A]][512] :
rt.func @best_fit(%x: !tir.buffer<[4], f32>) {
  %a = rt.alloc : !tir.buffer<[128], f32>
  %b = rt.alloc : !tir.buffer<[8], f32>
  rt.call_packed "f"(%x) outs(%a, %b) : (!tir.buffer<[4], f32>), (!tir.buffer<[128], f32>, !tir.buffer<[8], f32>)
  %c = rt.alloc : !tir.buffer<[2], f32>
  rt.call_packed "g"(%a, %b) outs(%c) : (!tir.buffer<[128], f32>, !tir.buffer<[8], f32>), (!tir.buffer<[2], f32>)
  %d = rt.alloc : !tir.buffer<[2], f32>
  rt.call_packed "h"(%c) outs(%d) : (!tir.buffer<[2], f32>), (!tir.buffer<[2], f32>)
}

// -----

// Sizes that cannot be compared do not share memory; those that can share it with the larger one's size.

// CHECK-LABEL: rt.func @symbolic
// CHECK:         rt.arena ((m + 15) floordiv 16) * 64 + ((n + 7) floordiv 8) * 64
// CHECK-NEXT:    %a = rt.view %{{.*}}[0] : {{.*}} to !tir.buffer<[n], f32>
// CHECK:         %b = rt.view %{{.*}}[((n + 7) floordiv 8) * 64] : {{.*}} to !tir.buffer<[m], f32>
// CHECK:         %c = rt.view %{{.*}}[0] : {{.*}} to !tir.buffer<[n, 2], f32>
rt.func @symbolic(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[m], f32>) {
  %a = rt.alloc : !tir.buffer<[n], f32>
  rt.call_packed "f"(%x) outs(%a) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
  %b = rt.alloc : !tir.buffer<[m], f32>
  rt.call_packed "f"(%y) outs(%b) : (!tir.buffer<[m], f32>), (!tir.buffer<[m], f32>)
  %c = rt.alloc : !tir.buffer<[n, 2], f32>
  rt.call_packed "f"(%b) outs(%c) : (!tir.buffer<[m], f32>), (!tir.buffer<[n, 2], f32>)
}

// -----

// Memory that is in use across dataflow regions is not used again inside of them.

// CHECK-LABEL: rt.func @regions
// CHECK:         rt.arena 192
// CHECK-NEXT:    %a = rt.view %{{.*}}[0] :
// CHECK:         rt.dataflow {
// CHECK-NEXT:      %b = rt.view %{{.*}}[64] :
// CHECK-NEXT:      rt.call_dps @f(%x) outs(%b)
// CHECK-NEXT:      %c = rt.view %{{.*}}[128] :
// CHECK:         }
// CHECK-NEXT:    %d = rt.view %{{.*}}[0] :
rt.func @regions(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  %a = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @f(%x) outs(%a) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  rt.dataflow {
    %b = rt.alloc : !tir.buffer<[4], f32>
    rt.call_dps @f(%x) outs(%b) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
    %c = rt.alloc : !tir.buffer<[4], f32>
    rt.copy %a, %c : !tir.buffer<[4], f32>, !tir.buffer<[4], f32>
    rt.call_dps @g(%b) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  }
  %d = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @f(%y) outs(%d) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// A private function works in memory that its caller plans: its size is in terms of the caller's dims.

// CHECK-LABEL: rt.func private @twice(%x: !tir.buffer<[k], f32>, %y: !tir.buffer<[k], f32>, %scratch: !tir.buffer<[((k + 15) floordiv 16) * 64], i8>) results 2 {
// CHECK-NEXT:    %a = rt.view %scratch[0] :
// CHECK-LABEL: rt.func @main
// CHECK-NEXT:    [[A:%[0-9]+]] = rt.arena ((n + 7) floordiv 8) * 64
// CHECK-NEXT:    %scratch = rt.view [[A]][0] : {{.*}} to !tir.buffer<[((n + 7) floordiv 8) * 64], i8>
// CHECK-NEXT:    rt.call_dps @twice(%x) outs(%y, %scratch)
rt.func private @twice(%x: !tir.buffer<[k], f32>, %y: !tir.buffer<[k], f32>) results 1 {
  %a = rt.alloc : !tir.buffer<[k], f32>
  rt.call_dps @f(%x) outs(%a) : (!tir.buffer<[k], f32>), (!tir.buffer<[k], f32>)
  rt.call_dps @f(%a) outs(%y) : (!tir.buffer<[k], f32>), (!tir.buffer<[k], f32>)
}
rt.func @main(%s: !tir.buffer<[n], f32>, %x: !tir.buffer<[n * 2], f32>, %y: !tir.buffer<[n * 2], f32>) results 1 {
  rt.call_dps @twice(%x) outs(%y) : (!tir.buffer<[n * 2], f32>), (!tir.buffer<[n * 2], f32>)
}

// -----

// Nothing to place: no arena. Memory that nobody uses is not placed.

// CHECK-LABEL: rt.func @nothing
// CHECK-NEXT:    rt.check
// CHECK-NEXT:    rt.call_dps @f(%x) outs(%y)
// CHECK-NEXT:  }
rt.func @nothing(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  rt.check %x "x" : !tir.buffer<[4], f32>
  %a = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @f(%x) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// A planned function stays as it is.

// CHECK-LABEL: rt.func @planned
// CHECK-NEXT:    [[A:%[0-9]+]] = rt.arena 64
// CHECK-NEXT:    %a = rt.view [[A]][0] :
// CHECK-NEXT:    rt.call_dps @f(%x) outs(%a)
rt.func @planned(%x: !tir.buffer<[4], f32>) {
  %0 = rt.arena 64
  %a = rt.view %0[0] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
  rt.call_dps @f(%x) outs(%a) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// Scratch memory of branches that exclude each other has one place; what both write does not.
// CHECK-LABEL: rt.func @branches
rt.func @branches(%c: !tir.buffer<[], i1>, %x: !tir.buffer<[16], f32>, %y: !tir.buffer<[16], f32>) results 1 {
  // CHECK-NEXT: %0 = rt.arena 128
  // CHECK-NEXT: %r = rt.view %0[64]
  %r = rt.alloc : !tir.buffer<[16], f32>
  rt.if %c : !tir.buffer<[], i1> {
    // CHECK: %a = rt.view %0[0]
    %a = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%x) outs(%a) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
    rt.call_packed "f"(%a) outs(%r) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  } else {
    // CHECK: %b = rt.view %0[0]
    %b = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%x) outs(%b) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
    rt.call_packed "f"(%b) outs(%r) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  }
  rt.call_packed "f"(%r) outs(%y) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
}

// -----

// A function that may call itself takes an arena for each call.
// CHECK-LABEL: rt.func private recursive @f
rt.func private recursive @f(%x: !tir.buffer<[16], f32>, %y: !tir.buffer<[16], f32>) results 1 {
  // CHECK-NEXT: %0 = rt.arena 64
  %a = rt.alloc : !tir.buffer<[16], f32>
  // CHECK: rt.call_dps @f(%x) outs(%a)
  rt.call_dps @f(%x) outs(%a) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  rt.call_packed "f"(%a) outs(%y) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
}

// -----

// What a loop uses of the memory around is live until its last iteration, also through slices, and
// although its last use comes before others in the body. Memory of the body is reused: %u has the
// place of %s. After the loop all of it is free.

// CHECK-LABEL: rt.func @loop
// CHECK:         [[A:%[0-9]+]] = rt.arena 384
// CHECK-NEXT:    %a = rt.view [[A]][0] :
// CHECK:         %b = rt.view [[A]][64] :
// CHECK:         rt.for i to n {
// CHECK:           %s = rt.view [[A]][256] :
// CHECK:           %t = rt.view [[A]][320] :
// CHECK:           %u = rt.view [[A]][256] :
// CHECK:         }
// CHECK:         %c = rt.view [[A]][0] :
rt.func @loop(%x: !tir.buffer<[n], f32>) {
  %a = rt.alloc : !tir.buffer<[16], f32>
  rt.call_packed "f"(%x) outs(%a) : (!tir.buffer<[n], f32>), (!tir.buffer<[16], f32>)
  %b = rt.alloc : !tir.buffer<[3, 16], f32>
  rt.call_packed "f"(%a) outs(%b) : (!tir.buffer<[16], f32>), (!tir.buffer<[3, 16], f32>)
  rt.for i to n {
    %s = rt.alloc : !tir.buffer<[16], f32>
    %row = rt.slice %b[i] : !tir.buffer<[3, 16], f32> to !tir.buffer<[16], f32>
    rt.call_packed "f"(%a, %row) outs(%s) : (!tir.buffer<[16], f32>, !tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
    %t = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%s) outs(%t) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
    %u = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%t) outs(%u) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  }
  %c = rt.alloc : !tir.buffer<[16], f32>
  rt.call_packed "f"(%x) outs(%c) : (!tir.buffer<[n], f32>), (!tir.buffer<[16], f32>)
}

// -----

// A condition is read before every iteration, and exchanged memory is used in all of them: neither
// is free in the loop.

// CHECK-LABEL: rt.func @while
// CHECK:         [[A:%[0-9]+]] = rt.arena 320
// CHECK:         %a = rt.view [[A]][0] :
// CHECK:         %b = rt.view [[A]][64] :
// CHECK:         %c = rt.view [[A]][128] :
// CHECK:         rt.for i while %c : !tir.buffer<[], i1> carried (%d, %e) = (%a, %b) : !tir.buffer<[16], f32> {
// CHECK-NEXT:      %s = rt.view [[A]][192] :
// CHECK:           %t = rt.view [[A]][256] :
rt.func @while(%x: !tir.buffer<[n], f32>) {
  %a = rt.alloc : !tir.buffer<[16], f32>
  %b = rt.alloc : !tir.buffer<[16], f32>
  %c = rt.alloc : !tir.buffer<[], i1>
  rt.call_packed "f"(%x) outs(%a, %b, %c) : (!tir.buffer<[n], f32>), (!tir.buffer<[16], f32>, !tir.buffer<[16], f32>, !tir.buffer<[], i1>)
  rt.for i while %c : !tir.buffer<[], i1> carried (%d, %e) = (%a, %b) : !tir.buffer<[16], f32> {
    %s = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%d) outs(%e, %s) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>, !tir.buffer<[16], f32>)
    %t = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%s) outs(%t) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  }
}

// -----

// A loop in a loop: %a is live in all iterations of the outer one.

// CHECK-LABEL: rt.func @nested
// CHECK:         [[A:%[0-9]+]] = rt.arena 192
// CHECK-NEXT:    %a = rt.view [[A]][0] :
// CHECK:           %b = rt.view [[A]][64] :
// CHECK:             %c = rt.view [[A]][128] :
// CHECK:           %d = rt.view [[A]][64] :
rt.func @nested(%x: !tir.buffer<[16], f32>) {
  %a = rt.alloc : !tir.buffer<[16], f32>
  rt.call_packed "f"(%x) outs(%a) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  rt.for i to 3 {
    %b = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%x) outs(%b) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
    rt.for j to 3 {
      rt.call_packed "g"(%a, %b) outs() : (!tir.buffer<[16], f32>, !tir.buffer<[16], f32>), ()
      %c = rt.alloc : !tir.buffer<[16], f32>
      rt.call_packed "f"(%x) outs(%c) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
    }
    %d = rt.alloc : !tir.buffer<[16], f32>
    rt.call_packed "f"(%x) outs(%d) : (!tir.buffer<[16], f32>), (!tir.buffer<[16], f32>)
  }
}

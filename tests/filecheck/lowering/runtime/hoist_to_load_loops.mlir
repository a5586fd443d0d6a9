// RUN: xrelax-opt %s -p hoist-to-load | filecheck %s

tir.prim_func @double(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  tir.for %i in (0, 4) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[4], f32>
      %y = arith.addf %x, %x : f32
      tir.store %y, %Y[%v] : !tir.buffer<[4], f32>
    }
  }
}

// In the body of a loop and in the private function that it calls, what depends on constants is
// computed on load; what takes a slice or carried memory stays.

// CHECK-LABEL: rt.func private @step
// CHECK-NEXT:    %[[P:.*]] = rt.loaded @load[{{[0-9]}}]
// CHECK-NEXT:    rt.call_dps @double(%[[P]]) outs(%y)
// CHECK-LABEL: rt.func @loop
// CHECK:         rt.for i to n
// CHECK-NEXT:      %[[Q:.*]] = rt.loaded @load[{{[0-9]}}]
// CHECK-NEXT:      %[[R:.*]] = rt.slice
// CHECK:           rt.call_dps @double(%[[R]]) outs
// CHECK-NEXT:      rt.call_dps @step(%a) outs(%b)
// CHECK-NEXT:      rt.call_dps @double(%[[Q]]) outs(%t)
rt.func private @step(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  %w = rt.constant <float32, [4], [1.0, 2.0, 3.0, 5.0]> : !tir.buffer<[4], f32>
  %p = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @double(%w) outs(%p) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  rt.call_dps @double(%p) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}
rt.func @loop(%z: !tir.buffer<[n, 4], f32>, %x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 2 {
  rt.for i to n carried (%a, %b) = (%x, %y) : !tir.buffer<[4], f32> {
    %w = rt.constant <float32, [4], [1.0, 2.0, 3.0, 6.0]> : !tir.buffer<[4], f32>
    %q = rt.alloc : !tir.buffer<[4], f32>
    rt.call_dps @double(%w) outs(%q) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
    %r = rt.slice %z[i] : !tir.buffer<[n, 4], f32> to !tir.buffer<[4], f32>
    %t = rt.alloc : !tir.buffer<[4], f32>
    rt.call_dps @double(%r) outs(%t) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
    rt.call_dps @step(%a) outs(%b) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
    rt.call_dps @double(%q) outs(%t) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  }
}

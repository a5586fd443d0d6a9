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
tir.prim_func @fill(%X: !tir.buffer<[], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  tir.for %i in (0, 4) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads (%X[]) writes (%Y[%v]) {
      %x = tir.load %X[] : !tir.buffer<[], f32>
      tir.store %x, %Y[%v] : !tir.buffer<[4], f32>
    }
  }
}

// What both functions compute of the constant is one result; what lies between is scratch memory.

// CHECK:      rt.func on_load @load(%[[B:.*]]: !tir.buffer<[4], f32>) results tuple 1 {
// CHECK-NEXT:   %[[W:.*]] = rt.constant <float32, [2, 2]
// CHECK-NEXT:   %[[V:.*]] = rt.reinterpret %[[W]]
// CHECK-NEXT:   %[[A:.*]] = rt.alloc
// CHECK-NEXT:   rt.call_dps @double(%[[V]]) outs(%[[A]])
// CHECK-NEXT:   rt.call_dps @double(%[[A]]) outs(%[[B]])
// CHECK-NEXT: }

// CHECK-NEXT: rt.func @first
// CHECK-NEXT:   rt.dataflow {
// CHECK-NEXT:     %[[P:.*]] = rt.loaded @load[0] : !tir.buffer<[4], f32>
// CHECK-NEXT:     rt.call_dps @double(%[[P]]) outs(%y)
// CHECK-NEXT:   }
rt.func @first(%y: !tir.buffer<[4], f32>) results 1 {
  rt.dataflow {
    %w = rt.constant <float32, [2, 2], [1.0, 2.0, 3.0, 4.0]> : !tir.buffer<[2, 2], f32>
    %v = rt.reinterpret %w : !tir.buffer<[2, 2], f32> to !tir.buffer<[4], f32>
    %a = rt.alloc : !tir.buffer<[4], f32>
    rt.call_dps @double(%v) outs(%a) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
    %b = rt.alloc : !tir.buffer<[4], f32>
    rt.call_dps @double(%a) outs(%b) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
    rt.call_dps @double(%b) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  }
}

// What depends on arguments, what is much larger than its constants, results of functions and what
// a registered function may write stay.

// CHECK-LABEL: rt.func @stays
// CHECK:         rt.call_dps @double(%x) outs(%{{.*}})
// CHECK:         rt.call_dps @fill(%{{.*}}) outs(%{{.*}})
// CHECK:         rt.call_dps @double(%{{.*}}) outs(%{{.*}})
// CHECK-NEXT:    rt.call_packed "env.change"
// CHECK:         rt.call_dps @double(%{{.*}}) outs(%y)
rt.func @stays(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  %a = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @double(%x) outs(%a) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  %s = rt.constant <float32, [], [1.0]> : !tir.buffer<[], f32>
  %b = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @fill(%s) outs(%b) : (!tir.buffer<[], f32>), (!tir.buffer<[4], f32>)
  rt.call_packed "env.read"(%a, %b) outs() : (!tir.buffer<[4], f32>, !tir.buffer<[4], f32>), ()
  %w = rt.constant <float32, [4], [1.0, 2.0, 3.0, 4.0]> : !tir.buffer<[4], f32>
  %c = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @double(%w) outs(%c) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  rt.call_packed "env.change"(%c) outs() : (!tir.buffer<[4], f32>), ()
  rt.call_dps @double(%w) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

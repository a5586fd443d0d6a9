// RUN: xrelax-opt %s -p hoist-to-load | filecheck %s

// What nobody reads is computed nowhere.

// CHECK-NOT: on_load
// CHECK-LABEL: rt.func @unused
// CHECK-NOT:     rt.call_dps
tir.prim_func @double(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  tir.for %i in (0, 4) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[4], f32>
      %y = arith.addf %x, %x : f32
      tir.store %y, %Y[%v] : !tir.buffer<[4], f32>
    }
  }
}
rt.func @unused(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  %w = rt.constant <float32, [4], [1.0, 2.0, 3.0, 4.0]> : !tir.buffer<[4], f32>
  %a = rt.alloc : !tir.buffer<[4], f32>
  rt.call_dps @double(%w) outs(%a) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  rt.copy %x, %y : !tir.buffer<[4], f32>, !tir.buffer<[4], f32>
}

// RUN: xrelax-opt %s -p 'annotate-reuse-distance{target="llvm -cache-sizes=4096,16384,65536"}' --split-input-file | filecheck %s

// A function moves 12 KB in a call, which the second cache holds, and 48 KB in four iterations. What it
// calls has the distance of its callers; what runs on load has none.

// CHECK-LABEL: tir.prim_func @small(
// CHECK-NOT:     reuse_distance
// CHECK-LABEL: tir.prim_func @looped(
// CHECK-SAME:    reuse_distance = 32768 : i64
// CHECK-LABEL: tir.prim_func @loading(
// CHECK-NOT:     reuse_distance
// CHECK-LABEL: tir.prim_func @inner(
// CHECK-SAME:    reuse_distance = 32768 : i64
// CHECK-LABEL: tir.prim_func @between(
// CHECK-SAME:    reuse_distance = 16384 : i64
tir.prim_func @small(%X: !tir.buffer<[1536], f32>, %Y: !tir.buffer<[1536], f32>) attributes {"private"} {
  tir.for %i in (0, 1536) {
    %x = tir.load %X[%i] : !tir.buffer<[1536], f32>
    tir.store %x, %Y[%i] : !tir.buffer<[1536], f32>
  }
}
tir.prim_func @looped(%X: !tir.buffer<[1536], f32>, %Y: !tir.buffer<[1536], f32>) attributes {"private"} {
  tir.for %i in (0, 1536) {
    %x = tir.load %X[%i] : !tir.buffer<[1536], f32>
    tir.store %x, %Y[%i] : !tir.buffer<[1536], f32>
  }
}
tir.prim_func @loading(%X: !tir.buffer<[1536], f32>, %Y: !tir.buffer<[1536], f32>) attributes {"private"} {
  tir.for %i in (0, 1536) {
    %x = tir.load %X[%i] : !tir.buffer<[1536], f32>
    tir.store %x, %Y[%i] : !tir.buffer<[1536], f32>
  }
}
tir.prim_func @inner(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) attributes {"private"} {
  tir.for %i in (0, n) {
    %x = tir.load %X[%i] : !tir.buffer<[n], f32>
    tir.store %x, %Y[%i] : !tir.buffer<[n], f32>
  }
}
tir.prim_func @between(%X: !tir.buffer<[1536], f32>, %Y: !tir.buffer<[1536], f32>) attributes {"private"} {
  tir.for %i in (0, 1536) {
    %x = tir.load %X[%i] : !tir.buffer<[1536], f32>
    tir.store %x, %Y[%i] : !tir.buffer<[1536], f32>
  }
}
rt.func on_load @load(%y: !tir.buffer<[1536], f32>) results tuple 1 {
  %w = rt.constant <float32, [1536], "w", "00"> : !tir.buffer<[1536], f32>
  rt.call_dps @loading(%w) outs(%y) : (!tir.buffer<[1536], f32>), (!tir.buffer<[1536], f32>)
}
rt.func @once(%x: !tir.buffer<[1536], f32>, %y: !tir.buffer<[1536], f32>) results 1 {
  rt.call_dps @small(%x) outs(%y) : (!tir.buffer<[1536], f32>), (!tir.buffer<[1536], f32>)
}
rt.func private @step(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 symbols [n] {
  rt.call_dps @inner(%x) outs(%y) vars [n] : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}
rt.func @loop(%x: !tir.buffer<[1536], f32>, %y: !tir.buffer<[1536], f32>) results 1 {
  rt.for i to 4 {
    rt.call_dps @looped(%x) outs(%y) : (!tir.buffer<[1536], f32>), (!tir.buffer<[1536], f32>)
  }
  rt.call_dps @step(%x) outs(%y) vars [1536] : (!tir.buffer<[1536], f32>), (!tir.buffer<[1536], f32>)
}
rt.func @two(%x: !tir.buffer<[1536], f32>, %y: !tir.buffer<[1536], f32>) results 1 {
  rt.call_dps @between(%x) outs(%y) : (!tir.buffer<[1536], f32>), (!tir.buffer<[1536], f32>)
  rt.call_dps @between(%x) outs(%y) : (!tir.buffer<[1536], f32>), (!tir.buffer<[1536], f32>)
}

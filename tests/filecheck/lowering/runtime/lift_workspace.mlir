// RUN: xrelax-opt %s -p lift-workspace --split-input-file | filecheck %s

// Scratch of symbolic size becomes a parameter, whose size the call computes from its shapes. A buffer in a parallel
// loop has a slot for each thread, rounded up to whole cache lines. Small buffers stay.

// CHECK-LABEL: rt.func @main
// CHECK:           %workspace = rt.alloc : !tir.buffer<[64], i8>
// CHECK-NEXT:      %workspace_1 = rt.alloc : !tir.buffer<[((a + 15) floordiv 16) * 1024], i8>
// CHECK-NEXT:      rt.call_dps @kernel(%x, %w) outs(%z, %workspace, %workspace_1)
// CHECK-LABEL: tir.prim_func @kernel
// CHECK-SAME:    %workspace: !tir.buffer<[((n + 15) floordiv 16) * 64], i8>
// CHECK-SAME:    %workspace_1: !tir.buffer<[((m + 15) floordiv 16) * 1024], i8>
// CHECK-NEXT:    %T = rt.view %workspace[0]
// CHECK-SAME:      to !tir.buffer<[1, n], f32>
// CHECK-NEXT:    %small = tir.alloc_buffer : !tir.buffer<[4], f32>
// CHECK:           tir.block
// CHECK-NEXT:        %row = rt.view %workspace_1[0]
// CHECK-SAME:          to !tir.buffer<[16, m], f32, strides = [((m + 15) floordiv 16) * 16, 1]>
// CHECK-NEXT:        %[[SLOT:.*]] = rt.slot 16
// CHECK-NEXT:        %row_1 = tir.match_buffer %row[%[[SLOT]], 0]
// CHECK:             tir.store %x, %row_1[1]
rt.func @main(%x: !tir.buffer<[1, a], f32>, %w: !tir.buffer<[7, a], f32>, %z: !tir.buffer<[1, 7], f32>) results 1 {
  rt.dataflow {
    rt.call_dps @kernel(%x, %w) outs(%z) : (!tir.buffer<[1, a], f32>, !tir.buffer<[7, a], f32>), (!tir.buffer<[1, 7], f32>)
  }
}
tir.prim_func @kernel(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>, %Z: !tir.buffer<[1, n], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[1, n], f32>
  %small = tir.alloc_buffer : !tir.buffer<[4], f32>
  tir.for %j in (0, n) parallel {
    tir.block "T" (%vj: spatial (0, n) = %j) reads (%X[0, 0]) writes (%T[0, %vj]) {
      %row = tir.alloc_buffer : !tir.buffer<[m], f32>
      %x = tir.load %X[0, 0] : !tir.buffer<[1, m], f32>
      tir.store %x, %row[1] : !tir.buffer<[m], f32>
      %t = tir.load %row[1] : !tir.buffer<[m], f32>
      tir.store %t, %T[0, %vj] : !tir.buffer<[1, n], f32>
    }
  }
}

// -----

// More than the stack may hold: the first buffers stay, the others are lifted. Index parameters are given by the call.

// CHECK-LABEL: rt.func @main
// CHECK:           %workspace = rt.alloc : !tir.buffer<[64], i8>
// CHECK-NEXT:    %workspace_1 = rt.alloc : !tir.buffer<[((a + 7) floordiv 8) * 64], i8>
// CHECK-NEXT:    rt.call_dps @kernel() outs(%x, %workspace, %workspace_1) vars [a * 2]
// CHECK-LABEL: tir.prim_func @kernel
// CHECK-NEXT:    %A = tir.alloc_buffer
// CHECK-NEXT:    %B = rt.view %workspace[0]
// CHECK-NEXT:    %C = rt.view %workspace_1[0]
rt.func @main(%x: !tir.buffer<[a], f32>) written [0] {
  rt.call_dps @kernel() outs(%x) vars [a * 2] : (), (!tir.buffer<[a], f32>)
}
tir.prim_func @kernel(%X: !tir.buffer<[n], f32>, %k: index) {
  %A = tir.alloc_buffer : !tir.buffer<[4096], f32>
  %B = tir.alloc_buffer : !tir.buffer<[16], f32>
  %C = tir.alloc_buffer : !tir.buffer<[k], f32>
  %zero = arith.constant 0.0 : f32
  tir.store %zero, %A[0] : !tir.buffer<[4096], f32>
  tir.store %zero, %B[0] : !tir.buffer<[16], f32>
  tir.store %zero, %C[0] : !tir.buffer<[k], f32>
}

// -----

// Nothing to lift, nothing changes.

// CHECK-LABEL: rt.func @main
// CHECK:         rt.call_dps @kernel() outs(%x) : (), (!tir.buffer<[a], f32>)
// CHECK-LABEL: tir.prim_func @kernel(%X: !tir.buffer<[n], f32>) {
// CHECK-NEXT:    %A = tir.alloc_buffer
rt.func @main(%x: !tir.buffer<[a], f32>) written [0] {
  rt.call_dps @kernel() outs(%x) : (), (!tir.buffer<[a], f32>)
}
tir.prim_func @kernel(%X: !tir.buffer<[n], f32>) {
  %A = tir.alloc_buffer : !tir.buffer<[16], f32>
}

// -----

// Of a large buffer there are as many as have room, of a loop with few iterations no more than it has. The bounds of
// the loop may depend on data. Nested parallel loops share the slots of the outermost one.

// CHECK-LABEL: tir.prim_func @slots
// CHECK-SAME:    %workspace: !tir.buffer<[1048576], i8>
// CHECK-SAME:    %workspace_1: !tir.buffer<[268435456], i8>
// CHECK:         rt.slot 4
// CHECK:         rt.slot 8
tir.prim_func @slots(%I: !tir.buffer<[n], i64>) {
  tir.for %j in (0, 4) parallel {
    tir.for %k in (0, 5) parallel {
      %T = tir.alloc_buffer : !tir.buffer<[65536], f32>
    }
  }
  %count = tir.load %I[0] : !tir.buffer<[n], i64>
  %extent = arith.index_cast %count : i64 to index
  tir.for %j in (0, %extent) parallel {
    %T = tir.alloc_buffer : !tir.buffer<[8388608], f32>
  }
}

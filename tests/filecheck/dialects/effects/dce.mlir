// RUN: xrelax-opt %s -p dce --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p canonicalize --split-input-file | filecheck %s

// What nothing uses goes if it does nothing: operators, pure calls, allocations, and dataflow blocks
// that end up empty. Calls for their effects stay.
// CHECK-LABEL: relax.func impure @graph
relax.func impure @graph(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.call_tir @f(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %3 = relax.constant <float32, [1], [1.0]> : !relax.tensor<[1], f32>
  %4 = relax.alloc_tensor : !relax.tensor<[4], f32>
  %5 = relax.tuple(%x) : (!relax.tensor<[4], f32>) -> tuple<!relax.tensor<[4], f32>>
  %6 = relax.dataflow -> !relax.tensor<[4], f32> {
    %lv = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
    relax.output %lv : !relax.tensor<[4], f32>
  }
  %7 = relax.call @pure(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: relax.call_packed "log"(%x)
  %8 = relax.call_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.object
  // CHECK-NEXT: relax.call @graph(%x)
  %9 = relax.call @graph(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: relax.call @effects(%x)
  %10 = relax.call @effects(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: relax.return %x
  relax.return %x : !relax.tensor<[4], f32>
}
// Functions are kept, recursive ones are pure if nothing in them is not.
// CHECK: relax.func @pure
relax.func @pure(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  // CHECK-NEXT: %0 = relax.call @pure(%x)
  %0 = relax.call @pure(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: relax.return %0
  relax.return %0 : !relax.tensor<[4], f32>
}
// CHECK: relax.func impure @effects
relax.func impure @effects(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  // CHECK-NEXT: relax.call_packed "log"(%x)
  %0 = relax.call_packed "log"(%x) : (!relax.tensor<[4], f32>) -> !relax.object
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// In kernels: loads, index arithmetic, views, scratch memory, and loops and blocks that only have
// those. Stores, assertions and calls out stay.
// CHECK-LABEL: tir.prim_func @kernel
tir.prim_func @kernel(%X: !tir.buffer<[4], f32>, %ok: i1) {
  %A = tir.alloc_buffer : !tir.buffer<[4], f32>
  %V = tir.match_buffer %X[0] : !tir.buffer<[4], f32> to !tir.buffer<[2], f32>
  tir.for %i in (0, 4) {
    tir.block "dead" (%v: spatial (0, 4) = %i) reads (%X[%v]) {
      %S = tir.alloc_buffer : !tir.buffer<[4], f32>
      %x = tir.load %X[%v] : !tir.buffer<[4], f32>
      %k = tir.apply %v + 1
    }
  }
  // CHECK-NEXT: tir.assert %ok, "fine"
  tir.assert %ok, "fine"
  // CHECK-NEXT: tir.call_extern "tick"() : () -> ()
  tir.call_extern "tick"() : () -> ()
  // CHECK-NEXT: tir.for %i
  tir.for %i in (0, 4) {
    // CHECK-NEXT: tir.block "live"
    tir.block "live" (%v: reduce (0, 4) = %i) reads (%X[%v]) writes (%X[0]) {
      // CHECK-NEXT: tir.init {
      tir.init {
        // CHECK-NEXT: %c = arith.constant
        %c = arith.constant 0.0 : f32
        // CHECK-NEXT: tir.store
        tir.store %c, %X[0] : !tir.buffer<[4], f32>
      }
      // CHECK-NEXT: }
      // CHECK-NEXT: %x = tir.load
      %x = tir.load %X[%v] : !tir.buffer<[4], f32>
      // CHECK-NEXT: tir.store %x
      tir.store %x, %X[0] : !tir.buffer<[4], f32>
    }
  }
}

// -----

// At run time: unused memory and empty dataflow regions go, everything that runs stays.
// CHECK-LABEL: rt.func @main
rt.func @main(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  // CHECK-NEXT: rt.check %x "x"
  rt.check %x "x" : !tir.buffer<[4], f32>
  %t = rt.alloc : !tir.buffer<[4], f32>
  %a = rt.arena 64
  %v = rt.view %a[0] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
  %w = rt.constant <float32, [1], [1.0]> : !tir.buffer<[1], f32>
  rt.dataflow {
    %u = rt.alloc : !tir.buffer<[4], f32>
  }
  // CHECK-NEXT: rt.dataflow {
  rt.dataflow {
    // CHECK-NEXT: rt.call_dps @f(%x) outs(%y)
    rt.call_dps @f(%x) outs(%y) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  }
  // CHECK-NEXT: }
  // CHECK-NEXT: rt.call_packed "log"(%x) outs()
  rt.call_packed "log"(%x) outs() : (!tir.buffer<[4], f32>), ()
  // CHECK-NEXT: rt.copy %x, %y
  rt.copy %x, %y : !tir.buffer<[4], f32>, !tir.buffer<[4], f32>
}

// -----

// CHECK-LABEL: loops.func @kernel
loops.func @kernel(%X: !tir.buffer<[16], f32>, %z: f32) {
  %S = loops.alloca : !tir.buffer<[16], f32>
  %m = loops.mask 3 : vector<16xi1>
  %s = loops.for %i in (0, 16) carry (%acc = %z : f32) {
    %v = loops.load %X[%i] : !tir.buffer<[16], f32> -> f32
    loops.if (%i < 3) {
    }
    loops.yield %v : f32
  }
  // CHECK-NEXT: loops.for %i in (0, 16) {
  loops.for %i in (0, 16) {
    // CHECK-NEXT: loops.if (%i < 3) {
    loops.if (%i < 3) {
      // CHECK-NEXT: loops.store %z, %X[%i]
      loops.store %z, %X[%i] : !tir.buffer<[16], f32>, f32
    }
  }
}

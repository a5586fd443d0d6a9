// RUN: xrelax-opt %s -p cse --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p cse-loops --split-input-file | filecheck %s

// Equal operators, constants and calls are one; allocations and calls for effects are not.
// CHECK-LABEL: relax.func impure @graph
relax.func impure @graph(%x: !relax.tensor<[4], f32>) -> !relax.object {
  // CHECK-NEXT: %a = relax.call_tir @f(%x)
  %a = relax.call_tir @f(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %b = relax.call_tir @f(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: %c = relax.call_tir @f(%x) vars [#sym.expr<4>]
  %c = relax.call_tir @f(%x) vars [#sym.expr<4>] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: %d = relax.constant <float32, [1], [1.0]>
  %d = relax.constant <float32, [1], [1.0]> : !relax.tensor<[1], f32>
  %e = relax.constant <float32, [1], [1.0]> : !relax.tensor<[1], f32>
  // CHECK-NEXT: %f = relax.constant <float32, [1], [-1.0]>
  %f = relax.constant <float32, [1], [-1.0]> : !relax.tensor<[1], f32>
  // CHECK-NEXT: %g = relax.alloc_tensor
  %g = relax.alloc_tensor : !relax.tensor<[4], f32>
  // CHECK-NEXT: %h = relax.alloc_tensor
  %h = relax.alloc_tensor : !relax.tensor<[4], f32>
  // CHECK-NEXT: %i = relax.call_packed "fill"(%g)
  %i = relax.call_packed "fill"(%g) : (!relax.tensor<[4], f32>) -> !relax.object
  // CHECK-NEXT: %j = relax.call_packed "fill"(%g)
  %j = relax.call_packed "fill"(%g) : (!relax.tensor<[4], f32>) -> !relax.object
  // CHECK-NEXT: %k = relax.call @graph(%x)
  %k = relax.call @graph(%x) : (!relax.tensor<[4], f32>) -> !relax.object
  // CHECK-NEXT: %l = relax.call @graph(%x)
  %l = relax.call @graph(%x) : (!relax.tensor<[4], f32>) -> !relax.object
  // CHECK-NEXT: %m = relax.call @pure(%x)
  %m = relax.call @pure(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %n = relax.call @pure(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  // CHECK-NEXT: "log"(%a, %a, %c, %d, %d, %f, %g, %h, %m, %m)
  %o = relax.call_packed "log"(%a, %b, %c, %d, %e, %f, %g, %h, %m, %n) : (!relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[1], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>, !relax.tensor<[4], f32>) -> !relax.object
  relax.return %o : !relax.object
}
relax.func @pure(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// Loads are merged up to the next store, of any depth, and not across regions.
// CHECK-LABEL: tir.prim_func @loads
tir.prim_func @loads(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[8], f32>) {
  // CHECK-NEXT: %a = tir.load %X[0]
  %a = tir.load %X[0] : !tir.buffer<[4], f32>
  %b = tir.load %X[0] : !tir.buffer<[4], f32>
  // CHECK-NEXT: tir.store %a, %Y[0]
  tir.store %a, %Y[0] : !tir.buffer<[8], f32>
  // CHECK-NEXT: %c = tir.load %X[0]
  %c = tir.load %X[0] : !tir.buffer<[4], f32>
  // CHECK-NEXT: tir.for
  tir.for %i in (0, 1) {
    // CHECK-NEXT: %e = tir.load %X[0]
    %e = tir.load %X[0] : !tir.buffer<[4], f32>
    // CHECK-NEXT: tir.store %e, %X[0]
    tir.store %e, %X[0] : !tir.buffer<[4], f32>
    // CHECK-NEXT: %f = tir.load %X[0]
    %f = tir.load %X[0] : !tir.buffer<[4], f32>
    // CHECK-NEXT: tir.store %f, %Y[1]
    tir.store %f, %Y[1] : !tir.buffer<[8], f32>
  }
  // CHECK-NEXT: }
  // CHECK-NEXT: %d = tir.load %X[0]
  %d = tir.load %X[0] : !tir.buffer<[4], f32>
  // CHECK-NEXT: tir.store %a, %Y[2]
  tir.store %b, %Y[2] : !tir.buffer<[8], f32>
  // CHECK-NEXT: tir.store %c, %Y[3]
  tir.store %c, %Y[3] : !tir.buffer<[8], f32>
  // CHECK-NEXT: tir.store %d, %Y[4]
  tir.store %d, %Y[4] : !tir.buffer<[8], f32>
  // CHECK-NEXT: %g = tir.load %Y[5]
  %g = tir.load %Y[5] : !tir.buffer<[8], f32>
  // CHECK-NEXT: tir.call_extern "change"() : () -> ()
  tir.call_extern "change"() : () -> ()
  // CHECK-NEXT: %h = tir.load %Y[5]
  %h = tir.load %Y[5] : !tir.buffer<[8], f32>
  // CHECK-NEXT: tir.store %g, %Y[6]
  tir.store %g, %Y[6] : !tir.buffer<[8], f32>
  // CHECK-NEXT: tir.store %h, %Y[7]
  tir.store %h, %Y[7] : !tir.buffer<[8], f32>
}

// -----

// Loads of different elements stay, equal index arithmetic and equal views are one, scratch is not.
// CHECK-LABEL: tir.prim_func @memory
tir.prim_func @memory(%X: !tir.buffer<[4], f32>, %k: index) {
  // CHECK-NEXT: %A = tir.alloc_buffer
  %A = tir.alloc_buffer : !tir.buffer<[4], f32>
  // CHECK-NEXT: %B = tir.alloc_buffer
  %B = tir.alloc_buffer : !tir.buffer<[4], f32>
  // CHECK-NEXT: %V = tir.match_buffer
  %V = tir.match_buffer %X[2] : !tir.buffer<[4], f32> to !tir.buffer<[2], f32>
  %W = tir.match_buffer %X[2] : !tir.buffer<[4], f32> to !tir.buffer<[2], f32>
  // CHECK-NEXT: %i = tir.apply %k + 1
  %i = tir.apply %k + 1
  %j = tir.apply %k + 1
  // CHECK-NEXT: %a = tir.load %V[%i]
  %a = tir.load %V[%i] : !tir.buffer<[2], f32>
  %b = tir.load %W[%j] : !tir.buffer<[2], f32>
  // CHECK-NEXT: %c = tir.load %V[0]
  %c = tir.load %V[0] : !tir.buffer<[2], f32>
  // CHECK-NEXT: tir.store %a, %A[0]
  tir.store %a, %A[0] : !tir.buffer<[4], f32>
  // CHECK-NEXT: tir.store %a, %B[0]
  tir.store %b, %B[0] : !tir.buffer<[4], f32>
  // CHECK-NEXT: tir.store %c, %B[1]
  tir.store %c, %B[1] : !tir.buffer<[4], f32>
}

// -----

// CHECK-LABEL: rt.func @main
rt.func @main(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>) results 1 {
  // CHECK-NEXT: %s = rt.alloc
  %s = rt.alloc : !tir.buffer<[4], f32>
  // CHECK-NEXT: %t = rt.alloc
  %t = rt.alloc : !tir.buffer<[4], f32>
  // CHECK-NEXT: %a = rt.arena 64
  %a = rt.arena 64
  // CHECK-NEXT: %b = rt.arena 64
  %b = rt.arena 64
  // CHECK-NEXT: %u = rt.view %a[0]
  %u = rt.view %a[0] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
  %v = rt.view %a[0] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
  // CHECK-NEXT: %w = rt.view %b[0]
  %w = rt.view %b[0] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
  // CHECK-NEXT: rt.call_dps @f(%x) outs(%s)
  rt.call_dps @f(%x) outs(%s) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  // CHECK-NEXT: rt.call_dps @f(%x) outs(%s)
  rt.call_dps @f(%x) outs(%s) : (!tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  // CHECK-NEXT: rt.call_packed "g"(%s, %t, %u, %u, %w) outs(%y)
  rt.call_packed "g"(%s, %t, %u, %v, %w) outs(%y) : (!tir.buffer<[4], f32>, !tir.buffer<[4], f32>, !tir.buffer<[4], f32>, !tir.buffer<[4], f32>, !tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
}

// -----

// CHECK-LABEL: loops.func @kernel
loops.func @kernel(%X: !tir.buffer<[16], f32>) {
  // CHECK-NEXT: %S = loops.alloca
  %S = loops.alloca : !tir.buffer<[16], f32>
  // CHECK-NEXT: %T = loops.alloca
  %T = loops.alloca : !tir.buffer<[16], f32>
  // CHECK-NEXT: loops.for
  loops.for %i in (0, 16) {
    // CHECK-NEXT: %a = loops.load %X[%i]
    %a = loops.load %X[%i] : !tir.buffer<[16], f32> -> f32
    %b = loops.load %X[%i] : !tir.buffer<[16], f32> -> f32
    // CHECK-NEXT: loops.if
    loops.if (%i < 4) {
      // CHECK-NEXT: loops.store %a, %S[%i]
      loops.store %a, %S[%i] : !tir.buffer<[16], f32>, f32
    }
    // CHECK-NEXT: }
    // CHECK-NEXT: %c = loops.load %X[%i]
    %c = loops.load %X[%i] : !tir.buffer<[16], f32> -> f32
    // CHECK-NEXT: loops.store %a, %T[%i]
    loops.store %b, %T[%i] : !tir.buffer<[16], f32>, f32
    // CHECK-NEXT: loops.store %c, %S[%i]
    loops.store %c, %S[%i] : !tir.buffer<[16], f32>, f32
  }
}

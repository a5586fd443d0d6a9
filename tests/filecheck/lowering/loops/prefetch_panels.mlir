// RUN: xrelax-opt %s -p 'prefetch-panels{target="llvm -mtriple=aarch64-linux-gnu"}' --split-input-file | filecheck %s

// A panel that is read once is asked for 2.7 KB ahead: a line for every two vectors.

// CHECK-LABEL: @once
// CHECK:         loops.for %k in (0, 512)
// CHECK-NEXT:      loops.prefetch %W[%i, %k + 42, 0] : !tir.buffer<[4, 512, 16], f32>
// CHECK-NEXT:      {{.*}} = loops.load %W[%i, %k, 0]
// CHECK-NEXT:      {{.*}} = loops.load %W[%i, %k, 8]
// CHECK-NEXT:      {{.*}} = loops.load %X[%k]
loops.func @once(%X: !tir.buffer<[512], f32>, %W: !tir.buffer<[4, 512, 16], f32>, %Y: !tir.buffer<[64], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 4) {
    %s, %t = loops.for %k in (0, 512) carry (%a = %z : vector<8xf32>, %b = %z : vector<8xf32>) {
      %w = loops.load %W[%i, %k, 0] : !tir.buffer<[4, 512, 16], f32> -> vector<8xf32>
      %v = loops.load %W[%i, %k, 8] : !tir.buffer<[4, 512, 16], f32> -> vector<8xf32>
      %x = loops.load %X[%k] : !tir.buffer<[512], f32> -> f32
      %c = vector.broadcast %x : f32 to vector<8xf32>
      %p = arith.mulf %c, %w : vector<8xf32>
      %q = arith.mulf %c, %v : vector<8xf32>
      %d = arith.addf %a, %p : vector<8xf32>
      %e = arith.addf %b, %q : vector<8xf32>
      loops.yield %d, %e : vector<8xf32>, vector<8xf32>
    }
    loops.store %s, %Y[%i * 16] : !tir.buffer<[64], f32>, vector<8xf32>
    loops.store %t, %Y[%i * 16 + 8] : !tir.buffer<[64], f32>, vector<8xf32>
  }
}

// -----

// Of what no cache holds more is asked for: 8 KB.

// CHECK-LABEL: @far
// CHECK:         loops.prefetch %W[%k + 256, 0]
loops.func @far(%X: !tir.buffer<[1048576], f32>, %W: !tir.buffer<[1048576, 8], f32>, %Y: !tir.buffer<[8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  %s = loops.for %k in (0, 1048576) carry (%a = %z : vector<8xf32>) {
    %w = loops.load %W[%k, 0] : !tir.buffer<[1048576, 8], f32> -> vector<8xf32>
    %x = loops.load %X[%k] : !tir.buffer<[1048576], f32> -> f32
    %c = vector.broadcast %x : f32 to vector<8xf32>
    %p = arith.mulf %c, %w : vector<8xf32>
    %d = arith.addf %a, %p : vector<8xf32>
    loops.yield %d : vector<8xf32>
  }
  loops.store %s, %Y[0] : !tir.buffer<[8], f32>, vector<8xf32>
}

// -----

// A small panel is far too if callers fill the caches from call to call. The kernel asks for the first
// iterations' part in the loops before, unless they have little to do or run again, and no more than that.

// CHECK-LABEL: @beside_others
// CHECK:         loops.for %i in (0, 8) {
// CHECK-NEXT:      loops.load
// CHECK:         loops.for %j in (0, 8) {
// CHECK-NEXT:      loops.prefetch %V[%j, 0]
// CHECK-NEXT:      loops.prefetch %W[%j, 0]
// CHECK:         loops.for %r in (0, 2) {
// CHECK-NEXT:      loops.for %j_1 in (0, 8) {
// CHECK-NEXT:        loops.load
// CHECK:         loops.for %j_2 in (0, 8) {
// CHECK-NEXT:      loops.prefetch %V[%j_2 + 8, 0]
// CHECK-NEXT:      loops.prefetch %W[%j_2 + 8, 0]
// CHECK:         loops.for %r_1 in (0, n) {
// CHECK-NEXT:      loops.for %j_3 in (0, 1024) {
// CHECK-NEXT:        loops.if (%r_1 < 1, %j_3 < 112) {
// CHECK-NEXT:          loops.prefetch %V[%j_3 + 16, 0]
// CHECK:           loops.prefetch %W[%k + 128, 0]
// CHECK:           loops.prefetch %V[%k + 128, 0]
loops.func @beside_others(%X: !tir.buffer<[65536], f32>, %W: !tir.buffer<[65536, 8], f32>, %V: !tir.buffer<[65536, 8], f32>, %Y: !tir.buffer<[8], f32>) symbols [n] noalias reuse_distance 4194304 {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 8) {
    %x = loops.load %X[%i] : !tir.buffer<[65536], f32> -> f32
    loops.store %x, %Y[%i] : !tir.buffer<[8], f32>, f32
  }
  loops.for %j in (0, 8) {
    %x = loops.load %X[%j] : !tir.buffer<[65536], f32> -> f32
    %a = arith.addf %x, %x : f32
    %b = arith.mulf %a, %x : f32
    loops.store %b, %Y[%j] : !tir.buffer<[8], f32>, f32
  }
  loops.for %r in (0, 2) {
    loops.for %j in (0, 8) {
      %x = loops.load %X[%j] : !tir.buffer<[65536], f32> -> f32
      %a = arith.addf %x, %x : f32
      %b = arith.mulf %a, %x : f32
      loops.store %b, %Y[%j] : !tir.buffer<[8], f32>, f32
    }
  }
  loops.for %j in (0, 8) {
    %x = loops.load %X[%j] : !tir.buffer<[65536], f32> -> f32
    %a = arith.addf %x, %x : f32
    %b = arith.mulf %a, %x : f32
    loops.store %b, %Y[%j] : !tir.buffer<[8], f32>, f32
  }
  loops.for %r in (0, n) {
    loops.for %j in (0, 1024) {
      %x = loops.load %X[%j] : !tir.buffer<[65536], f32> -> f32
      %a = arith.addf %x, %x : f32
      %b = arith.mulf %a, %x : f32
      loops.store %b, %Y[0] : !tir.buffer<[8], f32>, f32
    }
  }
  %s = loops.for %k in (0, 65536) carry (%a = %z : vector<8xf32>) {
    %w = loops.load %W[%k, 0] : !tir.buffer<[65536, 8], f32> -> vector<8xf32>
    %v = loops.load %V[%k, 0] : !tir.buffer<[65536, 8], f32> -> vector<8xf32>
    %x = loops.load %X[%k] : !tir.buffer<[65536], f32> -> f32
    %c = vector.broadcast %x : f32 to vector<8xf32>
    %p = arith.mulf %c, %w : vector<8xf32>
    %q = arith.addf %p, %v : vector<8xf32>
    %d = arith.addf %a, %q : vector<8xf32>
    loops.yield %d : vector<8xf32>
  }
  loops.store %s, %Y[0] : !tir.buffer<[8], f32>, vector<8xf32>
}

// -----

// No loop before knows the panel that a table selects later.

// CHECK-LABEL: @selected
// CHECK:         loops.for %j in (0, 8) {
// CHECK-NEXT:      loops.load
// CHECK:           loops.prefetch %W[%p, %k + 256, 0]
loops.func @selected(%T: !tir.buffer<[8], i32>, %X: !tir.buffer<[65536], f32>, %W: !tir.buffer<[4, 65536, 8], f32>, %Y: !tir.buffer<[8, 8], f32>) noalias reuse_distance 4194304 {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %j in (0, 8) {
    %x = loops.load %X[%j] : !tir.buffer<[65536], f32> -> f32
    %a = arith.addf %x, %x : f32
    %b = arith.mulf %a, %x : f32
    loops.store %b, %Y[%j, 0] : !tir.buffer<[8, 8], f32>, f32
  }
  loops.for %i in (0, 8) {
    %t = loops.load %T[%i] : !tir.buffer<[8], i32> -> i32
    %p = arith.index_cast %t : i32 to index
    %s = loops.for %k in (0, 65536) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%p, %k, 0] : !tir.buffer<[4, 65536, 8], f32> -> vector<8xf32>
      %x = loops.load %X[%k] : !tir.buffer<[65536], f32> -> f32
      %c = vector.broadcast %x : f32 to vector<8xf32>
      %q = arith.mulf %c, %w : vector<8xf32>
      %d = arith.addf %a, %q : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    loops.store %s, %Y[%i, 0] : !tir.buffer<[8, 8], f32>, vector<8xf32>
  }
}

// -----

// The second cache keeps a panel for all rows that use it.

// CHECK-LABEL: @for_many_rows
// CHECK-NOT:     prefetch
loops.func @for_many_rows(%X: !tir.buffer<[9, 2048], f32>, %W: !tir.buffer<[2048, 8], f32>, %Y: !tir.buffer<[9, 8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 9) {
    %s = loops.for %k in (0, 2048) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%k, 0] : !tir.buffer<[2048, 8], f32> -> vector<8xf32>
      %x = loops.load %X[%i, %k] : !tir.buffer<[9, 2048], f32> -> f32
      %c = vector.broadcast %x : f32 to vector<8xf32>
      %p = arith.mulf %c, %w : vector<8xf32>
      %d = arith.addf %a, %p : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    loops.store %s, %Y[%i, 0] : !tir.buffer<[9, 8], f32>, vector<8xf32>
  }
}

// -----

// For a few rows, of a number that is not known, the first one waits for the panel.

// CHECK-LABEL: @for_few_rows
// CHECK:         loops.prefetch %W[%k + 85, 0]
loops.func @for_few_rows(%X: !tir.buffer<[n, 2048], f32>, %W: !tir.buffer<[2048, 8], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, n mod 8) {
    %s = loops.for %k in (0, 2048) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%k, 0] : !tir.buffer<[2048, 8], f32> -> vector<8xf32>
      %x = loops.load %X[%i, %k] : !tir.buffer<[n, 2048], f32> -> f32
      %c = vector.broadcast %x : f32 to vector<8xf32>
      %p = arith.mulf %c, %w : vector<8xf32>
      %d = arith.addf %a, %p : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    loops.store %s, %Y[%i, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}

// -----

// One that is larger comes from farther away each time.

// CHECK-LABEL: @large
// CHECK:         loops.prefetch %W[%k + 85, 0]
loops.func @large(%X: !tir.buffer<[9, 65536], f32>, %W: !tir.buffer<[65536, 8], f32>, %Y: !tir.buffer<[9, 8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 9) {
    %s = loops.for %k in (0, 65536) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%k, 0] : !tir.buffer<[65536, 8], f32> -> vector<8xf32>
      %x = loops.load %X[%i, %k] : !tir.buffer<[9, 65536], f32> -> f32
      %v = "vector.broadcast"(%x) : (f32) -> vector<8xf32>
      %p = arith.mulf %v, %w : vector<8xf32>
      %d = arith.addf %a, %p : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    loops.store %s, %Y[%i, 0] : !tir.buffer<[9, 8], f32>, vector<8xf32>
  }
}

// -----

// Of several rows at once those of the next iteration around are asked for, also if a loop between reads them again.

// CHECK-LABEL: @rows
// CHECK:         loops.prefetch %W[%i * 2 + 2, %k * 8] : !tir.buffer<[512, 1024], f32>
// CHECK:         loops.prefetch %W[%i * 2 + 3, %k * 8] : !tir.buffer<[512, 1024], f32>
// CHECK-NOT:     prefetch
loops.func @rows(%X: !tir.buffer<[2, 1024], f32>, %W: !tir.buffer<[512, 1024], f32>, %Y: !tir.buffer<[2, 256, 8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 256) {
    loops.for %j in (0, 2) {
      %s = loops.for %k in (0, 128) carry (%a = %z : vector<8xf32>) {
        %x = loops.load %X[%j, %k * 8] : !tir.buffer<[2, 1024], f32> -> vector<8xf32>
        %w = loops.load %W[%i * 2, %k * 8] : !tir.buffer<[512, 1024], f32> -> vector<8xf32>
        %v = loops.load %W[%i * 2 + 1, %k * 8] : !tir.buffer<[512, 1024], f32> -> vector<8xf32>
        %p = arith.mulf %x, %w : vector<8xf32>
        %q = arith.mulf %p, %v : vector<8xf32>
        %d = arith.addf %a, %q : vector<8xf32>
        loops.yield %d : vector<8xf32>
      }
      loops.store %s, %Y[%j, %i, 0] : !tir.buffer<[2, 256, 8], f32>, vector<8xf32>
    }
  }
}

// -----

// Processors are ahead of what is read alone.

// CHECK-LABEL: @alone
// CHECK-NOT:     prefetch
loops.func @alone(%X: !tir.buffer<[9, 65536], f32>, %W: !tir.buffer<[65536, 8], f32>, %Y: !tir.buffer<[9, 8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 9) {
    %s = loops.for %k in (0, 65536) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%k, 0] : !tir.buffer<[65536, 8], f32> -> vector<8xf32>
      %d = arith.addf %a, %w : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    loops.store %s, %Y[%i, 0] : !tir.buffer<[9, 8], f32>, vector<8xf32>
  }
}

// -----

// Neither what is read with gaps nor scratch memory.

// CHECK-LABEL: @gaps
// CHECK-NOT:     prefetch
loops.func @gaps(%X: !tir.buffer<[65536], f32>, %W: !tir.buffer<[65536, 16], f32>, %Y: !tir.buffer<[8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  %T = loops.alloca : !tir.buffer<[4096, 8], f32>
  %s = loops.for %k in (0, 65536) carry (%a = %z : vector<8xf32>) {
    %w = loops.load %W[%k, 0] : !tir.buffer<[65536, 16], f32> -> vector<8xf32>
    %x = loops.load %X[%k] : !tir.buffer<[65536], f32> -> f32
    %v = "vector.broadcast"(%x) : (f32) -> vector<8xf32>
    %p = arith.mulf %v, %w : vector<8xf32>
    %d = arith.addf %a, %p : vector<8xf32>
    loops.yield %d : vector<8xf32>
  }
  %t = loops.for %k in (0, 4096) carry (%a = %s : vector<8xf32>) {
    %w = loops.load %T[%k, 0] : !tir.buffer<[4096, 8], f32> -> vector<8xf32>
    %x = loops.load %X[%k] : !tir.buffer<[65536], f32> -> f32
    %v = "vector.broadcast"(%x) : (f32) -> vector<8xf32>
    %p = arith.mulf %v, %w : vector<8xf32>
    %d = arith.addf %a, %p : vector<8xf32>
    loops.yield %d : vector<8xf32>
  }
  loops.store %t, %Y[0] : !tir.buffer<[8], f32>, vector<8xf32>
}

// -----

// What is read of a large buffer after a loop, to be added to what it sums up, is asked for before it.

// CHECK-LABEL: @added
// CHECK:         loops.for %i in (0, 4096) {
// CHECK-NEXT:      loops.prefetch %Y[%i, 0]
// CHECK-NEXT:      %s = loops.for %k in (0, 9)
// CHECK-NOT:     prefetch
loops.func @added(%X: !tir.buffer<[9, 8], f32>, %W: !tir.buffer<[9, 8], f32>, %B: !tir.buffer<[8], f32>, %Y: !tir.buffer<[4096, 8], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 4096) {
    %s = loops.for %k in (0, 9) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%k, 0] : !tir.buffer<[9, 8], f32> -> vector<8xf32>
      %x = loops.load %X[%k, 0] : !tir.buffer<[9, 8], f32> -> vector<8xf32>
      %p = arith.mulf %x, %w : vector<8xf32>
      %d = arith.addf %a, %p : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    %y = loops.load %Y[%i, 0] : !tir.buffer<[4096, 8], f32> -> vector<8xf32>
    %b = loops.load %B[0] : !tir.buffer<[8], f32> -> vector<8xf32>
    %t = arith.addf %y, %s : vector<8xf32>
    %u = arith.addf %t, %b : vector<8xf32>
    loops.store %u, %Y[%i, 0] : !tir.buffer<[4096, 8], f32>, vector<8xf32>
  }
}

// -----

// So is what is read of a buffer of symbolic size.

// CHECK-LABEL: @added_rows
// CHECK:         loops.for %i in (0, n) {
// CHECK-NEXT:      loops.prefetch %Y[%i, 0]
// CHECK-NEXT:      %s = loops.for %k in (0, 9)
// CHECK-NOT:     prefetch
loops.func @added_rows(%X: !tir.buffer<[9, 8], f32>, %W: !tir.buffer<[9, 8], f32>, %Y: !tir.buffer<[n, 8], f32>) symbols [n] noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, n) {
    %s = loops.for %k in (0, 9) carry (%a = %z : vector<8xf32>) {
      %w = loops.load %W[%k, 0] : !tir.buffer<[9, 8], f32> -> vector<8xf32>
      %x = loops.load %X[%k, 0] : !tir.buffer<[9, 8], f32> -> vector<8xf32>
      %p = arith.mulf %x, %w : vector<8xf32>
      %d = arith.addf %a, %p : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    %y = loops.load %Y[%i, 0] : !tir.buffer<[n, 8], f32> -> vector<8xf32>
    %t = arith.addf %y, %s : vector<8xf32>
    loops.store %t, %Y[%i, 0] : !tir.buffer<[n, 8], f32>, vector<8xf32>
  }
}

// RUN: xrelax-opt %s -p 'prefetch-panels{target="llvm -mtriple=aarch64-linux-gnu"}' --split-input-file | filecheck %s

// Each of the last two tiles of rows asks for one of the two lines that a step reads of the next panel.

// CHECK-LABEL: @last_tiles
// CHECK:         loops.for %k in (0, 512)
// CHECK:           loops.prefetch %W[%p, %k + min(1, max(0, %i - 5)) * 512, max(0, %i - 6) * 16]
// CHECK-NEXT:      loops.load
loops.func @last_tiles(%X: !tir.buffer<[8, 512], f32>, %W: !tir.buffer<[20, 512, 32], f32>, %Y: !tir.buffer<[8, 640], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<32xf32>
  loops.for %p in (0, 20) {
    loops.for %i in (0, 8) {
      %s = loops.for %k in (0, 512) carry (%a = %z : vector<32xf32>) {
        %w = loops.load %W[%p, %k, 0] : !tir.buffer<[20, 512, 32], f32> -> vector<32xf32>
        %x = loops.load %X[%i, %k] : !tir.buffer<[8, 512], f32> -> f32
        %c = vector.broadcast %x : f32 to vector<32xf32>
        %m = arith.mulf %c, %w : vector<32xf32>
        %d = arith.addf %a, %m : vector<32xf32>
        loops.yield %d : vector<32xf32>
      }
      loops.store %s, %Y[%i, %p * 32] : !tir.buffer<[8, 640], f32>, vector<32xf32>
    }
  }
}

// -----

// Two tiles ask for two of four lines each; the sum is in blocks of the panel.

// CHECK-LABEL: @few_tiles
// CHECK:         loops.for %k in (%b * 64, 64)
// CHECK:           loops.prefetch %W[%p, %k + min(1, max(0, %i + 1)) * 256, max(0, %i) * 32]
// CHECK:           loops.prefetch %W[%p, %k + min(1, max(0, %i + 1)) * 256, max(0, %i) * 32 + 16]
loops.func @few_tiles(%X: !tir.buffer<[2, 256], f32>, %W: !tir.buffer<[20, 256, 64], f32>, %Y: !tir.buffer<[2, 1280], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<64xf32>
  loops.for %p in (0, 20) {
    loops.for %i in (0, 2) {
      %t = loops.for %b in (0, 4) carry (%e = %z : vector<64xf32>) {
        %s = loops.for %k in (%b * 64, 64) carry (%a = %e : vector<64xf32>) {
          %w = loops.load %W[%p, %k, 0] : !tir.buffer<[20, 256, 64], f32> -> vector<64xf32>
          %x = loops.load %X[%i, %k] : !tir.buffer<[2, 256], f32> -> f32
          %c = vector.broadcast %x : f32 to vector<64xf32>
          %m = arith.mulf %c, %w : vector<64xf32>
          %d = arith.addf %a, %m : vector<64xf32>
          loops.yield %d : vector<64xf32>
        }
        loops.yield %s : vector<64xf32>
      }
      loops.store %t, %Y[%i, %p * 64] : !tir.buffer<[2, 1280], f32>, vector<64xf32>
    }
  }
}

// -----

// Of tiles whose number is not known the first two ask.

// CHECK-LABEL: @unknown_tiles
// CHECK:         loops.for %k in (0, 512)
// CHECK:           loops.prefetch %W[%p, %k + min(1, max(-%i + 2, 0)) * 512, min(1, %i) * 16]
loops.func @unknown_tiles(%X: !tir.buffer<[n, 512], f32>, %W: !tir.buffer<[20, 512, 32], f32>, %Y: !tir.buffer<[n, 640], f32>) symbols [n] noalias {
  %z = arith.constant dense<0.0> : vector<32xf32>
  loops.for %p in (0, 20) {
    loops.for %i in (0, n) {
      %s = loops.for %k in (0, 512) carry (%a = %z : vector<32xf32>) {
        %w = loops.load %W[%p, %k, 0] : !tir.buffer<[20, 512, 32], f32> -> vector<32xf32>
        %x = loops.load %X[%i, %k] : !tir.buffer<[n, 512], f32> -> f32
        %c = vector.broadcast %x : f32 to vector<32xf32>
        %m = arith.mulf %c, %w : vector<32xf32>
        %d = arith.addf %a, %m : vector<32xf32>
        loops.yield %d : vector<32xf32>
      }
      loops.store %s, %Y[%i, %p * 32] : !tir.buffer<[n, 640], f32>, vector<32xf32>
    }
  }
}

// -----

// The second cache keeps weights that fit it, and has no room for two panels of 768 KB.

// CHECK-LABEL: @fits
// CHECK-NOT:     prefetch
loops.func @fits(%X: !tir.buffer<[10, 512], f32>, %W: !tir.buffer<[16, 512, 32], f32>, %Y: !tir.buffer<[10, 512], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<32xf32>
  loops.for %p in (0, 16) {
    loops.for %i in (0, 10) {
      %s = loops.for %k in (0, 512) carry (%a = %z : vector<32xf32>) {
        %w = loops.load %W[%p, %k, 0] : !tir.buffer<[16, 512, 32], f32> -> vector<32xf32>
        %x = loops.load %X[%i, %k] : !tir.buffer<[10, 512], f32> -> f32
        %c = vector.broadcast %x : f32 to vector<32xf32>
        %m = arith.mulf %c, %w : vector<32xf32>
        %d = arith.addf %a, %m : vector<32xf32>
        loops.yield %d : vector<32xf32>
      }
      loops.store %s, %Y[%i, %p * 32] : !tir.buffer<[10, 512], f32>, vector<32xf32>
    }
  }
}

// CHECK-LABEL: @no_room
// CHECK-NOT:     * 6144
loops.func @no_room(%X: !tir.buffer<[10, 6144], f32>, %W: !tir.buffer<[16, 6144, 32], f32>, %Y: !tir.buffer<[10, 512], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<32xf32>
  loops.for %p in (0, 16) {
    loops.for %i in (0, 10) {
      %s = loops.for %k in (0, 6144) carry (%a = %z : vector<32xf32>) {
        %w = loops.load %W[%p, %k, 0] : !tir.buffer<[16, 6144, 32], f32> -> vector<32xf32>
        %x = loops.load %X[%i, %k] : !tir.buffer<[10, 6144], f32> -> f32
        %c = vector.broadcast %x : f32 to vector<32xf32>
        %m = arith.mulf %c, %w : vector<32xf32>
        %d = arith.addf %a, %m : vector<32xf32>
        loops.yield %d : vector<32xf32>
      }
      loops.store %s, %Y[%i, %p * 32] : !tir.buffer<[10, 512], f32>, vector<32xf32>
    }
  }
}

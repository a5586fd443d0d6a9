// RUN: xrelax-opt %s -p 'prefetch-panels{target="llvm -mtriple=aarch64-linux-gnu -cache-sizes=32768,65536,1048576"}' --split-input-file | filecheck %s

// Two loops read a row: the first asks for the same place of the next row, a line at a time.

// CHECK-LABEL: @twice
// CHECK:         loops.for %k in (0, 64)
// CHECK-NEXT:      loops.prefetch %X[%i + 1, %k * 32] : !tir.buffer<[64, 2048], f32>
// CHECK-NEXT:      loops.prefetch %X[%i + 1, %k * 32 + 16] : !tir.buffer<[64, 2048], f32>
// CHECK-NEXT:      {{.*}} = loops.load %X[%i, %k * 32]
// CHECK-NOT:     prefetch
loops.func @twice(%X: !tir.buffer<[64, 2048], f32>, %Y: !tir.buffer<[64, 2048], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<32xf32>
  loops.for %i in (0, 64) parallel {
    %s = loops.for %k in (0, 64) carry (%a = %z : vector<32xf32>) {
      %x = loops.load %X[%i, %k * 32] : !tir.buffer<[64, 2048], f32> -> vector<32xf32>
      %d = arith.addf %a, %x : vector<32xf32>
      loops.yield %d : vector<32xf32>
    }
    loops.for %k in (0, 64) {
      %x = loops.load %X[%i, %k * 32] : !tir.buffer<[64, 2048], f32> -> vector<32xf32>
      %d = arith.subf %x, %s : vector<32xf32>
      loops.store %d, %Y[%i, %k * 32] : !tir.buffer<[64, 2048], f32>, vector<32xf32>
    }
  }
}

// -----

// A loop that calls functions waits less for memory: it asks. Two short vectors are one line.

// CHECK-LABEL: @calls
// CHECK-NOT:     prefetch
// CHECK:         arith.maximumf
// CHECK:         loops.prefetch %X[%i + 1, %k_1 * 16] : !tir.buffer<[64, 2048], f32>
// CHECK-NEXT:    {{.*}} = loops.load %X[%i, %k_1 * 16]
// CHECK-NEXT:    {{.*}} = loops.load %X[%i, %k_1 * 16 + 8]
// CHECK-NOT:     prefetch
loops.func @calls(%X: !tir.buffer<[64, 2048], f32>, %Y: !tir.buffer<[64, 2048], f32>) noalias {
  %z = arith.constant dense<0.0> : vector<8xf32>
  loops.for %i in (0, 64) {
    %s = loops.for %k in (0, 256) carry (%a = %z : vector<8xf32>) {
      %x = loops.load %X[%i, %k * 8] : !tir.buffer<[64, 2048], f32> -> vector<8xf32>
      %d = arith.maximumf %a, %x : vector<8xf32>
      loops.yield %d : vector<8xf32>
    }
    loops.for %k in (0, 128) {
      %x = loops.load %X[%i, %k * 16] : !tir.buffer<[64, 2048], f32> -> vector<8xf32>
      %w = loops.load %X[%i, %k * 16 + 8] : !tir.buffer<[64, 2048], f32> -> vector<8xf32>
      %d = arith.subf %x, %s : vector<8xf32>
      %e = math.exp %d : vector<8xf32>
      %f = arith.addf %e, %w : vector<8xf32>
      loops.store %f, %Y[%i, %k * 16] : !tir.buffer<[64, 2048], f32>, vector<8xf32>
    }
  }
}

// -----

// Not what is read once,

// CHECK-LABEL: @once
// CHECK-NOT:     prefetch
loops.func @once(%X: !tir.buffer<[64, 2048], f32>, %Y: !tir.buffer<[64, 2048], f32>) noalias {
  loops.for %i in (0, 64) {
    loops.for %k in (0, 256) {
      %x = loops.load %X[%i, %k * 8] : !tir.buffer<[64, 2048], f32> -> vector<8xf32>
      loops.store %x, %Y[%i, %k * 8] : !tir.buffer<[64, 2048], f32>, vector<8xf32>
    }
  }
}

// -----

// nor of a buffer that the second cache keeps,

// CHECK-LABEL: @near
// CHECK-NOT:     prefetch
loops.func @near(%X: !tir.buffer<[8, 2048], f32>, %Y: !tir.buffer<[8, 2048], f32>) noalias {
  loops.for %i in (0, 8) {
    loops.for %k in (0, 256) {
      %x = loops.load %X[%i, %k * 8] : !tir.buffer<[8, 2048], f32> -> vector<8xf32>
      loops.store %x, %Y[%i, %k * 8] : !tir.buffer<[8, 2048], f32>, vector<8xf32>
    }
    loops.for %k in (0, 256) {
      %x = loops.load %X[%i, %k * 8] : !tir.buffer<[8, 2048], f32> -> vector<8xf32>
      loops.store %x, %Y[%i, %k * 8] : !tir.buffer<[8, 2048], f32>, vector<8xf32>
    }
  }
}

// -----

// nor rows of which that cache does not hold four.

// CHECK-LABEL: @long
// CHECK-NOT:     prefetch
loops.func @long(%X: !tir.buffer<[8, 8192], f32>, %Y: !tir.buffer<[8, 8192], f32>) noalias {
  loops.for %i in (0, 8) {
    loops.for %k in (0, 1024) {
      %x = loops.load %X[%i, %k * 8] : !tir.buffer<[8, 8192], f32> -> vector<8xf32>
      loops.store %x, %Y[%i, %k * 8] : !tir.buffer<[8, 8192], f32>, vector<8xf32>
    }
    loops.for %k in (0, 1024) {
      %x = loops.load %X[%i, %k * 8] : !tir.buffer<[8, 8192], f32> -> vector<8xf32>
      loops.store %x, %Y[%i, %k * 8] : !tir.buffer<[8, 8192], f32>, vector<8xf32>
    }
  }
}

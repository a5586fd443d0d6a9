// RUN: xrelax-opt %s -p inline-producers --split-input-file | filecheck %s

// The sum is computed where it is used: once.
// CHECK-LABEL: tir.prim_func @chain
// CHECK-NEXT:    tir.for %i in (0, 8) {
// CHECK-NEXT:      tir.block "Y"
// CHECK-NEXT:        %x = tir.load %X[%v]
// CHECK:             %s = arith.addf %x, %one
// CHECK:             math.exp %s
// CHECK-NOT:     tir.for
tir.prim_func @chain(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[8], f32>) attributes {private} {
  %S = tir.alloc_buffer : !tir.buffer<[8], f32>
  tir.for %i in (0, 8) {
    tir.block "S" (%v: spatial (0, 8) = %i) reads (%X[%v]) writes (%S[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[8], f32>
      %one = arith.constant 1.0 : f32
      %s = arith.addf %x, %one : f32
      tir.store %s, %S[%v] : !tir.buffer<[8], f32>
    }
  }
  tir.for %i in (0, 8) {
    tir.block "Y" (%v: spatial (0, 8) = %i) reads (%S[%v]) writes (%Y[%v]) {
      %s = tir.load %S[%v] : !tir.buffer<[8], f32>
      %e = math.exp %s : f32
      tir.store %e, %Y[%v] : !tir.buffer<[8], f32>
    }
  }
}

// -----

// A kernel that others may call, or that a user has scheduled, is unchanged.
// CHECK-LABEL: tir.prim_func @public
// CHECK-NEXT:    %S = tir.alloc_buffer
tir.prim_func @public(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[8], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[8], f32>
  tir.for %i in (0, 8) {
    tir.block "S" (%v: spatial (0, 8) = %i) reads (%X[%v]) writes (%S[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[8], f32>
      tir.store %x, %S[%v] : !tir.buffer<[8], f32>
    }
  }
  tir.for %i in (0, 8) {
    tir.block "Y" (%v: spatial (0, 8) = %i) reads (%S[%v]) writes (%Y[%v]) {
      %s = tir.load %S[%v] : !tir.buffer<[8], f32>
      tir.store %s, %Y[%v] : !tir.buffer<[8], f32>
    }
  }
}

// -----

// Two loads read half of the elements each: no exponential is computed twice.
// CHECK-LABEL: tir.prim_func @halves
// CHECK-NOT:     tir.alloc_buffer
// CHECK:         tir.block "Y"
// CHECK-COUNT-2:   math.exp
tir.prim_func @halves(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  %S = tir.alloc_buffer : !tir.buffer<[8], f32>
  tir.for %i in (0, 8) {
    tir.block "S" (%v: spatial (0, 8) = %i) reads (%X[%v]) writes (%S[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[8], f32>
      %e = math.exp %x : f32
      tir.store %e, %S[%v] : !tir.buffer<[8], f32>
    }
  }
  tir.for %i in (0, 4) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads (%S[%v * 2 : 2]) writes (%Y[%v]) {
      %a = tir.load %S[%v * 2] : !tir.buffer<[8], f32>
      %b = tir.load %S[%v * 2 + 1] : !tir.buffer<[8], f32>
      %y = arith.addf %a, %b : f32
      tir.store %y, %Y[%v] : !tir.buffer<[4], f32>
    }
  }
}

// -----

// Two loads read all elements but one: the exponentials are stored.
// CHECK-LABEL: tir.prim_func @neighbours
// CHECK-NEXT:    tir.alloc_buffer
// CHECK:         tir.block "S"
// CHECK:         math.exp
// CHECK:         tir.block "Y"
// CHECK-NOT:     math.exp
tir.prim_func @neighbours(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[7], f32>) attributes {private} {
  %S = tir.alloc_buffer : !tir.buffer<[8], f32>
  tir.for %i in (0, 8) {
    tir.block "S" (%v: spatial (0, 8) = %i) reads (%X[%v]) writes (%S[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[8], f32>
      %e = math.exp %x : f32
      tir.store %e, %S[%v] : !tir.buffer<[8], f32>
    }
  }
  tir.for %i in (0, 7) {
    tir.block "Y" (%v: spatial (0, 7) = %i) reads (%S[%v : 2]) writes (%Y[%v]) {
      %a = tir.load %S[%v] : !tir.buffer<[8], f32>
      %b = tir.load %S[%v + 1] : !tir.buffer<[8], f32>
      %y = arith.addf %a, %b : f32
      tir.store %y, %Y[%v] : !tir.buffer<[7], f32>
    }
  }
}

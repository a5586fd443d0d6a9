// RUN: xrelax-opt %s -p promote-buffers --split-input-file | filecheck %s

// An accumulator is carried through all loops that its index does not change with. The sum may be reassociated and
// the product fused into it.

// CHECK-LABEL: loops.func @row_sums(
// CHECK-NEXT:    loops.for %i in (0, n) parallel {
// CHECK-NEXT:      %Y_1 = loops.load %Y[%i]
// CHECK-NEXT:      %0 = loops.for %k0 in (0, m) carry (%Y_2 = %Y_1 : f32) {
// CHECK-NEXT:        %1 = loops.for %k1 in (0, 8) carry (%Y_3 = %Y_2 : f32) {
// CHECK-NEXT:          %x = loops.load %X[%i, %k0, %k1]
// CHECK-NEXT:          %p = arith.mulf %x, %x fastmath<contract> : f32
// CHECK-NEXT:          %s = arith.addf %Y_3, %p fastmath<reassoc,contract> : f32
// CHECK-NEXT:          loops.yield %s : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        loops.yield %1 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.store %0, %Y[%i]
// CHECK-NEXT:    }
loops.func @row_sums(%X: !tir.buffer<[n, m, 8], f32>, %Y: !tir.buffer<[n], f32>) symbols [n, m] noalias {
  loops.for %i in (0, n) parallel {
    loops.for %k0 in (0, m) {
      loops.for %k1 in (0, 8) {
        %y = loops.load %Y[%i] : !tir.buffer<[n], f32> -> f32
        %x = loops.load %X[%i, %k0, %k1] : !tir.buffer<[n, m, 8], f32> -> f32
        %p = arith.mulf %x, %x : f32
        %s = arith.addf %y, %p : f32
        loops.store %s, %Y[%i] : !tir.buffer<[n], f32>, f32
      }
    }
  }
}

// -----

// The first value is the stored one.

// CHECK-LABEL: loops.func @initialized(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      loops.store %zero, %Y[%i]
// CHECK-NEXT:      %0 = loops.for %k in (0, m) carry (%Y_1 = %zero : f32) {
// CHECK-NEXT:        %x = loops.load %X[%k]
// CHECK-NEXT:        %s = arith.maximumf %Y_1, %x fastmath<reassoc,nsz,contract> : f32
// CHECK-NEXT:        loops.yield %s : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.store %0, %Y[%i]
// CHECK-NEXT:    }
loops.func @initialized(%X: !tir.buffer<[m], f32>, %Y: !tir.buffer<[n], f32>) symbols [n, m] noalias {
  %zero = arith.constant 0.0 : f32
  loops.for %i in (0, n) {
    loops.store %zero, %Y[%i] : !tir.buffer<[n], f32>, f32
    loops.for %k in (0, m) {
      %y = loops.load %Y[%i] : !tir.buffer<[n], f32> -> f32
      %x = loops.load %X[%k] : !tir.buffer<[m], f32> -> f32
      %s = arith.maximumf %y, %x : f32
      loops.store %s, %Y[%i] : !tir.buffer<[n], f32>, f32
    }
  }
}

// -----

// An element that may lie outside of the buffer when the loop does not run is only touched if it runs.

// CHECK-LABEL: loops.func @guarded(
// CHECK-NEXT:    loops.for %i in (0, m) {
// CHECK-NEXT:      loops.if (0 < -%i + n) {
// CHECK-NEXT:        %Y_1 = loops.load %Y[%i]
// CHECK-NEXT:        %0 = loops.for %k in (0, -%i + n) carry (%Y_2 = %Y_1 : f32) {
// CHECK-NEXT:          %x = loops.load %X[%k]
// CHECK-NEXT:          %s = arith.addf %Y_2, %x fastmath<reassoc,nsz,contract> : f32
// CHECK-NEXT:          loops.yield %s : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        loops.store %0, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
loops.func @guarded(%X: !tir.buffer<[m], f32>, %Y: !tir.buffer<[n], f32>) symbols [n, m] noalias {
  loops.for %i in (0, m) {
    loops.for %k in (0, n - %i) {
      %y = loops.load %Y[%i] : !tir.buffer<[n], f32> -> f32
      %x = loops.load %X[%k] : !tir.buffer<[m], f32> -> f32
      %s = arith.addf %y, %x : f32
      loops.store %s, %Y[%i] : !tir.buffer<[n], f32>, f32
    }
  }
}

// -----

// Several accumulators, vectors of them under a mask too.

// CHECK-LABEL: loops.func @tile(
// CHECK-NEXT:    %on = loops.mask 12 : vector<16xi1>
// CHECK-NEXT:    loops.if (0 < m) {
// CHECK-NEXT:      %0 = loops.mask 12 : vector<16xi1>
// CHECK-NEXT:      %Y_1 = loops.load %Y[0, 0] mask %0 : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      %Y_2 = loops.load %Y[1, 0] mask %0 : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      %1, %2 = loops.for %k in (0, m) carry (%Y_3 = %Y_1 : vector<16xf32>, %Y_4 = %Y_2 : vector<16xf32>) {
// CHECK-NEXT:        %x0 = loops.load %X[%k, 0]
// CHECK-NEXT:        %v0 = vector.broadcast %x0 : f32 to vector<16xf32>
// CHECK-NEXT:        %s0 = arith.addf %Y_3, %v0 fastmath<reassoc,nsz,contract> : vector<16xf32>
// CHECK-NEXT:        %x1 = loops.load %X[%k, 1]
// CHECK-NEXT:        %v1 = vector.broadcast %x1 : f32 to vector<16xf32>
// CHECK-NEXT:        %s1 = arith.addf %Y_4, %v1 fastmath<reassoc,nsz,contract> : vector<16xf32>
// CHECK-NEXT:        loops.yield %s0, %s1 : vector<16xf32>, vector<16xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.store %1, %Y[0, 0] mask %0 : {{.*}}, vector<16xf32>
// CHECK-NEXT:      loops.store %2, %Y[1, 0] mask %0 : {{.*}}, vector<16xf32>
// CHECK-NEXT:    }
loops.func @tile(%X: !tir.buffer<[m, 2], f32>, %Y: !tir.buffer<[2, 12], f32>) symbols [m] noalias {
  %on = loops.mask 12 : vector<16xi1>
  loops.for %k in (0, m) {
    %x0 = loops.load %X[%k, 0] : !tir.buffer<[m, 2], f32> -> f32
    %v0 = vector.broadcast %x0 : f32 to vector<16xf32>
    %y0 = loops.load %Y[0, 0] mask %on : !tir.buffer<[2, 12], f32> -> vector<16xf32>
    %s0 = arith.addf %y0, %v0 : vector<16xf32>
    loops.store %s0, %Y[0, 0] mask %on : !tir.buffer<[2, 12], f32>, vector<16xf32>
    %x1 = loops.load %X[%k, 1] : !tir.buffer<[m, 2], f32> -> f32
    %v1 = vector.broadcast %x1 : f32 to vector<16xf32>
    %y1 = loops.load %Y[1, 0] mask %on : !tir.buffer<[2, 12], f32> -> vector<16xf32>
    %s1 = arith.addf %y1, %v1 : vector<16xf32>
    loops.store %s1, %Y[1, 0] mask %on : !tir.buffer<[2, 12], f32>, vector<16xf32>
  }
}

// -----

// In memory still: the index changes with the loop; another access may be to the same element; a parallel loop
// carries nothing.

// CHECK-LABEL: loops.func @unchanged(
// CHECK-NEXT:    loops.for %k in (0, n) {
// CHECK-NEXT:      %y = loops.load %Y[%k]
// CHECK-NEXT:      %s = arith.addf %y, %y : f32
// CHECK-NEXT:      loops.store %s, %Y[%k]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %l in (1, n - 1) {
// CHECK-NEXT:      %y_1 = loops.load %Y[0]
// CHECK-NEXT:      %x = loops.load %Y[%l]
// CHECK-NEXT:      %s_1 = arith.addf %y_1, %x : f32
// CHECK-NEXT:      loops.store %s_1, %Y[0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %p in (0, 4) parallel {
// CHECK-NEXT:      %y_2 = loops.load %Y[0]
// CHECK-NEXT:      %s_2 = arith.addf %y_2, %y_2 : f32
// CHECK-NEXT:      loops.store %s_2, %Y[0]
// CHECK-NEXT:    }
loops.func @unchanged(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %k in (0, n) {
    %y = loops.load %Y[%k] : !tir.buffer<[n], f32> -> f32
    %s = arith.addf %y, %y : f32
    loops.store %s, %Y[%k] : !tir.buffer<[n], f32>, f32
  }
  loops.for %l in (1, n - 1) {
    %y = loops.load %Y[0] : !tir.buffer<[n], f32> -> f32
    %x = loops.load %Y[%l] : !tir.buffer<[n], f32> -> f32
    %s = arith.addf %y, %x : f32
    loops.store %s, %Y[0] : !tir.buffer<[n], f32>, f32
  }
  loops.for %p in (0, 4) parallel {
    %y = loops.load %Y[0] : !tir.buffer<[n], f32> -> f32
    %s = arith.addf %y, %y : f32
    loops.store %s, %Y[0] : !tir.buffer<[n], f32>, f32
  }
}

// -----

// A running sum that is stored is carried but stays strict.

// CHECK-LABEL: loops.func @running(
// CHECK-NEXT:    %S_1 = loops.load %S[0]
// CHECK-NEXT:    %0 = loops.for %k in (0, n) carry (%S_2 = %S_1 : f32) {
// CHECK-NEXT:      %x = loops.load %X[%k]
// CHECK-NEXT:      %t = arith.addf %S_2, %x : f32
// CHECK-NEXT:      loops.store %t, %Y[%k]
// CHECK-NEXT:      loops.yield %t : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.store %0, %S[0]
loops.func @running(%X: !tir.buffer<[n], f32>, %S: !tir.buffer<[1], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %k in (0, n) {
    %s = loops.load %S[0] : !tir.buffer<[1], f32> -> f32
    %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
    %t = arith.addf %s, %x : f32
    loops.store %t, %S[0] : !tir.buffer<[1], f32>, f32
    loops.store %t, %Y[%k] : !tir.buffer<[n], f32>, f32
  }
}

// -----

// Parameters that may overlap stay in memory, scratch buffers do not overlap anything.

// CHECK-LABEL: loops.func @aliased(
// CHECK-NEXT:    loops.for %k in (0, n) {
// CHECK-NEXT:      %y = loops.load %Y[0]
// CHECK-NEXT:      %x = loops.load %X[%k]
// CHECK-NEXT:      %s = arith.addf %y, %x : f32
// CHECK-NEXT:      loops.store %s, %Y[0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %T = loops.alloca
// CHECK-NEXT:    loops.for %i in (0, 4) {
// CHECK-NEXT:      %T_1 = loops.load %T[%i]
// CHECK-NEXT:      %0 = loops.for %k_1 in (0, n) carry (%T_2 = %T_1 : f32) {
// CHECK-NEXT:        %x_1 = loops.load %X[%k_1]
// CHECK-NEXT:        %s_1 = arith.addf %T_2, %x_1 fastmath<reassoc,nsz,contract> : f32
// CHECK-NEXT:        loops.yield %s_1 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.store %0, %T[%i]
// CHECK-NEXT:    }
loops.func @aliased(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[1], f32>) symbols [n] {
  loops.for %k in (0, n) {
    %y = loops.load %Y[0] : !tir.buffer<[1], f32> -> f32
    %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
    %s = arith.addf %y, %x : f32
    loops.store %s, %Y[0] : !tir.buffer<[1], f32>, f32
  }
  %T = loops.alloca : !tir.buffer<[4], f32>
  loops.for %i in (0, 4) {
    loops.for %k in (0, n) {
      %t = loops.load %T[%i] : !tir.buffer<[4], f32> -> f32
      %x = loops.load %X[%k] : !tir.buffer<[n], f32> -> f32
      %s = arith.addf %t, %x : f32
      loops.store %s, %T[%i] : !tir.buffer<[4], f32>, f32
    }
  }
}

// -----

// Scratch at constant indices becomes values; a loop carries the ones that it stores.

// CHECK-LABEL: loops.func @scratch(
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %a = loops.load %X[%i]
// CHECK-NEXT:      %r = loops.for %k in (0, n) carry (%T = %a : f32) {
// CHECK-NEXT:        %s = arith.subf %T, %a : f32
// CHECK-NEXT:        loops.yield %s : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.store %r, %Y[%i]
// CHECK-NEXT:    }
loops.func @scratch(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %T = loops.alloca : !tir.buffer<[2], f32>
  loops.for %i in (0, n) {
    %a = loops.load %X[%i] : !tir.buffer<[n], f32> -> f32
    loops.store %a, %T[0] : !tir.buffer<[2], f32>, f32
    loops.store %a, %T[1] : !tir.buffer<[2], f32>, f32
    loops.for %k in (0, n) {
      %t = loops.load %T[0] : !tir.buffer<[2], f32> -> f32
      %u = loops.load %T[1] : !tir.buffer<[2], f32> -> f32
      %s = arith.subf %t, %u : f32
      loops.store %s, %T[0] : !tir.buffer<[2], f32>, f32
    }
    %r = loops.load %T[0] : !tir.buffer<[2], f32> -> f32
    loops.store %r, %Y[%i] : !tir.buffer<[n], f32>, f32
  }
}

// -----

// A condition may ask for what was stored before it.

// CHECK-LABEL: loops.func @asked(
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %a = loops.load %X[%i]
// CHECK-NEXT:      loops.if (%i < 7) {
// CHECK-NEXT:        loops.store %a, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
loops.func @asked(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %T = loops.alloca : !tir.buffer<[1], f32>
  loops.for %i in (0, n) {
    %a = loops.load %X[%i] : !tir.buffer<[n], f32> -> f32
    loops.store %a, %T[0] : !tir.buffer<[1], f32>, f32
    loops.if (%i < 7) {
      %t = loops.load %T[0] : !tir.buffer<[1], f32> -> f32
      loops.store %t, %Y[%i] : !tir.buffer<[n], f32>, f32
    }
  }
}

// -----

// Scratch that is indexed by a loop, stored under a condition, or read before it is written in each iteration stays.

// CHECK-LABEL: loops.func @kept(
// CHECK-NEXT:    %A = loops.alloca
// CHECK-NEXT:    %B = loops.alloca
// CHECK-NEXT:    %C = loops.alloca
// CHECK-NEXT:    %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    loops.for %i in (0, 2) {
// CHECK-NEXT:      loops.store %one, %A[%i]
// CHECK-NEXT:      loops.if (%i < n) {
// CHECK-NEXT:        loops.store %one, %B[0]
// CHECK-NEXT:      }
// CHECK-NEXT:      %b = loops.load %B[0]
// CHECK-NEXT:      loops.store %b, %Y[%i]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %i_1 in (0, n) parallel {
// CHECK-NEXT:      %c = loops.load %C[0]
// CHECK-NEXT:      loops.store %c, %Y[%i_1]
// CHECK-NEXT:      loops.store %one, %C[0]
// CHECK-NEXT:    }
loops.func @kept(%Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %A = loops.alloca : !tir.buffer<[2], f32>
  %B = loops.alloca : !tir.buffer<[1], f32>
  %C = loops.alloca : !tir.buffer<[1], f32>
  %one = arith.constant 1.0 : f32
  loops.for %i in (0, 2) {
    loops.store %one, %A[%i] : !tir.buffer<[2], f32>, f32
    loops.if (%i < n) {
      loops.store %one, %B[0] : !tir.buffer<[1], f32>, f32
    }
    %b = loops.load %B[0] : !tir.buffer<[1], f32> -> f32
    loops.store %b, %Y[%i] : !tir.buffer<[n], f32>, f32
  }
  loops.for %i in (0, n) parallel {
    %c = loops.load %C[0] : !tir.buffer<[1], f32> -> f32
    loops.store %c, %Y[%i] : !tir.buffer<[n], f32>, f32
    loops.store %one, %C[0] : !tir.buffer<[1], f32>, f32
  }
}

// -----

// Scratch memory of which some lanes are read: the value, with 0 in the others.

// CHECK-LABEL: loops.func @masked_read(
// CHECK-NEXT:    %x = loops.load %X[0] : {{.*}} -> vector<16xf32>
// CHECK-NEXT:    %on = loops.mask 12 : vector<16xi1>
// CHECK:         %[[OFF:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK-NEXT:    %[[V:.*]] = loops.lanewise "arith.select"(%on, %x, %[[OFF]])
// CHECK-NEXT:    loops.store %[[V]], %Y[0] : {{.*}}, vector<16xf32>
loops.func @masked_read(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>) noalias {
  %t = loops.alloca : !tir.buffer<[16], f32>
  %x = loops.load %X[0] : !tir.buffer<[16], f32> -> vector<16xf32>
  loops.store %x, %t[0] : !tir.buffer<[16], f32>, vector<16xf32>
  %on = loops.mask 12 : vector<16xi1>
  %v = loops.load %t[0] mask %on : !tir.buffer<[16], f32> -> vector<16xf32>
  loops.store %v, %Y[0] : !tir.buffer<[16], f32>, vector<16xf32>
}

// -----

// An accumulator under equal masks, which only masked lanes are stored of.

// CHECK-LABEL: loops.func @masked_scratch(
// CHECK-NOT:     loops.alloca
// CHECK:         %[[S:.*]] = loops.for %k in (0, 8) carry (%t = %zero : vector<16xf32>) {
// CHECK:           %x = loops.load %X[%k, 0] mask %{{.*}} : {{.*}} -> vector<16xf32>
// CHECK-NEXT:      %s = arith.addf %t, %x {{.*}} : vector<16xf32>
// CHECK-NEXT:      loops.yield %s : vector<16xf32>
// CHECK:         loops.store %[[S]], %Y[0] mask %{{.*}} : {{.*}}, vector<16xf32>
loops.func @masked_scratch(%X: !tir.buffer<[8, 12], f32>, %Y: !tir.buffer<[12], f32>) noalias {
  %t = loops.alloca : !tir.buffer<[16], f32>
  %z = arith.constant 0.0 : f32
  %zero = vector.broadcast %z : f32 to vector<16xf32>
  %m0 = loops.mask 12 : vector<16xi1>
  loops.store %zero, %t[0] mask %m0 : !tir.buffer<[16], f32>, vector<16xf32>
  loops.for %k in (0, 8) {
    %m1 = loops.mask 12 : vector<16xi1>
    %a = loops.load %t[0] mask %m1 : !tir.buffer<[16], f32> -> vector<16xf32>
    %x = loops.load %X[%k, 0] mask %m1 : !tir.buffer<[8, 12], f32> -> vector<16xf32>
    %s = arith.addf %a, %x : vector<16xf32>
    loops.store %s, %t[0] mask %m1 : !tir.buffer<[16], f32>, vector<16xf32>
  }
  %m2 = loops.mask 12 : vector<16xi1>
  %r = loops.load %t[0] mask %m2 : !tir.buffer<[16], f32> -> vector<16xf32>
  loops.store %r, %Y[0] mask %m2 : !tir.buffer<[12], f32>, vector<16xf32>
}

// -----

// The last vector of a row is under a mask, the others are whole.

// CHECK-LABEL: loops.func @masked_tail(
// CHECK-NOT:     loops.alloca
// CHECK:         loops.store %x, %Y[0] : {{.*}}, vector<8xf32>
// CHECK-NEXT:    loops.store %y, %Y[8] mask %on : {{.*}}, vector<8xf32>
loops.func @masked_tail(%X: !tir.buffer<[12], f32>, %Y: !tir.buffer<[12], f32>) noalias {
  %t = loops.alloca : !tir.buffer<[12], f32>
  %on = loops.mask 4 : vector<8xi1>
  %x = loops.load %X[0] : !tir.buffer<[12], f32> -> vector<8xf32>
  loops.store %x, %t[0] : !tir.buffer<[12], f32>, vector<8xf32>
  %y = loops.load %X[8] mask %on : !tir.buffer<[12], f32> -> vector<8xf32>
  loops.store %y, %t[8] mask %on : !tir.buffer<[12], f32>, vector<8xf32>
  %a = loops.load %t[0] : !tir.buffer<[12], f32> -> vector<8xf32>
  loops.store %a, %Y[0] : !tir.buffer<[12], f32>, vector<8xf32>
  %b = loops.load %t[8] mask %on : !tir.buffer<[12], f32> -> vector<8xf32>
  loops.store %b, %Y[8] mask %on : !tir.buffer<[12], f32>, vector<8xf32>
}

// -----

// Lanes that another store leaves are read: memory.

// CHECK-LABEL: loops.func @unequal_masks(
// CHECK-NEXT:    %t = loops.alloca
// CHECK:         loops.load %t[0] mask
loops.func @unequal_masks(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[12], f32>) noalias {
  %t = loops.alloca : !tir.buffer<[16], f32>
  %x = loops.load %X[0] : !tir.buffer<[16], f32> -> vector<16xf32>
  %m0 = loops.mask 8 : vector<16xi1>
  loops.store %x, %t[0] mask %m0 : !tir.buffer<[16], f32>, vector<16xf32>
  %m1 = loops.mask 12 : vector<16xi1>
  %r = loops.load %t[0] mask %m1 : !tir.buffer<[16], f32> -> vector<16xf32>
  loops.store %r, %Y[0] mask %m1 : !tir.buffer<[12], f32>, vector<16xf32>
}

// -----

// The mask of an accumulator may be computed in the loop, if it is the same each time.

// CHECK-LABEL: loops.func @mask_in_the_loop(
// CHECK-NEXT:    %[[M:.*]] = loops.mask n : vector<16xi1>
// CHECK-NEXT:    %[[Y:.*]] = loops.load %Y[0] mask %[[M]]
// CHECK-NEXT:    %{{.*}} = loops.for %k in (0, 8) carry (%{{.*}} = %[[Y]] : vector<16xf32>) {
loops.func @mask_in_the_loop(%X: !tir.buffer<[8, n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  loops.for %k in (0, 8) {
    %m = loops.mask n : vector<16xi1>
    %y = loops.load %Y[0] mask %m : !tir.buffer<[n], f32> -> vector<16xf32>
    %x = loops.load %X[%k, 0] mask %m : !tir.buffer<[8, n], f32> -> vector<16xf32>
    %s = arith.addf %y, %x : vector<16xf32>
    loops.store %s, %Y[0] mask %m : !tir.buffer<[n], f32>, vector<16xf32>
  }
}

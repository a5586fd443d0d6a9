// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=sliding-windows}' --split-input-file | filecheck %s

// A depthwise convolution. There is no padded copy: the loop over rows of the window runs over those
// that exist, and both tiles, of five and of four results, know which columns do.

// CHECK-LABEL: tir.prim_func @depthwise
// CHECK-NOT:     "pad_temp"
// CHECK:         tir.for %[[ROW:.*]] in (0, 9) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 2) {
// CHECK-NEXT:          tir.alloc_buffer "S" : !tir.buffer<[1, 1, 5, 8], f32>
// CHECK-NEXT:          tir.for %{{.*}} in (0, 5) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:              tir.block "conv_sum_init_i10"
// CHECK:               tir.for %{{.*}} in (max(-%[[ROW]] + 1, 0), -max(-%[[ROW]] + 1, 0) + min(-%[[ROW]] + 10, 3)) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 5) unrolled {
// CHECK-NEXT:                tir.for %{{.*}} in (0, 3) unrolled {
// CHECK-NEXT:                  tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                    tir.block "conv_sum_update_i10"
// CHECK:                           scf.if
// CHECK:               tir.for %{{.*}} in (0, 5) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 1) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                tir.block "T_relu_i10"
// CHECK:           tir.for %{{.*}} in (1, 1) {
// CHECK:                   tir.for %{{.*}} in (0, 4) unrolled {
// CHECK:                     tir.block "T_relu_i11"
tir.prim_func @depthwise(%x: !tir.buffer<[1, 9, 9, 16], f32>, %W: !tir.buffer<[3, 3, 1, 16], f32>, %b: !tir.buffer<[1, 1, 1, 16], f32>, %y: !tir.buffer<[1, 9, 9, 16], f32>) {
  %S = tir.alloc_buffer "S" : !tir.buffer<[1, 9, 9, 16], f32>
  %P = tir.alloc_buffer "P" : !tir.buffer<[1, 11, 11, 16], f32>
  tir.for %i0 in (0, 1) {
    tir.for %i1 in (0, 11) {
      tir.for %i2 in (0, 11) {
        tir.for %i3 in (0, 16) {
          tir.block "pad_temp" (%v_i0: spatial (0, 1) = %i0, %v_i1: spatial (0, 11) = %i1, %v_i2: spatial (0, 11) = %i2, %v_i3: spatial (0, 16) = %i3) reads (%x[%v_i0, %v_i1 - 1, %v_i2 - 1, %v_i3]) writes (%P[%v_i0, %v_i1, %v_i2, %v_i3]) {
            %0 = tir.apply %v_i1
            %1 = tir.apply 1
            %2 = arith.cmpi sge, %0, %1 : index
            %3 = tir.apply %v_i1
            %4 = tir.apply 10
            %5 = arith.cmpi slt, %3, %4 : index
            %6 = arith.andi %2, %5 : i1
            %7 = tir.apply %v_i2
            %8 = tir.apply 1
            %9 = arith.cmpi sge, %7, %8 : index
            %10 = arith.andi %6, %9 : i1
            %11 = tir.apply %v_i2
            %12 = tir.apply 10
            %13 = arith.cmpi slt, %11, %12 : index
            %14 = arith.andi %10, %13 : i1
            %15 = scf.if %14 -> (f32) {
              %16 = tir.load %x[%v_i0, %v_i1 - 1, %v_i2 - 1, %v_i3] : !tir.buffer<[1, 9, 9, 16], f32>
              scf.yield %16 : f32
            } else {
              %17 = arith.constant 0.000000e+00 : f32
              scf.yield %17 : f32
            }
            tir.store %15, %P[%v_i0, %v_i1, %v_i2, %v_i3] : !tir.buffer<[1, 11, 11, 16], f32>
          }
        }
      }
    }
  }
  tir.for %n in (0, 1) {
    tir.for %i0_2 in (0, 9) {
      tir.for %i1_2 in (0, 9) {
        tir.for %i2_2 in (0, 16) {
          tir.for %r0 in (0, 3) {
            tir.for %r1 in (0, 3) {
              tir.for %ri in (0, 1) {
                tir.block "conv_sum" (%v_n: spatial (0, 1) = %n, %v_i0_2: spatial (0, 9) = %i0_2, %v_i1_2: spatial (0, 9) = %i1_2, %v_i2_2: spatial (0, 16) = %i2_2, %v_r0: reduce (0, 3) = %r0, %v_r1: reduce (0, 3) = %r1, %v_ri: reduce (0, 1) = %ri) reads (%P[%v_n, %v_i0_2 + %v_r0, %v_i1_2 + %v_r1, %v_i2_2], %W[%v_r0, %v_r1, %v_ri, %v_i2_2]) writes (%S[%v_n, %v_i0_2, %v_i1_2, %v_i2_2]) {
                  tir.init {
                    %19 = arith.constant 0.000000e+00 : f32
                    tir.store %19, %S[%v_n, %v_i0_2, %v_i1_2, %v_i2_2] : !tir.buffer<[1, 9, 9, 16], f32>
                  }
                  %20 = tir.load %S[%v_n, %v_i0_2, %v_i1_2, %v_i2_2] : !tir.buffer<[1, 9, 9, 16], f32>
                  %21 = tir.load %P[%v_n, %v_i0_2 + %v_r0, %v_i1_2 + %v_r1, %v_i2_2] : !tir.buffer<[1, 11, 11, 16], f32>
                  %22 = tir.load %W[%v_r0, %v_r1, %v_ri, %v_i2_2] : !tir.buffer<[3, 3, 1, 16], f32>
                  %23 = arith.mulf %21, %22 : f32
                  %24 = arith.addf %20, %23 : f32
                  tir.store %24, %S[%v_n, %v_i0_2, %v_i1_2, %v_i2_2] : !tir.buffer<[1, 9, 9, 16], f32>
                }
              }
            }
          }
        }
      }
    }
  }
  tir.for %i0_3 in (0, 1) {
    tir.for %i1_3 in (0, 9) {
      tir.for %i2_3 in (0, 9) {
        tir.for %i3_2 in (0, 16) {
          tir.block "T_relu" (%v_i0_3: spatial (0, 1) = %i0_3, %v_i1_3: spatial (0, 9) = %i1_3, %v_i2_3: spatial (0, 9) = %i2_3, %v_i3_2: spatial (0, 16) = %i3_2) reads (%S[0, %v_i1_3, %v_i2_3, %v_i3_2], %b[0, 0, 0, %v_i3_2]) writes (%y[%v_i0_3, %v_i1_3, %v_i2_3, %v_i3_2]) {
            %25 = tir.load %S[0, %v_i1_3, %v_i2_3, %v_i3_2] : !tir.buffer<[1, 9, 9, 16], f32>
            %26 = tir.load %b[0, 0, 0, %v_i3_2] : !tir.buffer<[1, 1, 1, 16], f32>
            %27 = arith.addf %25, %26 : f32
            %28 = arith.constant 0.000000e+00 : f32
            %29 = arith.maximumf %27, %28 : f32
            tir.store %29, %y[%v_i0_3, %v_i1_3, %v_i2_3, %v_i3_2] : !tir.buffer<[1, 9, 9, 16], f32>
          }
        }
      }
    }
  }
}

// -----

// A max pool. The tiles at both ends are apart from those that read no padding.

// CHECK-LABEL: tir.prim_func @max_pool
// CHECK:         tir.for %[[ROW:.*]] in (0, n) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 1) {
// CHECK:             tir.for %{{.*}} in (max(-%[[ROW]] * 2 + 1, 0),
// CHECK:               tir.block "Y_update_w0"
// CHECK:                 scf.if
// CHECK:           tir.for %{{.*}} in (1, 2) {
// CHECK:             tir.for %{{.*}} in (max(-%[[ROW]] * 2 + 1, 0),
// CHECK-NEXT:          tir.for %{{.*}} in (0, 8) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 3) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                tir.block "Y_update_w1"
// CHECK-NOT:                   scf.if
// CHECK:           tir.for %{{.*}} in (3, 1) {
// CHECK:               tir.block "Y_update_w2"
// CHECK:                 scf.if
tir.prim_func @max_pool(%X: !tir.buffer<[2 * n, 63, 16], f32>, %Y: !tir.buffer<[n, 32, 16], f32>) {
  tir.for %h in (0, n) {
    tir.for %w in (0, 32) {
      tir.for %c in (0, 16) {
        tir.for %r in (0, 3) {
          tir.for %s in (0, 3) {
            tir.block "Y" (%vh: spatial (0, n) = %h, %vw: spatial (0, 32) = %w, %vc: spatial (0, 16) = %c, %vr: reduce (0, 3) = %r, %vs: reduce (0, 3) = %s) reads (%X[%vh * 2 + %vr - 1, %vw * 2 + %vs - 1, %vc]) writes (%Y[%vh, %vw, %vc]) {
              tir.init {
                %start = arith.constant 0xFF800000 : f32
                tir.store %start, %Y[%vh, %vw, %vc] : !tir.buffer<[n, 32, 16], f32>
              }
              %lowest = arith.constant 0xFF800000 : f32
              %old = tir.load %Y[%vh, %vw, %vc] : !tir.buffer<[n, 32, 16], f32>
              %row = tir.apply %vh * 2 + %vr
              %column = tir.apply %vw * 2 + %vs
              %one = tir.apply 1
              %rows = tir.apply 2 * n + 1
              %columns = tir.apply 64
              %a = arith.cmpi sge, %row, %one : index
              %b = arith.cmpi slt, %row, %rows : index
              %c0 = arith.cmpi sge, %column, %one : index
              %d = arith.cmpi slt, %column, %columns : index
              %ab = arith.andi %a, %b : i1
              %abc = arith.andi %ab, %c0 : i1
              %inside = arith.andi %abc, %d : i1
              %x = scf.if %inside -> (f32) {
                %e = tir.load %X[%vh * 2 + %vr - 1, %vw * 2 + %vs - 1, %vc] : !tir.buffer<[2 * n, 63, 16], f32>
                scf.yield %e : f32
              } else {
                scf.yield %lowest : f32
              }
              %new = arith.maximumf %old, %x : f32
              tir.store %new, %Y[%vh, %vw, %vc] : !tir.buffer<[n, 32, 16], f32>
            }
          }
        }
      }
    }
  }
}

// -----

// Windows that share no elements, of one operand: a tile would load as much.

// CHECK-LABEL: tir.prim_func @apart
// CHECK-NEXT:    tir.for %w in (0, 32) {
// CHECK-NEXT:      tir.for %c in (0, 16) {
// CHECK-NEXT:        tir.for %s in (0, 2) {
// CHECK-NEXT:          tir.block "Y"
tir.prim_func @apart(%X: !tir.buffer<[64, 16], f32>, %Y: !tir.buffer<[32, 16], f32>) {
  tir.for %w in (0, 32) {
    tir.for %c in (0, 16) {
      tir.for %s in (0, 2) {
        tir.block "Y" (%vw: spatial (0, 32) = %w, %vc: spatial (0, 16) = %c, %vs: reduce (0, 2) = %s) reads (%X[%vw * 2 + %vs, %vc]) writes (%Y[%vw, %vc]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %Y[%vw, %vc] : !tir.buffer<[32, 16], f32>
          }
          %old = tir.load %Y[%vw, %vc] : !tir.buffer<[32, 16], f32>
          %x = tir.load %X[%vw * 2 + %vs, %vc] : !tir.buffer<[64, 16], f32>
          %new = arith.addf %old, %x : f32
          tir.store %new, %Y[%vw, %vc] : !tir.buffer<[32, 16], f32>
        }
      }
    }
  }
}

// -----

// Data in another layout is permuted for as many channels as fit a cache line at a time.

// CHECK-LABEL: tir.prim_func @permuted
// CHECK-NEXT:    tir.for %[[BLOCK:.*]] in (0, 2) {
// CHECK-NEXT:      tir.alloc_buffer "P" : !tir.buffer<[34, 16], f32>
// CHECK:           tir.block "P"
// CHECK:           tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 2) {
// CHECK-NEXT:          tir.alloc_buffer
// CHECK-NEXT:          tir.for %{{.*}} in (0, 8) unrolled {
// CHECK:               tir.for %{{.*}} in (0, 8) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 3) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                tir.block "Y_update"
tir.prim_func @permuted(%X: !tir.buffer<[32, 34], f32>, %W: !tir.buffer<[3, 32], f32>, %Y: !tir.buffer<[32, 32], f32>) {
  %P = tir.alloc_buffer "P" : !tir.buffer<[34, 32], f32>
  tir.for %w in (0, 34) {
    tir.for %c in (0, 32) {
      tir.block "P" (%vw: spatial (0, 34) = %w, %vc: spatial (0, 32) = %c) reads (%X[%vc, %vw]) writes (%P[%vw, %vc]) {
        %x = tir.load %X[%vc, %vw] : !tir.buffer<[32, 34], f32>
        tir.store %x, %P[%vw, %vc] : !tir.buffer<[34, 32], f32>
      }
    }
  }
  tir.for %w in (0, 32) {
    tir.for %c in (0, 32) {
      tir.for %s in (0, 3) {
        tir.block "Y" (%vw: spatial (0, 32) = %w, %vc: spatial (0, 32) = %c, %vs: reduce (0, 3) = %s) reads (%P[%vw + %vs, %vc], %W[%vs, %vc]) writes (%Y[%vw, %vc]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %Y[%vw, %vc] : !tir.buffer<[32, 32], f32>
          }
          %old = tir.load %Y[%vw, %vc] : !tir.buffer<[32, 32], f32>
          %x = tir.load %P[%vw + %vs, %vc] : !tir.buffer<[34, 32], f32>
          %y = tir.load %W[%vs, %vc] : !tir.buffer<[3, 32], f32>
          %product = arith.mulf %x, %y : f32
          %new = arith.addf %old, %product : f32
          tir.store %new, %Y[%vw, %vc] : !tir.buffer<[32, 32], f32>
        }
      }
    }
  }
}

// -----

// Planes: vectors run along the rows, whose windows are two elements apart, and a tile has results of several rows.

// CHECK-LABEL: tir.prim_func @planes
// CHECK-NEXT:    tir.for %{{.*}} in (0, 4) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 2) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 2) {
// CHECK-NEXT:          tir.alloc_buffer
// CHECK-NEXT:          tir.for %{{.*}} in (0, 8) unrolled {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:              tir.block "Y_init"
// CHECK:               tir.for %{{.*}} in (0, 3) {
// CHECK-NEXT:            tir.for %{{.*}} in (0, 8) unrolled {
// CHECK-NEXT:              tir.for %{{.*}} in (0, 3) unrolled {
// CHECK-NEXT:                tir.for %{{.*}} in (0, 8) vectorized {
// CHECK-NEXT:                  tir.block "Y_update"
tir.prim_func @planes(%X: !tir.buffer<[4, 33, 33], f32>, %W: !tir.buffer<[4, 3, 3], f32>, %Y: !tir.buffer<[4, 16, 16], f32>) {
  tir.for %c in (0, 4) {
    tir.for %h in (0, 16) {
      tir.for %w in (0, 16) {
        tir.for %r in (0, 3) {
          tir.for %s in (0, 3) {
            tir.block "Y" (%vc: spatial (0, 4) = %c, %vh: spatial (0, 16) = %h, %vw: spatial (0, 16) = %w, %vr: reduce (0, 3) = %r, %vs: reduce (0, 3) = %s) reads (%X[%vc, %vh * 2 + %vr, %vw * 2 + %vs], %W[%vc, %vr, %vs]) writes (%Y[%vc, %vh, %vw]) {
              tir.init {
                %zero = arith.constant 0.0 : f32
                tir.store %zero, %Y[%vc, %vh, %vw] : !tir.buffer<[4, 16, 16], f32>
              }
              %old = tir.load %Y[%vc, %vh, %vw] : !tir.buffer<[4, 16, 16], f32>
              %x = tir.load %X[%vc, %vh * 2 + %vr, %vw * 2 + %vs] : !tir.buffer<[4, 33, 33], f32>
              %y = tir.load %W[%vc, %vr, %vs] : !tir.buffer<[4, 3, 3], f32>
              %product = arith.mulf %x, %y : f32
              %new = arith.addf %old, %product : f32
              tir.store %new, %Y[%vc, %vh, %vw] : !tir.buffer<[4, 16, 16], f32>
            }
          }
        }
      }
    }
  }
}

// -----

// A sum over the channels too is a contraction, and stays for the rule of these.

// CHECK-LABEL: tir.prim_func @contraction
// CHECK-NEXT:    tir.for %h in (0, 16) {
// CHECK-NEXT:      tir.for %w in (0, 16) {
// CHECK-NEXT:        tir.for %c in (0, 4) {
// CHECK-NEXT:          tir.for %r in (0, 3) {
// CHECK-NEXT:            tir.for %s in (0, 3) {
// CHECK-NEXT:              tir.block "Y"
tir.prim_func @contraction(%X: !tir.buffer<[4, 18, 18], f32>, %W: !tir.buffer<[4, 3, 3], f32>, %Y: !tir.buffer<[16, 16], f32>) {
  tir.for %h in (0, 16) {
    tir.for %w in (0, 16) {
      tir.for %c in (0, 4) {
        tir.for %r in (0, 3) {
          tir.for %s in (0, 3) {
            tir.block "Y" (%vh: spatial (0, 16) = %h, %vw: spatial (0, 16) = %w, %vc: reduce (0, 4) = %c, %vr: reduce (0, 3) = %r, %vs: reduce (0, 3) = %s) reads (%X[%vc, %vh + %vr, %vw + %vs], %W[%vc, %vr, %vs]) writes (%Y[%vh, %vw]) {
              tir.init {
                %zero = arith.constant 0.0 : f32
                tir.store %zero, %Y[%vh, %vw] : !tir.buffer<[16, 16], f32>
              }
              %old = tir.load %Y[%vh, %vw] : !tir.buffer<[16, 16], f32>
              %x = tir.load %X[%vc, %vh + %vr, %vw + %vs] : !tir.buffer<[4, 18, 18], f32>
              %y = tir.load %W[%vc, %vr, %vs] : !tir.buffer<[4, 3, 3], f32>
              %product = arith.mulf %x, %y : f32
              %new = arith.addf %old, %product : f32
              tir.store %new, %Y[%vh, %vw] : !tir.buffer<[16, 16], f32>
            }
          }
        }
      }
    }
  }
}

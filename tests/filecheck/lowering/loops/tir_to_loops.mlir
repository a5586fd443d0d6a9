// RUN: xrelax-opt %s -p convert-tir-to-loops --split-input-file | filecheck %s

// A block's axes are replaced by what they are bound to; a reduction starts before its loop.

// CHECK-LABEL: loops.func @row_sums(
// CHECK-NEXT:    loops.for %i in (0, n) parallel {
// CHECK-NEXT:      %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      loops.store %zero, %Y[%i]
// CHECK-NEXT:      loops.for %k in (0, m) {
// CHECK-NEXT:        %y = loops.load %Y[%i]
// CHECK-NEXT:        %x = loops.load %X[%i, %k]
// CHECK-NEXT:        %s = arith.addf %y, %x : f32
// CHECK-NEXT:        loops.store %s, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @row_sums(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) parallel {
    tir.for %k in (0, m) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, m], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Other loops inside the reduction are repeated for the initialization, with their kinds.

// CHECK-LABEL: loops.func @column_sums(
// CHECK-NEXT:    loops.for %j in (0, 8) vectorized {
// CHECK-NEXT:      %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      loops.store %zero, %Y[%j]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %k in (0, n) {
// CHECK-NEXT:      loops.for %j_1 in (0, 8) vectorized {
// CHECK-NEXT:        %y = loops.load %Y[%j_1]
// CHECK-NEXT:        %x = loops.load %X[%k, %j_1]
// CHECK-NEXT:        %s = arith.addf %y, %x : f32
// CHECK-NEXT:        loops.store %s, %Y[%j_1]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @column_sums(%X: !tir.buffer<[n, 8], f32>, %Y: !tir.buffer<[8], f32>) {
  tir.for %k in (0, n) {
    tir.for %j in (0, 8) vectorized {
      tir.block "Y" (%vj: spatial (0, 8) = %j, %vk: reduce (0, n) = %k) reads (%X[%vk, %vj]) writes (%Y[%vj]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vj] : !tir.buffer<[8], f32>
        }
        %y = tir.load %Y[%vj] : !tir.buffer<[8], f32>
        %x = tir.load %X[%vk, %vj] : !tir.buffer<[n, 8], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vj] : !tir.buffer<[8], f32>
      }
    }
  }
}

// -----

// A predicate becomes a smaller extent of the serial loop that it limits. That of the spatial loop guards the
// initialization too; that of the reduction does not, because an empty sum is 0.

// CHECK-LABEL: loops.func @split(
// CHECK-NEXT:    loops.for %i0 in (0, (n + 7) floordiv 8) {
// CHECK-NEXT:      loops.for %i1 in (0, min(-%i0 * 8 + n, 8)) {
// CHECK-NEXT:        %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        loops.store %zero, %Y[%i0 * 8 + %i1]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %k0 in (0, (m + 3) floordiv 4) {
// CHECK-NEXT:      loops.for %i0_1 in (0, (n + 7) floordiv 8) {
// CHECK-NEXT:        loops.for %i1_1 in (0, min(-%i0_1 * 8 + n, 8)) {
// CHECK-NEXT:          loops.for %k1 in (0, min(-%k0 * 4 + m, 4)) {
// CHECK-NEXT:            %y = loops.load %Y[%i0_1 * 8 + %i1_1]
// CHECK-NEXT:            %x = loops.load %X[%i0_1 * 8 + %i1_1, %k0 * 4 + %k1]
// CHECK-NEXT:            %s = arith.addf %y, %x : f32
// CHECK-NEXT:            loops.store %s, %Y[%i0_1 * 8 + %i1_1]
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @split(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %k0 in (0, (m + 3) floordiv 4) {
    tir.for %i0 in (0, (n + 7) floordiv 8) {
      tir.for %i1 in (0, 8) {
        tir.for %k1 in (0, 4) {
          tir.block "Y" (%vi: spatial (0, n) = %i0 * 8 + %i1, %vk: reduce (0, m) = %k0 * 4 + %k1) where (%i0 * 8 + %i1 < n, %k0 * 4 + %k1 < m) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
            tir.init {
              %zero = arith.constant 0.0 : f32
              tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
            }
            %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
            %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, m], f32>
            %s = arith.addf %y, %x : f32
            tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
          }
        }
      }
    }
  }
}

// -----

// Axes that are a quotient and a remainder of one loop: the initialization runs before that, even where it is empty.

// CHECK-LABEL: loops.func @fused(
// CHECK-NEXT:    %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    loops.store %zero, %Y[]
// CHECK-NEXT:    loops.for %k in (0, m * n) {
// CHECK-NEXT:      %y = loops.load %Y[]
tir.prim_func @fused(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[], f32>) {
  tir.for %k in (0, n * m) {
    tir.block "Y" (%vr: reduce (0, n) = %k floordiv m, %vs: reduce (0, m) = %k mod m) reads (%X[%vr, %vs]) writes (%Y[]) {
      tir.init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %Y[] : !tir.buffer<[], f32>
      }
      %y = tir.load %Y[] : !tir.buffer<[], f32>
      %x = tir.load %X[%vr, %vs] : !tir.buffer<[n, m], f32>
      %s = arith.addf %y, %x : f32
      tir.store %s, %Y[] : !tir.buffer<[], f32>
    }
  }
}

// -----

// A predicate that ties the reduction to the element stays with the initialization.

// CHECK-LABEL: loops.func @triangle(
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      loops.if (%i < n - 2) {
// CHECK-NEXT:        %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        loops.store %zero, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.for %k in (0, min(-%i + n - 2, n)) {
// CHECK-NEXT:        %y = loops.load %Y[%i]
// CHECK-NEXT:        %x = loops.load %X[%i, %k]
// CHECK-NEXT:        %s = arith.addf %y, %x : f32
// CHECK-NEXT:        loops.store %s, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @triangle(%X: !tir.buffer<[n, n], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, n) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, n) = %k) where (%i + %k < n - 2) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, n], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Another statement in the reduction loop reads the partial sums: the condition stays in place. With two
// reduce axes both must be at their first value.

// CHECK-LABEL: loops.func @running_sums(
// CHECK-NEXT:    loops.for %k in (0, n) {
// CHECK-NEXT:      loops.for %l in (0, m) {
// CHECK-NEXT:        loops.if (%k < 1, %l < 1) {
// CHECK-NEXT:          %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          loops.store %zero, %Y[0]
// CHECK-NEXT:        }
// CHECK-NEXT:        %y = loops.load %Y[0]
// CHECK-NEXT:        %x = loops.load %X[%k, %l]
// CHECK-NEXT:        %s = arith.addf %y, %x : f32
// CHECK-NEXT:        loops.store %s, %Y[0]
// CHECK-NEXT:        %y_1 = loops.load %Y[0]
// CHECK-NEXT:        loops.store %y_1, %Z[%k, %l]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @running_sums(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[1], f32>, %Z: !tir.buffer<[n, m], f32>) {
  tir.for %k in (0, n) {
    tir.for %l in (0, m) {
      tir.block "Y" (%vk: reduce (0, n) = %k, %vl: reduce (0, m) = %l) reads (%X[%vk, %vl]) writes (%Y[0]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[0] : !tir.buffer<[1], f32>
        }
        %y = tir.load %Y[0] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk, %vl] : !tir.buffer<[n, m], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[0] : !tir.buffer<[1], f32>
      }
      tir.block "Z" (%vk: spatial (0, n) = %k, %vl: spatial (0, m) = %l) reads (%Y[0]) writes (%Z[%vk, %vl]) {
        %y = tir.load %Y[0] : !tir.buffer<[1], f32>
        tir.store %y, %Z[%vk, %vl] : !tir.buffer<[n, m], f32>
      }
    }
  }
}

// -----

// A loop that binds no axis starts the reduction over: the condition stays in place.

// CHECK-LABEL: loops.func @repeated(
// CHECK-NEXT:    loops.for %k in (0, n) {
// CHECK-NEXT:      loops.for %again in (0, 2) {
// CHECK-NEXT:        loops.if (%k < 1) {
// CHECK-NEXT:          %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          loops.store %zero, %Y[0]
// CHECK-NEXT:        }
// CHECK-NEXT:        %y = loops.load %Y[0]
// CHECK-NEXT:        %x = loops.load %X[%k]
// CHECK-NEXT:        %s = arith.addf %y, %x : f32
// CHECK-NEXT:        loops.store %s, %Y[0]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @repeated(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[1], f32>) {
  tir.for %k in (0, n) {
    tir.for %again in (0, 2) {
      tir.block "Y" (%vk: reduce (0, n) = %k) reads (%X[%vk]) writes (%Y[0]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[0] : !tir.buffer<[1], f32>
        }
        %y = tir.load %Y[0] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[n], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[0] : !tir.buffer<[1], f32>
      }
    }
  }
}

// -----

// A loop of one iteration disappears, and with it the condition that its block was first.

// CHECK-LABEL: loops.func @one_term(
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      loops.store %zero, %Y[%i]
// CHECK-NEXT:      %y = loops.load %Y[%i]
// CHECK-NEXT:      %x = loops.load %X[%i, 0]
// CHECK-NEXT:      %s = arith.addf %y, %x : f32
// CHECK-NEXT:      loops.store %s, %Y[%i]
// CHECK-NEXT:    }
tir.prim_func @one_term(%X: !tir.buffer<[n, 1], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.for %k in (0, 1) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, 1) = %k) reads (%X[%vi, %vk]) writes (%Y[%vi]) {
        tir.init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %Y[%vi] : !tir.buffer<[n], f32>
        }
        %y = tir.load %Y[%vi] : !tir.buffer<[n], f32>
        %x = tir.load %X[%vi, %vk] : !tir.buffer<[n, 1], f32>
        %s = arith.addf %y, %x : f32
        tir.store %s, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Blocks in blocks: the outer one starts tiles, the inner one sums; a view is folded into the accesses.

// CHECK-LABEL: loops.func @tiles(
// CHECK-NEXT:    loops.for %io in (0, 16) {
// CHECK-NEXT:      loops.for %i in (0, 4) {
// CHECK-NEXT:        %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        loops.store %zero, %Y[%io * 4 + %i]
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.for %ko in (0, m) {
// CHECK-NEXT:        loops.for %i_1 in (0, 4) {
// CHECK-NEXT:          %y = loops.load %Y[%io * 4 + %i_1]
// CHECK-NEXT:          %x = loops.load %X[%io * 4 + %i_1, %ko]
// CHECK-NEXT:          %s = arith.addf %y, %x : f32
// CHECK-NEXT:          loops.store %s, %Y[%io * 4 + %i_1]
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @tiles(%X: !tir.buffer<[64, m], f32>, %Y: !tir.buffer<[64], f32>) {
  tir.for %io in (0, 16) {
    tir.for %ko in (0, m) {
      tir.block "tile" (%vio: spatial (0, 16) = %io, %vko: reduce (0, m) = %ko) reads (%X[%vio * 4 : 4, %vko]) writes (%Y[%vio * 4 : 4]) {
        tir.init {
          tir.for %i in (0, 4) {
            tir.block "Y_init" (%vi: spatial (0, 4) = %i) writes (%Y[%vio * 4 + %vi]) {
              %zero = arith.constant 0.0 : f32
              tir.store %zero, %Y[%vio * 4 + %vi] : !tir.buffer<[64], f32>
            }
          }
        }
        %A = tir.match_buffer %X[%vio * 4, %vko] : !tir.buffer<[64, m], f32> to !tir.buffer<[4, 1], f32>
        tir.for %i in (0, 4) {
          tir.block "Y" (%vi: spatial (0, 4) = %i) reads (%A[%vi, 0], %Y[%vio * 4 + %vi]) writes (%Y[%vio * 4 + %vi]) {
            %y = tir.load %Y[%vio * 4 + %vi] : !tir.buffer<[64], f32>
            %x = tir.load %A[%vi, 0] : !tir.buffer<[4, 1], f32>
            %s = arith.addf %y, %x : f32
            tir.store %s, %Y[%vio * 4 + %vi] : !tir.buffer<[64], f32>
          }
        }
      }
    }
  }
}

// -----

// A fused loop: what its range decides is simplified, a view of a view adds up.

// CHECK-LABEL: loops.func @fused(
// CHECK-NEXT:    loops.for %f in (0, 32) {
// CHECK-NEXT:      loops.for %j in (0, 4) {
// CHECK-NEXT:        %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        loops.store %one, %X[%f floordiv 4, %f mod 4 + 2]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @fused(%X: !tir.buffer<[8, n], f32>) {
  tir.for %f in (0, 32) {
    tir.for %j in (0, 4) {
      tir.block "X" (%vi: spatial (0, 8) = (%f * 4 + %j) floordiv 16, %vj: spatial (0, 16) = (%f * 4 + %j) mod 16) writes (%X[%vi, 0 : 16]) {
        %A = tir.match_buffer %X[%vi, 0] : !tir.buffer<[8, n], f32> to !tir.buffer<[n], f32>
        %B = tir.match_buffer %A[2] : !tir.buffer<[n], f32> to !tir.buffer<[n - 2], f32>
        %one = arith.constant 1.0 : f32
        tir.store %one, %B[%vj floordiv 4] : !tir.buffer<[n - 2], f32>
      }
    }
  }
}

// -----

// Indices may be data, data may be indices; control flow on data is kept around converted code.

// CHECK-LABEL: loops.func @gather(
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %raw = loops.load %I[%i]
// CHECK-NEXT:      %at = arith.index_cast %raw : i64 to index
// CHECK-NEXT:      %half = tir.apply m + %i floordiv 2
// CHECK-NEXT:      %limit = arith.index_cast %half : index to i64
// CHECK-NEXT:      %ok = arith.cmpi slt, %raw, %limit : i64
// CHECK-NEXT:      scf.if %ok {
// CHECK-NEXT:        %x = loops.load %X[%at * 2 + 1]
// CHECK-NEXT:        loops.store %x, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
tir.prim_func @gather(%I: !tir.buffer<[n], i64>, %X: !tir.buffer<[m], f32>, %Y: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%I[%vi], %X[0 : m]) writes (%Y[%vi]) {
      %raw = tir.load %I[%vi] : !tir.buffer<[n], i64>
      %at = arith.index_cast %raw : i64 to index
      %half = tir.apply %vi floordiv 2 + m
      %limit = arith.index_cast %half : index to i64
      %ok = arith.cmpi slt, %raw, %limit : i64
      scf.if %ok {
        %x = tir.load %X[%at * 2 + 1] : !tir.buffer<[m], f32>
        tir.store %x, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
}

// -----

// Small scratch buffers are on the stack: of the function, or of the parallel loop that they are in.

// CHECK-LABEL: loops.func @scratch(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) symbols [n] {
// CHECK-NEXT:    %outer = loops.alloca
// CHECK-NEXT:    loops.for %i in (0, n) parallel {
// CHECK-NEXT:      %inner = loops.alloca
// CHECK-NEXT:      loops.for %j in (0, 2) {
// CHECK-NEXT:        %x = loops.load %X[%i]
// CHECK-NEXT:        loops.store %x, %inner[%j]
// CHECK-NEXT:        %t = loops.load %inner[%j]
// CHECK-NEXT:        loops.store %t, %Y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.for %j_1 in (0, 2) {
// CHECK-NEXT:      %c = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      loops.store %c, %outer[%j_1, 0]
// CHECK-NEXT:    }
tir.prim_func @scratch(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) attributes {"tir.noalias" = false} {
  tir.for %i in (0, n) parallel {
    tir.for %j in (0, 2) {
      tir.block "Y" (%vi: spatial (0, n) = %i, %vj: opaque (0, 2) = %j) reads (%X[%vi]) writes (%Y[%vi]) {
        %inner = tir.alloc_buffer : !tir.buffer<[4], f32>
        %x = tir.load %X[%vi] : !tir.buffer<[n], f32>
        tir.store %x, %inner[%vj] : !tir.buffer<[4], f32>
        %t = tir.load %inner[%vj] : !tir.buffer<[4], f32>
        tir.store %t, %Y[%vi] : !tir.buffer<[n], f32>
      }
    }
  }
  tir.for %j in (0, 2) {
    %outer = tir.alloc_buffer : !tir.buffer<[4, 4], f32>
    %c = arith.constant 1.0 : f32
    tir.store %c, %outer[%j, 0] : !tir.buffer<[4, 4], f32>
  }
}

// -----

// Index parameters are symbols, the first ones.

// CHECK-LABEL: loops.func @scaled(%Y: !tir.buffer<[n], f32>, %s: f32, %X: !tir.buffer<[m], f32>) symbols [step, n, m] noalias {
// CHECK-NEXT:    loops.for %i in (0, n) {
// CHECK-NEXT:      %x = loops.load %X[%i * step]
// CHECK-NEXT:      %y = arith.mulf %x, %s : f32
// CHECK-NEXT:      loops.store %y, %Y[%i]
// CHECK-NEXT:    }
tir.prim_func @scaled(%Y: !tir.buffer<[n], f32>, %s: f32, %step: index, %X: !tir.buffer<[m], f32>) {
  tir.for %i in (0, n) {
    %x = tir.load %X[%i * step] : !tir.buffer<[m], f32>
    %y = arith.mulf %x, %s : f32
    tir.store %y, %Y[%i] : !tir.buffer<[n], f32>
  }
}

// -----

// Lanes that only accumulate may be fewer at the end, like the iterations of a serial loop.

// CHECK-LABEL: loops.func @accumulating_lanes(
// CHECK:           loops.for %k1 in (0, min(-%k0 * 16 + 100, 16)) vectorized {
// CHECK-NEXT:        %y = loops.load %Y[0]
tir.prim_func @accumulating_lanes(%X: !tir.buffer<[100], f32>, %Y: !tir.buffer<[1], f32>) {
  tir.for %k0 in (0, 7) {
    tir.for %k1 in (0, 16) vectorized {
      tir.block "Y" (%vk: reduce (0, 100) = %k0 * 16 + %k1) where (%k0 * 16 + %k1 < 100) reads (%X[%vk]) writes (%Y[0]) {
        %y = tir.load %Y[0] : !tir.buffer<[1], f32>
        %x = tir.load %X[%vk] : !tir.buffer<[100], f32>
        %z = arith.addf %y, %x : f32
        tir.store %z, %Y[0] : !tir.buffer<[1], f32>
      }
    }
  }
}

// -----

// A function gets the memory of a view from its first element on.

// CHECK-LABEL: loops.func @passed(
// CHECK:           [[FIRST:%.*]] = tir.apply %i * 16 + 4
// CHECK-NEXT:      [[VIEW:%.*]] = loops.view %Y at [[FIRST]] : !tir.buffer<[8, 16], f32> to !tir.buffer<[4], f32>
// CHECK-NEXT:      tir.call_extern "fill"([[VIEW]])
tir.prim_func @passed(%Y: !tir.buffer<[8, 16], f32>) {
  tir.for %i in (0, 8) {
    %B = tir.match_buffer %Y[%i, 4] : !tir.buffer<[8, 16], f32> to !tir.buffer<[4], f32>
    tir.call_extern "fill"(%B) : (!tir.buffer<[4], f32>) -> ()
  }
}

// -----

// What a block with the annotation stores need not stay in the caches.

// CHECK-LABEL: loops.func @nontemporal(
// CHECK:         loops.store %y, %Y[%i] nontemporal : {{.*}}, f32
// CHECK:         loops.store %z, %Z[%i] : {{.*}}, f32
tir.prim_func @nontemporal(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %Z: !tir.buffer<[n], f32>) {
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) reads (%X[%vi]) writes (%Y[%vi]) annotations {nontemporal = true} {
      %y = tir.load %X[%vi] : !tir.buffer<[n], f32>
      tir.store %y, %Y[%vi] : !tir.buffer<[n], f32>
    }
    tir.block "Z" (%vi: spatial (0, n) = %i) reads (%X[%vi]) writes (%Z[%vi]) {
      %z = tir.load %X[%vi] : !tir.buffer<[n], f32>
      tir.store %z, %Z[%vi] : !tir.buffer<[n], f32>
    }
  }
}

// -----

// A loop of one iteration goes away, and its variable is where it starts.

// CHECK-LABEL: loops.func @one(
// CHECK-NEXT:    %one = arith.constant
// CHECK-NEXT:    loops.store %one, %Y[3]
tir.prim_func @one(%Y: !tir.buffer<[4], f32>) {
  tir.for %i in (3, 1) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads () writes (%Y[%v]) {
      %one = arith.constant 1.0 : f32
      tir.store %one, %Y[%v] : !tir.buffer<[4], f32>
    }
  }
}

// -----

// The annotation of a reduction loop says how long the blocks of its sums are.

// CHECK-LABEL: loops.func @blocks(
// CHECK:         loops.for %k in (0, 64) block 16 {
tir.prim_func @blocks(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[1], f32>) {
  tir.for %k in (0, 64) annotations {sum_block = 16 : i64} {
    tir.block "Y" (%v: reduce (0, 64) = %k) reads (%X[%v]) writes (%Y[0]) {
      %x = tir.load %X[%v] : !tir.buffer<[64], f32>
      %y = tir.load %Y[0] : !tir.buffer<[1], f32>
      %t = arith.addf %y, %x : f32
      tir.store %t, %Y[0] : !tir.buffer<[1], f32>
    }
  }
}

// -----

// A conversion to integers saturates: clipping to their range before is not done twice.

// CHECK-LABEL: loops.func @clips(
// CHECK:         %x = loops.load %X[%i]
// CHECK:         %y = arith.fptosi %x : f32 to i8
// CHECK:         loops.store %y, %Y[%i]
// CHECK-LABEL: loops.func @narrower(
// CHECK:         %l = arith.maximumf
// CHECK:         arith.fptosi %l : f32 to i8
tir.prim_func @clips(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], i8>) {
  tir.for %i in (0, 4) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[4], f32>
      %most = arith.constant 127.0 : f32
      %m = arith.minimumf %x, %most : f32
      %least = arith.constant -128.0 : f32
      %l = arith.maximumf %m, %least : f32
      %y = arith.fptosi %l : f32 to i8
      tir.store %y, %Y[%v] : !tir.buffer<[4], i8>
    }
  }
}
tir.prim_func @narrower(%X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], i8>) {
  tir.for %i in (0, 4) {
    tir.block "Y" (%v: spatial (0, 4) = %i) reads (%X[%v]) writes (%Y[%v]) {
      %x = tir.load %X[%v] : !tir.buffer<[4], f32>
      %least = arith.constant -127.0 : f32
      %l = arith.maximumf %x, %least : f32
      %y = arith.fptosi %l : f32 to i8
      tir.store %y, %Y[%v] : !tir.buffer<[4], i8>
    }
  }
}

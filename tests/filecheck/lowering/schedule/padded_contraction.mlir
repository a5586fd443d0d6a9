// RUN: xrelax-opt %s -p 'schedule-default{target="llvm -mcpu=haswell" rules=contractions}' | filecheck %s

// A convolution of a padded image. The sums of a tile leave out the rows of the window that are
// padding: the first one for the first row of results, the last one for the last row.

// CHECK-LABEL: tir.prim_func @convolution
// CHECK:       tir.for %r in (max(-%i_1 + 1, 0), -max(-%i_1 + 1, 0) + min(-%i_1 + 8, 3)) {
// CHECK:         tir.block "S_update"
tir.prim_func @convolution(%X: !tir.buffer<[7, 9, 4], f32>, %W: !tir.buffer<[3, 3, 4, 8], f32>, %S: !tir.buffer<[7, 7, 8], f32>) {
  %P = tir.alloc_buffer "P" : !tir.buffer<[9, 9, 4], f32>
  tir.for %i in (0, 9) {
    tir.for %j in (0, 9) {
      tir.for %k in (0, 4) {
        tir.block "P" (%vi: spatial (0, 9) = %i, %vj: spatial (0, 9) = %j, %vk: spatial (0, 4) = %k) reads (%X[%vi - 1, %vj, %vk]) writes (%P[%vi, %vj, %vk]) {
          %row = tir.apply %vi
          %first = tir.apply 1
          %end = tir.apply 8
          %is_after = arith.cmpi sge, %row, %first : index
          %is_before = arith.cmpi slt, %row, %end : index
          %is_inside = arith.andi %is_after, %is_before : i1
          %p = scf.if %is_inside -> (f32) {
            %x = tir.load %X[%vi - 1, %vj, %vk] : !tir.buffer<[7, 9, 4], f32>
            scf.yield %x : f32
          } else {
            %zero = arith.constant 0.0 : f32
            scf.yield %zero : f32
          }
          tir.store %p, %P[%vi, %vj, %vk] : !tir.buffer<[9, 9, 4], f32>
        }
      }
    }
  }
  tir.for %i in (0, 7) {
    tir.for %j in (0, 7) {
      tir.for %o in (0, 8) {
        tir.for %r in (0, 3) {
          tir.for %s in (0, 3) {
            tir.for %k in (0, 4) {
              tir.block "S" (%vi: spatial (0, 7) = %i, %vj: spatial (0, 7) = %j, %vo: spatial (0, 8) = %o, %vr: reduce (0, 3) = %r, %vs: reduce (0, 3) = %s, %vk: reduce (0, 4) = %k) reads (%P[%vi + %vr, %vj + %vs, %vk], %W[%vr, %vs, %vk, %vo]) writes (%S[%vi, %vj, %vo]) {
                tir.init {
                  %zero = arith.constant 0.0 : f32
                  tir.store %zero, %S[%vi, %vj, %vo] : !tir.buffer<[7, 7, 8], f32>
                }
                %y = tir.load %S[%vi, %vj, %vo] : !tir.buffer<[7, 7, 8], f32>
                %x = tir.load %P[%vi + %vr, %vj + %vs, %vk] : !tir.buffer<[9, 9, 4], f32>
                %w = tir.load %W[%vr, %vs, %vk, %vo] : !tir.buffer<[3, 3, 4, 8], f32>
                %p = arith.mulf %x, %w : f32
                %q = arith.addf %y, %p : f32
                tir.store %q, %S[%vi, %vj, %vo] : !tir.buffer<[7, 7, 8], f32>
              }
            }
          }
        }
      }
    }
  }
}

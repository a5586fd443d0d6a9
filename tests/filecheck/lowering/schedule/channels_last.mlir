// RUN: xrelax-opt %s -p 'schedule-default{rules=channels-last}' --split-input-file | filecheck %s

// The operands and the result of a convolution are copied, with channels last.

// CHECK-LABEL: tir.prim_func @nchw
// CHECK:         tir.block "W_global" ({{.*}}) reads (%W[%[[O:[^,]*]], %[[I:[^,]*]], %[[R:[^,]*]], %[[S:[^,]*]]]) writes (%W_global[%[[R]], %[[S]], %[[I]], %[[O]]])
// CHECK:         tir.block "X_global" ({{.*}}) reads (%X[%[[N:[^,]*]], %[[C:[^,]*]], %[[H:[^,]*]], %[[V:[^,]*]]]) writes (%X_global[%[[N]], %[[H]], %[[V]], %[[C]]])
// CHECK:         tir.block "conv"
// CHECK-SAME:      reads (%X_global[%[[N:[^,]*]], %[[H:[^,]*]] + %[[R:[^,]*]], %[[V:[^,]*]] + %[[S:[^,]*]], %[[I:[^,]*]]], %W_global[%[[R]], %[[S]], %[[I]], %[[O:[^,]*]]]) writes (%Y_global[%[[N]], %[[H]], %[[V]], %[[O]]])
// CHECK:         tir.block "Y_global" ({{.*}}) reads (%Y_global[%[[N:[^,]*]], %[[H:[^,]*]], %[[V:[^,]*]], %[[O:[^,]*]]]) writes (%Y[%[[N]], %[[O]], %[[H]], %[[V]]])
tir.prim_func @nchw(%X: !tir.buffer<[2, 3, 8, 8], f32>, %W: !tir.buffer<[4, 3, 3, 3], f32>, %Y: !tir.buffer<[2, 4, 6, 6], f32>) {
  tir.for %n in (0, 2) {
    tir.for %o in (0, 4) {
      tir.for %h in (0, 6) {
        tir.for %w in (0, 6) {
          tir.for %i in (0, 3) {
            tir.for %r in (0, 3) {
              tir.for %s in (0, 3) {
                tir.block "conv" (%vn: spatial (0, 2) = %n, %vo: spatial (0, 4) = %o, %vh: spatial (0, 6) = %h, %vw: spatial (0, 6) = %w, %vi: reduce (0, 3) = %i, %vr: reduce (0, 3) = %r, %vs: reduce (0, 3) = %s) reads (%X[%vn, %vi, %vh + %vr, %vw + %vs], %W[%vo, %vi, %vr, %vs]) writes (%Y[%vn, %vo, %vh, %vw]) {
                  tir.init {
                    %z = arith.constant 0.0 : f32
                    tir.store %z, %Y[%vn, %vo, %vh, %vw] : !tir.buffer<[2, 4, 6, 6], f32>
                  }
                  %y = tir.load %Y[%vn, %vo, %vh, %vw] : !tir.buffer<[2, 4, 6, 6], f32>
                  %x = tir.load %X[%vn, %vi, %vh + %vr, %vw + %vs] : !tir.buffer<[2, 3, 8, 8], f32>
                  %c = tir.load %W[%vo, %vi, %vr, %vs] : !tir.buffer<[4, 3, 3, 3], f32>
                  %p = arith.mulf %x, %c : f32
                  %t = arith.addf %y, %p : f32
                  tir.store %t, %Y[%vn, %vo, %vh, %vw] : !tir.buffer<[2, 4, 6, 6], f32>
                }
              }
            }
          }
        }
      }
    }
  }
}

// -----

// What has its channels last already stays, and so does what has no windows.

// CHECK-LABEL: tir.prim_func @last
// CHECK-NOT:     tir.alloc_buffer
// CHECK-LABEL: tir.prim_func @product
// CHECK-NOT:     tir.alloc_buffer
tir.prim_func @last(%X: !tir.buffer<[8, 3], f32>, %W: !tir.buffer<[3, 3, 4], f32>, %Y: !tir.buffer<[6, 4], f32>) {
  tir.for %w in (0, 6) {
    tir.for %o in (0, 4) {
      tir.for %s in (0, 3) {
        tir.for %i in (0, 3) {
          tir.block "conv" (%vw: spatial (0, 6) = %w, %vo: spatial (0, 4) = %o, %vs: reduce (0, 3) = %s, %vi: reduce (0, 3) = %i) reads (%X[%vw + %vs, %vi], %W[%vs, %vi, %vo]) writes (%Y[%vw, %vo]) {
            tir.init {
              %z = arith.constant 0.0 : f32
              tir.store %z, %Y[%vw, %vo] : !tir.buffer<[6, 4], f32>
            }
            %y = tir.load %Y[%vw, %vo] : !tir.buffer<[6, 4], f32>
            %x = tir.load %X[%vw + %vs, %vi] : !tir.buffer<[8, 3], f32>
            %c = tir.load %W[%vs, %vi, %vo] : !tir.buffer<[3, 3, 4], f32>
            %p = arith.mulf %x, %c : f32
            %t = arith.addf %y, %p : f32
            tir.store %t, %Y[%vw, %vo] : !tir.buffer<[6, 4], f32>
          }
        }
      }
    }
  }
}
tir.prim_func @product(%X: !tir.buffer<[6, 3], f32>, %W: !tir.buffer<[4, 3], f32>, %Y: !tir.buffer<[4, 6], f32>) {
  tir.for %o in (0, 4) {
    tir.for %w in (0, 6) {
      tir.for %i in (0, 3) {
        tir.block "product" (%vo: spatial (0, 4) = %o, %vw: spatial (0, 6) = %w, %vi: reduce (0, 3) = %i) reads (%X[%vw, %vi], %W[%vo, %vi]) writes (%Y[%vo, %vw]) {
          tir.init {
            %z = arith.constant 0.0 : f32
            tir.store %z, %Y[%vo, %vw] : !tir.buffer<[4, 6], f32>
          }
          %y = tir.load %Y[%vo, %vw] : !tir.buffer<[4, 6], f32>
          %x = tir.load %X[%vw, %vi] : !tir.buffer<[6, 3], f32>
          %c = tir.load %W[%vo, %vi] : !tir.buffer<[4, 3], f32>
          %p = arith.mulf %x, %c : f32
          %t = arith.addf %y, %p : f32
          tir.store %t, %Y[%vo, %vw] : !tir.buffer<[4, 6], f32>
        }
      }
    }
  }
}

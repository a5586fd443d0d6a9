// RUN: xrelax-opt %s -p split-layout-rewrite-preproc --check --split-input-file | filecheck %s

// The copy of a weight becomes a kernel, whose result is passed in place of the weight.

// CHECK-LABEL: tir.prim_func @f_weight_prepack(
// CHECK-SAME:      %W: !tir.buffer<[4, 6], f32>, %V: !tir.buffer<[6, 4], f32>) attributes {private} {
// CHECK:         tir.block "V"
// CHECK-NOT:     annotations
// CHECK:         tir.store %{{.*}}, %V[%v_j, %v_i]
// CHECK-NOT:     tir.alloc_buffer
// CHECK-LABEL: tir.prim_func @f_prepacked(
// CHECK-SAME:      %X: !tir.buffer<[4, 6], f32>, %V: !tir.buffer<[6, 4], f32>, %Y: !tir.buffer<[4, 6], f32>)
// CHECK-NOT:     tir.block "V"
// CHECK:         tir.block "Y"
// CHECK-SAME:        reads (%X[%v_i, %v_j], %V[%v_j, %v_i])
tir.prim_func @f(%X: !tir.buffer<[4, 6], f32>, %W: !tir.buffer<[4, 6], f32>, %Y: !tir.buffer<[4, 6], f32>) attributes {private, layout_free_buffers = [1]} {
  %V = tir.alloc_buffer : !tir.buffer<[6, 4], f32>
  tir.for %i in (0, 4) {
    tir.for %j in (0, 6) {
      tir.block "V" (%v_i: spatial (0, 4) = %i, %v_j: spatial (0, 6) = %j) reads (%W[%v_i, %v_j]) writes (%V[%v_j, %v_i]) annotations {"meta_schedule.layout_rewrite_preproc" = true} {
        %0 = tir.load %W[%v_i, %v_j] : !tir.buffer<[4, 6], f32>
        tir.store %0, %V[%v_j, %v_i] : !tir.buffer<[6, 4], f32>
      }
    }
  }
  tir.for %i in (0, 4) {
    tir.for %j in (0, 6) {
      tir.block "Y" (%v_i: spatial (0, 4) = %i, %v_j: spatial (0, 6) = %j) reads (%X[%v_i, %v_j], %V[%v_j, %v_i]) writes (%Y[%v_i, %v_j]) {
        %0 = tir.load %X[%v_i, %v_j] : !tir.buffer<[4, 6], f32>
        %1 = tir.load %V[%v_j, %v_i] : !tir.buffer<[6, 4], f32>
        %2 = arith.addf %0, %1 : f32
        tir.store %2, %Y[%v_i, %v_j] : !tir.buffer<[4, 6], f32>
      }
    }
  }
}

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %0 = relax.call_tir @f_weight_prepack(%w)
// CHECK-NEXT:    %y = relax.call_tir @f_prepacked(%x, %0)
relax.func @main(%x: !relax.tensor<[4, 6], f32>, %w: !relax.tensor<[4, 6], f32>) -> !relax.tensor<[4, 6], f32> {
  %y = relax.call_tir @f(%x, %w) : (!relax.tensor<[4, 6], f32>, !relax.tensor<[4, 6], f32>) -> !relax.tensor<[4, 6], f32>
  relax.return %y : !relax.tensor<[4, 6], f32>
}

// -----

// A weight that the kernel also reads itself stays.

// CHECK-LABEL: tir.prim_func @f(
tir.prim_func @f(%W: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) attributes {private} {
  %V = tir.alloc_buffer : !tir.buffer<[4], f32>
  tir.for %i in (0, 4) {
    tir.block "V" (%v_i: spatial (0, 4) = %i) reads (%W[%v_i]) writes (%V[%v_i]) annotations {"meta_schedule.layout_rewrite_preproc" = true} {
      %0 = tir.load %W[%v_i] : !tir.buffer<[4], f32>
      tir.store %0, %V[%v_i] : !tir.buffer<[4], f32>
    }
  }
  tir.for %i in (0, 4) {
    tir.block "Y" (%v_i: spatial (0, 4) = %i) reads (%W[%v_i], %V[%v_i]) writes (%Y[%v_i]) {
      %0 = tir.load %W[%v_i] : !tir.buffer<[4], f32>
      %1 = tir.load %V[%v_i] : !tir.buffer<[4], f32>
      %2 = arith.addf %0, %1 : f32
      tir.store %2, %Y[%v_i] : !tir.buffer<[4], f32>
    }
  }
}

// CHECK-LABEL: relax.func @main
// CHECK-NEXT:    %y = relax.call_tir @f(%w)
relax.func @main(%w: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %y = relax.call_tir @f(%w) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %y : !relax.tensor<[4], f32>
}

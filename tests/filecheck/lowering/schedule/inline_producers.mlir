// RUN: xrelax-opt %s -p 'legalize-ops,fuse-tir{inline=false}' --split-input-file | filecheck %s --check-prefix=FUSED
// RUN: xrelax-opt %s -p 'legalize-ops,fuse-tir{inline=false},inline-producers' --split-input-file | filecheck %s

// Without inlining, fused kernels have the blocks of both operators, behind the scratch buffer between them.

// FUSED-LABEL: tir.prim_func @fused(
// FUSED-NEXT:    %a = tir.alloc_buffer : !tir.buffer<[n, 8], f32>
// FUSED:           tir.block "T_add" {{.*}} reads (%x[{{.*}}], %b[{{.*}}]) writes (%a[
// FUSED:           tir.block "T_relu" {{.*}} reads (%a[{{.*}}]) writes (%c[
// CHECK-LABEL: tir.prim_func @fused(
// CHECK-NEXT:    tir.for
// CHECK-NEXT:      tir.for
// CHECK-NEXT:        tir.block "T_relu" {{.*}} reads (%x[{{.*}}], %b[{{.*}}]) writes (%c[
relax.func private @fused(%x: !relax.tensor<[n, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[n, 8], f32> attributes {Primitive = true} {
  %r = relax.dataflow -> !relax.tensor<[n, 8], f32> {
    %a = relax.add %x, %b : !relax.tensor<[n, 8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[n, 8], f32>
    %c = relax.nn.relu %a : !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 8], f32>
    relax.output %c : !relax.tensor<[n, 8], f32>
  }
  relax.return %r : !relax.tensor<[n, 8], f32>
}
relax.func @main(%x: !relax.tensor<[m, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[m, 8], f32> {
  %0 = relax.call @fused(%x, %b) : (!relax.tensor<[m, 8], f32>, !relax.tensor<[8], f32>) -> !relax.tensor<[m, 8], f32>
  relax.return %0 : !relax.tensor<[m, 8], f32>
}

// -----

// Public kernels and those with a schedule keep their blocks.

// CHECK-LABEL: tir.prim_func @public(
// CHECK-NEXT:    %S = tir.alloc_buffer
// CHECK-LABEL: tir.prim_func @scheduled(
// CHECK-NEXT:    %S = tir.alloc_buffer
tir.prim_func @public(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[8], f32>) {
  %S = tir.alloc_buffer : !tir.buffer<[8], f32>
  tir.for %i in (0, 8) {
    tir.block "S" (%vi: spatial (0, 8) = %i) reads (%X[%vi]) writes (%S[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[8], f32>
      tir.store %x, %S[%vi] : !tir.buffer<[8], f32>
    }
  }
  tir.for %i in (0, 8) {
    tir.block "Y" (%vi: spatial (0, 8) = %i) reads (%S[%vi]) writes (%Y[%vi]) {
      %x = tir.load %S[%vi] : !tir.buffer<[8], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[8], f32>
    }
  }
}
tir.prim_func @scheduled(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[8], f32>) attributes {private, tir.is_scheduled = true} {
  %S = tir.alloc_buffer : !tir.buffer<[8], f32>
  tir.for %i in (0, 8) {
    tir.block "S" (%vi: spatial (0, 8) = %i) reads (%X[%vi]) writes (%S[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[8], f32>
      tir.store %x, %S[%vi] : !tir.buffer<[8], f32>
    }
  }
  tir.for %i in (0, 8) {
    tir.block "Y" (%vi: spatial (0, 8) = %i) reads (%S[%vi]) writes (%Y[%vi]) {
      %x = tir.load %S[%vi] : !tir.buffer<[8], f32>
      tir.store %x, %Y[%vi] : !tir.buffer<[8], f32>
    }
  }
}

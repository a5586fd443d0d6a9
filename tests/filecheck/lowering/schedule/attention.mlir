// RUN: xrelax-opt %s -p 'legalize-ops,schedule-default{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell" rules=attention}' --split-input-file | filecheck %s

// All stages of a block of 24 queries follow each other, and memory is that of a block. Sums over keys end
// with the last key that a query of the block sees, in groups as wide as a panel; products with values end
// with the last key that a query of the tile sees.

// CHECK-LABEL: tir.prim_func @attention
// CHECK:         tir.for %{{.*}} in (0, 8) {
// CHECK-DAG:       tir.alloc_buffer : !tir.buffer<[1, 1, 1, 72, 24], f32>
// CHECK-DAG:       tir.alloc_buffer : !tir.buffer<[1, 1, 3, 24, 24], f32>
// CHECK:           tir.block "key_global"
// CHECK:           tir.block "value_global"
// CHECK:           tir.for %[[BLOCK:.*]] in (0, 3) {
// CHECK-DAG:         tir.alloc_buffer "T_exp" : !tir.buffer<[1, 1, 24, 72], f32>
// CHECK-DAG:         tir.alloc_buffer "T_masked" : !tir.buffer<[1, 1, 24, 72], f32>
// CHECK:             tir.for %{{.*}} in (0, min(3, %[[BLOCK]] + 1)) {
// CHECK-NEXT:          tir.for %{{.*}} in (0, 6) {
// CHECK-NEXT:            tir.alloc_buffer "T_scores" : !tir.buffer<[1, 1, 4, 24], f32>
// CHECK:                 tir.block "T_scores_update"
// CHECK:                 tir.block "T_masked"
// CHECK:             tir.for %{{.*}} in (0, 24) {
// CHECK-NEXT:          tir.for %{{.*}} in (0, min(72, %[[BLOCK]] * 24 + 24)) {
// CHECK-NEXT:            tir.block "T_max"
// CHECK:               tir.for %{{.*}} in (0, min(72, %[[BLOCK]] * 24 + 24)) {
// CHECK-NEXT:            tir.block "T_exp"
// CHECK:             tir.for %[[TILE:.*]] in (0, 6) {
// CHECK-NEXT:          tir.alloc_buffer "T_weighted" : !tir.buffer<[1, 1, 4, 24], f32>
// CHECK:               tir.for %{{.*}} in (0, min(%[[BLOCK]] * 24 + %[[TILE]] * 4 + 4, min(
// CHECK:                 tir.block "T_weighted_update"
// CHECK:               tir.block "T_attention"
relax.func @main(%q: !relax.tensor<[1, 72, 8, 24], f32>, %k: !relax.tensor<[1, 72, 8, 24], f32>, %v: !relax.tensor<[1, 72, 8, 24], f32>) -> !relax.tensor<[1, 72, 8, 24], f32> {
  %y = relax.nn.attention %q, %k, %v {causal_mask = "TopLeft"} : !relax.tensor<[1, 72, 8, 24], f32>, !relax.tensor<[1, 72, 8, 24], f32>, !relax.tensor<[1, 72, 8, 24], f32> -> !relax.tensor<[1, 72, 8, 24], f32>
  relax.return %y : !relax.tensor<[1, 72, 8, 24], f32>
}

// -----

// Panels of few heads are copied before all blocks, which threads then share.

// CHECK-LABEL: tir.prim_func @attention
// CHECK:         tir.block "key_global"
// CHECK:         tir.block "value_global"
// CHECK:         tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:      tir.for %{{.*}} in (0, 1) {
// CHECK-NEXT:        tir.for %{{.*}} in (0, 3) {
// CHECK:               tir.block "T_scores_update"
relax.func @main(%q: !relax.tensor<[1, 72, 1, 24], f32>, %k: !relax.tensor<[1, 72, 1, 24], f32>, %v: !relax.tensor<[1, 72, 1, 24], f32>) -> !relax.tensor<[1, 72, 1, 24], f32> {
  %y = relax.nn.attention %q, %k, %v {causal_mask = "TopLeft"} : !relax.tensor<[1, 72, 1, 24], f32>, !relax.tensor<[1, 72, 1, 24], f32>, !relax.tensor<[1, 72, 1, 24], f32> -> !relax.tensor<[1, 72, 1, 24], f32>
  relax.return %y : !relax.tensor<[1, 72, 1, 24], f32>
}

// -----

// A single query has no tile, and other schedules.

// CHECK-LABEL: tir.prim_func @attention
// CHECK-NOT:     tir.alloc_buffer : !tir.buffer
// CHECK:         tir.block "T_scores"
// CHECK-LABEL: relax.func @one
relax.func @one(%q: !relax.tensor<[1, 1, 1, 16], f32>, %k: !relax.tensor<[1, 64, 1, 16], f32>, %v: !relax.tensor<[1, 64, 1, 16], f32>) -> !relax.tensor<[1, 1, 1, 16], f32> {
  %y = relax.nn.attention %q, %k, %v : !relax.tensor<[1, 1, 1, 16], f32>, !relax.tensor<[1, 64, 1, 16], f32>, !relax.tensor<[1, 64, 1, 16], f32> -> !relax.tensor<[1, 1, 1, 16], f32>
  relax.return %y : !relax.tensor<[1, 1, 1, 16], f32>
}

// RUN: xrelax-opt %s -p legalize-ops --split-input-file | filecheck %s

// Short lines are sorted eight at a time, in lanes; there are no counts of digits.
// CHECK-LABEL: tir.prim_func @sort(
// CHECK:         tir.for %i0 in (0, 8) {
// CHECK-NEXT:      tir.block "T_sorted" (%v_i0: spatial (0, 8) = %i0)
// CHECK-SAME:        writes (%T_sorted_v0[%v_i0 * 8 : min(-%v_i0 * 8 + 60, 8), 0 : 1000])
// CHECK-NOT:       "counts"
// CHECK:           tir.alloc_buffer "records_0" : !tir.buffer<[1024, 8], i32>
// Runs of eight rows are sorted between a load and a store of each, then merged.
// CHECK:             tir.for %lane in (0, 8) vectorized {
// CHECK-COUNT-8:       tir.load
// CHECK-NOT:           tir.load
// CHECK-COUNT-24:      arith.minsi
// CHECK-NOT:           arith.minsi
// CHECK-COUNT-8:       tir.store
// CHECK:           tir.for %level in (0, 7)
// CHECK:             tir.for %lane_1 in (0, 8) vectorized {
// CHECK:               arith.minsi
// CHECK:               arith.maxsi
// CHECK-NOT:       "counts"
// CHECK-LABEL: relax.func @short
relax.func @short(%x: !relax.tensor<[60, 1000], f32>) -> !relax.tensor<[60, 1000], f32> {
  %0 = relax.sort %x : !relax.tensor<[60, 1000], f32> -> !relax.tensor<[60, 1000], f32>
  relax.return %0 : !relax.tensor<[60, 1000], f32>
}

// -----

// Long lines are sorted one by one, by three digits of keys that have the index below them.
// CHECK-LABEL: tir.prim_func @argsort(
// CHECK:         tir.block "T_sorted" (%v_i0: spatial (0, m) = %i0)
// CHECK-NOT:       vectorized
// CHECK:           tir.alloc_buffer "records_0" : !tir.buffer<[2, 5000], i64>
// CHECK-NEXT:      tir.alloc_buffer "counts" : !tir.buffer<[2, 2048], i32>
// CHECK-NOT:       vectorized
// CHECK:           tir.for %position in (0, 3)
// Both halves of the line are gone through at once, each with its own counts.
// CHECK:             tir.for %half in (0, 2)
// CHECK-NEXT:          tir.for %digit in (0, 2048)
// CHECK:             tir.for
// CHECK-COUNT-2:       tir.load %records
// CHECK-NOT:           tir.load %records
// CHECK-COUNT-2:       tir.load %counts
// CHECK-COUNT-2:       tir.store %{{.*}}, %counts
// CHECK-NOT:       vectorized
// CHECK-LABEL: relax.func @long
relax.func @long(%x: !relax.tensor<[m, 5000], f32>) -> !relax.tensor<[m, 5000], i32> {
  %0 = relax.argsort %x : !relax.tensor<[m, 5000], f32> -> !relax.tensor<[m, 5000], i32>
  relax.return %0 : !relax.tensor<[m, 5000], i32>
}

// -----

// Of a long line no more is sorted at once than what may be among the first.
// CHECK-LABEL: tir.prim_func @topk(
// CHECK:           tir.alloc_buffer "records_0" : !tir.buffer<[2, 288], i64>
// The minima of 32 parts of a sample tell what may be among them.
// CHECK:           tir.alloc_buffer "minima" : !tir.buffer<[32], i32>
// CHECK:           tir.for %step in (0, 64) {
// CHECK-NEXT:        tir.for %part_1 in (0, 32) vectorized {
// CHECK:           tir.for %block in (0, 1563) {
// CHECK-LABEL: relax.func @first
relax.func @first(%x: !relax.tensor<[50000], f32>) -> !relax.tensor<[9], f32> {
  %0 = relax.topk %x {k = 9 : i64, ret_type = "values"} : !relax.tensor<[50000], f32> -> !relax.tensor<[9], f32>
  relax.return %0 : !relax.tensor<[9], f32>
}

// -----

// Where the length is not known, the run time chooses.
// CHECK-LABEL: tir.prim_func @sort(
// CHECK:           arith.cmpi sle
// CHECK-NEXT:      scf.if
// CHECK:             vectorized
// CHECK:           scf.if
// CHECK:             "counts"
// CHECK-LABEL: relax.func @any
relax.func @any(%x: !relax.tensor<[m, n], f32>) -> !relax.tensor<[m, n], f32> {
  %0 = relax.sort %x : !relax.tensor<[m, n], f32> -> !relax.tensor<[m, n], f32>
  relax.return %0 : !relax.tensor<[m, n], f32>
}

// -----

// An operator whose data says how many elements its result has stays as it is.
// CHECK-LABEL: relax.func @data
// CHECK-NEXT:    relax.unique %x
relax.func @data(%x: !relax.tensor<[8], f32>) -> !relax.tensor<rank 1, f32> {
  %0 = relax.unique %x : !relax.tensor<[8], f32> -> !relax.tensor<rank 1, f32>
  relax.return %0 : !relax.tensor<rank 1, f32>
}

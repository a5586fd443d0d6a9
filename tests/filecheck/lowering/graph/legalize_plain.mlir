// RUN: xrelax-opt %s -p 'legalize-ops{inline=false}' --split-input-file | filecheck %s

// For users, ranges of known bounds and conversions of single numbers are constants, and operators
// on tensors of unknown shape stay.

// CHECK-LABEL: relax.func @known(
// CHECK-NEXT:    %[[R:.*]] = relax.constant <int64, [3], [1, 3, 5]>
// CHECK-NEXT:    %[[N:.*]] = relax.constant <int32, [], [1]>
// CHECK-NEXT:    %[[C:.*]] = relax.match_cast %x
// CHECK-NEXT:    %[[U:.*]] = relax.exp %[[C]]
// CHECK-NEXT:    relax.tuple(%[[R]], %[[N]], %[[U]])
relax.func @known(%x: !relax.tensor<[4], f32>) -> tuple<!relax.tensor<[3], i64>, !relax.tensor<[], i32>, !relax.tensor<rank 1, f32>> {
  %0 = relax.arange {start = #sym.expr<1>, end = #sym.expr<6>, step = #sym.expr<2>} : !relax.tensor<[3], i64>
  %1 = relax.constant <float32, [], [1.5]> : !relax.tensor<[], f32>
  %2 = relax.astype %1 {dtype = i32} : !relax.tensor<[], f32> -> !relax.tensor<[], i32>
  %3 = relax.match_cast %x : !relax.tensor<[4], f32> -> !relax.tensor<rank 1, f32>
  %4 = relax.exp %3 : !relax.tensor<rank 1, f32> -> !relax.tensor<rank 1, f32>
  %5 = relax.tuple(%0, %2, %4) : (!relax.tensor<[3], i64>, !relax.tensor<[], i32>, !relax.tensor<rank 1, f32>) -> tuple<!relax.tensor<[3], i64>, !relax.tensor<[], i32>, !relax.tensor<rank 1, f32>>
  relax.return %5 : tuple<!relax.tensor<[3], i64>, !relax.tensor<[], i32>, !relax.tensor<rank 1, f32>>
}

// -----

// Convolutions sum over operands in their own layouts, behind a copy with zeros around.

// CHECK-LABEL: tir.prim_func @conv1d(
// CHECK:         tir.block "pad_temp" {{.*}} reads (%data[%v_i0, %v_i1, %v_i2 - 1]) writes (%pad_temp[%v_i0, %v_i1, %v_i2])
// CHECK:         tir.block "group_conv1d_ncw"
// CHECK-SAME:      reads (%pad_temp[%v_i0_1, %v_rc + (%v_i1_1 floordiv 3) * 2, %v_i2_1 * 2 + %v_rw], %weight[%v_i1_1, %v_rc, %v_rw])
relax.func @convolution(%x: !relax.tensor<[1, 4, 8], f32>, %w: !relax.tensor<[6, 2, 3], f32>) -> !relax.tensor<[1, 6, 4], f32> {
  %0 = relax.nn.conv1d %x, %w {strides = array<i64: 2>, padding = array<i64: 1, 1>, groups = 2 : i64} : !relax.tensor<[1, 4, 8], f32>, !relax.tensor<[6, 2, 3], f32> -> !relax.tensor<[1, 6, 4], f32>
  relax.return %0 : !relax.tensor<[1, 6, 4], f32>
}

// -----

// Reshapes divide the flat index, and quantization clips before the conversion.

// CHECK-LABEL: tir.prim_func @quantize(
// CHECK:         arith.minimumf
// CHECK:         arith.maximumf
// CHECK:         arith.fptosi
// CHECK-LABEL: tir.prim_func @reshape(
// CHECK:         reads (%x[(%v_i0 mod 24) floordiv 12, (%v_i0 mod 12) floordiv 4, %v_i0 mod 4])
relax.func @elements(%x: !relax.tensor<[2, 3, 4], f32>, %s: !relax.tensor<[], f32>, %z: !relax.tensor<[], i8>) -> !relax.tensor<[24], i8> {
  %0 = relax.flatten %x : !relax.tensor<[2, 3, 4], f32> -> !relax.tensor<[24], f32>
  %1 = relax.quantize %0, %s, %z : !relax.tensor<[24], f32>, !relax.tensor<[], f32>, !relax.tensor<[], i8> -> !relax.tensor<[24], i8>
  relax.return %1 : !relax.tensor<[24], i8>
}

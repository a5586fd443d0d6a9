// RUN: xrelax-opt %s -p legalize-ops --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'legalize-ops{inline=false}' --split-input-file | filecheck %s --check-prefix STEPS

// Comparisons, triangles and concatenations have the form that TVM gives them.

// CHECK-LABEL: tir.prim_func @greater
// CHECK:         %0 = tir.load %rhs[%v_i0]
// CHECK-NEXT:    %1 = tir.load %lhs[%v_i0]
// CHECK-NEXT:    %2 = arith.cmpf olt, %0, %1
relax.func @comparison(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], i1> {
  %0 = relax.greater %x, %y : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], i1>
  relax.return %0 : !relax.tensor<[n], i1>
}

// -----

// CHECK-LABEL: tir.prim_func @triu
// CHECK:         %0 = tir.apply %v_i0
// CHECK-NEXT:    %1 = tir.apply %v_i1
// CHECK-NEXT:    %2 = arith.cmpi slt, %0, %1 : index
relax.func @triangle(%x: !relax.tensor<[4, 4], f32>) -> !relax.tensor<[4, 4], f32> {
  %0 = relax.triu %x {k = #sym.expr<1>} : !relax.tensor<[4, 4], f32> -> !relax.tensor<[4, 4], f32>
  relax.return %0 : !relax.tensor<[4, 4], f32>
}

// -----

// CHECK-LABEL: tir.prim_func @concatenate
// CHECK:         reads (%tensors_1[%v_i0 - n], %tensors[%v_i0])
// CHECK:         %0 = tir.apply 0
// CHECK-NEXT:    %1 = tir.apply %v_i0 - n
// CHECK-NEXT:    %2 = arith.cmpi sle, %0, %1 : index
relax.func @two(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[m], f32>) -> !relax.tensor<[n + m], f32> {
  %0 = relax.concat %x, %y {axis = 0 : i64} : (!relax.tensor<[n], f32>, !relax.tensor<[m], f32>) -> !relax.tensor<[n + m], f32>
  relax.return %0 : !relax.tensor<[n + m], f32>
}

// -----

// The steps of an operator are inlined, or are blocks as in TVM.

// CHECK-LABEL: tir.prim_func @gelu1
// CHECK:         tir.block "T_gelu"
// CHECK-LABEL: tir.prim_func @gelu(
// CHECK-NEXT:    tir.for
// CHECK-NEXT:      tir.block "T_gelu"
// CHECK:             math.erf
// STEPS-LABEL: tir.prim_func @gelu1
// STEPS:       tir.block "T_multiply"
// STEPS:       tir.block "compute"
// STEPS:       tir.block "T_multiply_1"
// STEPS:       tir.block "T_add"
// STEPS:       tir.block "T_gelu"
relax.func @steps(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {
  %0 = relax.nn.gelu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %1 = relax.nn.gelu %y : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
  relax.return %1 : !relax.tensor<[2], f32>
}

// -----

// Symbols that are no dims are parameters before the output.

// CHECK-LABEL: tir.prim_func @shape_to_tensor(%n: index, %shape_to_tensor: !tir.buffer<[2], i64>)
// CHECK:         relax.call_tir @shape_to_tensor() vars [#sym.expr<n>]
relax.func @sizes(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[2], i64> {
  %0 = relax.shape_to_tensor {shape = [#sym.expr<n>, #sym.expr<3>]} : !relax.tensor<[2], i64>
  relax.return %0 : !relax.tensor<[2], i64>
}

// RUN: xrelax-opt %s --split-input-file | filecheck %s
// RUN: xrelax-opt %s --split-input-file --print-op-generic | xrelax-opt --split-input-file | filecheck %s

// Functions: purity, visibility, users' names, attributes, types of all degrees of knowledge.
// CHECK:      relax.func @types(
// CHECK-SAME:   %a: !relax.tensor<[n, m], f32>, %b: !relax.tensor<[m * n + 1], bf16>,
// CHECK-SAME:   %c: !relax.tensor<rank 2, f32>, %d: !relax.tensor<*, ?>, %e: !relax.tensor<[], ?>,
// CHECK-SAME:   %f: !relax.shape<[n, 4]>, %g: !relax.object, %h: tuple<!relax.tensor<[n], f32>>)
// CHECK-SAME:   params ("a", "b", "c", "d", "e", "f", "g", "user's")
// CHECK-SAME:   -> !relax.object attributes {global_symbol = "types"} {
relax.func @types(%a: !relax.tensor<[n, m], f32>, %b: !relax.tensor<[n * m + 1], bf16>, %c: !relax.tensor<rank 2, f32>, %d: !relax.tensor<*, ?>, %e: !relax.tensor<[], ?>, %f: !relax.shape<[n, 4]>, %g: !relax.object, %h: tuple<!relax.tensor<[n], f32>>) params ("a", "b", "c", "d", "e", "f", "g", "user's") -> !relax.object attributes {"global_symbol" = "types"} {
  // CHECK-NEXT: relax.return %g : !relax.object
  relax.return %g : !relax.object
}

// CHECK: relax.func private impure @hidden(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
relax.func private impure @hidden(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// A dataflow block hands out what it outputs.
// CHECK-LABEL: @dataflow
relax.func @dataflow(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK: %y, %z = relax.dataflow -> !relax.tensor<[n], f32>, !relax.tensor<[n], f32> {
  %y, %z = relax.dataflow -> !relax.tensor<[n], f32>, !relax.tensor<[n], f32> {
    %0 = relax.nn.relu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK: relax.output %0, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32>
    relax.output %0, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32>
  }
  // CHECK:      relax.dataflow {
  // CHECK-NEXT:   relax.output
  // CHECK-NEXT: }
  relax.dataflow {
    relax.output
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// Calls of every kind, tuples and allocation.
// CHECK-LABEL: @calls
relax.func impure @calls(%x: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  // CHECK: %a = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %a = relax.call_tir @relu(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK: %b = relax.call_tir @iota() vars [#sym.expr<n + 1>] : () -> !relax.tensor<[n], f32>
  %b = relax.call_tir @iota() vars [#sym.expr<1 + n>] : () -> !relax.tensor<[n], f32>
  // CHECK: %c = relax.call_tir @split(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %c = relax.call_tir @split(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  // CHECK: %k = relax.call_tir @scale(%x) gradient "scale_grad" with {k = 2.000000e+00 : f32} : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %k = relax.call_tir @scale(%x) gradient "scale_grad" with {k = 2.0 : f32} : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK: %d = relax.call_dps_packed "env.relu"(%x, %a) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %d = relax.call_dps_packed "env.relu"(%x, %a) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK: %e = relax.call @calls(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %e = relax.call @calls(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK: %f = relax.call_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
  %f = relax.call_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
  // CHECK: %g = relax.alloc_tensor : !relax.tensor<[n, 4], f32>
  %g = relax.alloc_tensor : !relax.tensor<[n, 4], f32>
  // CHECK: %h = relax.tuple_get_item %c[1] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  %h = relax.tuple_get_item %c[1] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  // CHECK: %i = relax.tuple(%a, %h) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %i = relax.tuple(%a, %h) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  // CHECK: relax.tuple() : () -> tuple<>
  %j = relax.tuple() : () -> tuple<>
  relax.return %i : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// -----

// Small constants are in the text, NaN and infinities too; large ones are a key and a hash.
// CHECK-LABEL: @constants
relax.func @constants(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  // CHECK: %a = relax.constant <float32, [4], [1.5, "nan", "inf", "-inf"]> : !relax.tensor<[4], f32>
  %a = relax.constant <float32, [4], [1.5, "nan", "inf", "-inf"]> : !relax.tensor<[4], f32>
  // CHECK: %b = relax.constant <int64, [], [-9223372036854775808]> : !relax.tensor<[], i64>
  %b = relax.constant <int64, [], [-9223372036854775808]> : !relax.tensor<[], i64>
  // CHECK: %c = relax.constant <bool, [1, 2], [1, 0]> : !relax.tensor<[1, 2], i1>
  %c = relax.constant <bool, [1, 2], [1, 0]> : !relax.tensor<[1, 2], i1>
  // CHECK: %d = relax.constant <float32, [0, 3], []> : !relax.tensor<[0, 3], f32>
  %d = relax.constant <float32, [0, 3], []> : !relax.tensor<[0, 3], f32>
  // bfloat16 is written as its bits.
  // CHECK: %e = relax.constant <bfloat16, [2], [16256, 32704]> : !relax.tensor<[2], bf16>
  %e = relax.constant <bfloat16, [2], [16256, 32704]> : !relax.tensor<[2], bf16>
  // CHECK: %f = relax.constant <float32, [128, 784], "w0", "9f"> : !relax.tensor<[128, 784], f32>
  %f = relax.constant <float32, [128, 784], "w0", "9f"> : !relax.tensor<[128, 784], f32>
  // CHECK: %g = relax.constant <float64, [2], [1.0e-300, 0.1]> : !relax.tensor<[2], f64>
  %g = relax.constant <float64, [2], [1.0e-300, 0.1]> : !relax.tensor<[2], f64>
  relax.return %x : !relax.tensor<[4], f32>
}

// -----

// The operator set, on static, symbolic and unknown shapes.
// CHECK-LABEL: @operators
relax.func @operators(%x: !relax.tensor<[n, 1], f32>, %y: !relax.tensor<[4], f32>, %u: !relax.tensor<rank 2, f32>) -> !relax.tensor<[n, 4], f32> {
  // CHECK: %0 = relax.add %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  %0 = relax.add %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.subtract
  %1 = relax.subtract %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.multiply
  %2 = relax.multiply %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.divide
  %3 = relax.divide %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.atan2
  %angle = relax.atan2 %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.log_add_exp
  %total = relax.log_add_exp %x, %y : !relax.tensor<[n, 1], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.maximum %u, %y : !relax.tensor<rank 2, f32>, !relax.tensor<[4], f32> -> !relax.tensor<rank 2, f32>
  %4 = relax.maximum %u, %y : !relax.tensor<rank 2, f32>, !relax.tensor<[4], f32> -> !relax.tensor<rank 2, f32>
  // CHECK: relax.ewise_fma %x, %u, %x : !relax.tensor<[n, 1], f32>, !relax.tensor<rank 2, f32>, !relax.tensor<[n, 1], f32> -> !relax.tensor<rank 2, f32>
  %5 = relax.ewise_fma %x, %u, %x : !relax.tensor<[n, 1], f32>, !relax.tensor<rank 2, f32>, !relax.tensor<[n, 1], f32> -> !relax.tensor<rank 2, f32>
  // CHECK: relax.nn.relu %u : !relax.tensor<rank 2, f32> -> !relax.tensor<rank 2, f32>
  %6 = relax.nn.relu %u : !relax.tensor<rank 2, f32> -> !relax.tensor<rank 2, f32>
  // CHECK: %7 = relax.permute_dims %0 : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  %7 = relax.permute_dims %0 : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  // CHECK: relax.permute_dims %0 {axes = array<i64: 1, 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  %8 = relax.permute_dims %0 {"axes" = array<i64: 1, 0>} : !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, n], f32>
  // CHECK: relax.matmul %7, %0 : !relax.tensor<[4, n], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, 4], f32>
  %9 = relax.matmul %7, %0 : !relax.tensor<[4, n], f32>, !relax.tensor<[n, 4], f32> -> !relax.tensor<[4, 4], f32>
  // CHECK: relax.linear %0, %9 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  %10 = relax.linear %0, %9 : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.linear %0, %9 bias %y : !relax.tensor<[4], f32> : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  %11 = relax.linear %0, %9 bias %y : !relax.tensor<[4], f32> : !relax.tensor<[n, 4], f32>, !relax.tensor<[4, 4], f32> -> !relax.tensor<[n, 4], f32>
  relax.return %0 : !relax.tensor<[n, 4], f32>
}

// -----

// A choice, with symbols that a cast in one branch declares for that branch alone.
// CHECK-LABEL: @choice
relax.func @choice(%c: !relax.tensor<[], i1>, %x: !relax.tensor<rank 1, f32>) -> !relax.tensor<rank 1, f32> {
  // CHECK:      %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<rank 1, f32> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<rank 1, f32> {
    // CHECK-NEXT:   %z = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[k], f32>
    %z = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[k], f32>
    // CHECK-NEXT:   relax.yield %z : !relax.tensor<[k], f32>
    relax.yield %z : !relax.tensor<[k], f32>
  // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT:   relax.yield %x : !relax.tensor<rank 1, f32>
    relax.yield %x : !relax.tensor<rank 1, f32>
  }
  relax.return %y : !relax.tensor<rank 1, f32>
}

// -----

// Shapes and numbers as values; a bool number chooses too.
// CHECK-LABEL: @values
relax.func @values(%x: !relax.tensor<[n, 4], f32>, %s: !relax.shape<[k, 4]>, %c: !relax.prim<i1>, %p: !relax.prim<i64, m>, %u: !relax.shape<rank 2>, %v: !relax.shape<*>) -> tuple<!relax.shape<[n, 4]>, !relax.prim<i64, k + m>> {
  // CHECK: %a = relax.shape_of %x : !relax.tensor<[n, 4], f32> -> !relax.shape<[n, 4]>
  %a = relax.shape_of %x : !relax.tensor<[n, 4], f32> -> !relax.shape<[n, 4]>
  // CHECK: %b = relax.shape : !relax.shape<[k * 2, 3]>
  %b = relax.shape : !relax.shape<[2 * k, 3]>
  // CHECK: %d = relax.prim_value : !relax.prim<i64, k + m>
  %d = relax.prim_value : !relax.prim<i64, k + m>
  // CHECK: %e = relax.match_cast %x written "(n, 4)" : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  %e = relax.match_cast %x written "(n, 4)" : !relax.tensor<[n, 4], f32> -> !relax.tensor<[n, 4], f32>
  // CHECK: relax.if %c : !relax.prim<i1> -> !relax.tensor<[n, 4], f32>
  %f = relax.if %c : !relax.prim<i1> -> !relax.tensor<[n, 4], f32> {
    relax.yield %x : !relax.tensor<[n, 4], f32>
  } else {
    relax.yield %e : !relax.tensor<[n, 4], f32>
  }
  %t = relax.tuple(%a, %d) : (!relax.shape<[n, 4]>, !relax.prim<i64, k + m>) -> tuple<!relax.shape<[n, 4]>, !relax.prim<i64, k + m>>
  relax.return %t : tuple<!relax.shape<[n, 4]>, !relax.prim<i64, k + m>>
}

// -----

// A symbol may be called like a part of the expression syntax.
// CHECK-LABEL: @names
relax.func @names(%x: !relax.tensor<["min", "변수"], f32>) -> !relax.tensor<["min", "변수"], f32> {
  // CHECK: relax.return %x : !relax.tensor<["min", "변수"], f32>
  relax.return %x : !relax.tensor<["min", "변수"], f32>
}

// -----

// A local function uses what is around it.
// CHECK-LABEL: @local
relax.func @local(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK: %f = relax.local_func @inner(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {Composite = "own.inner"} {
  %f = relax.local_func @inner(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {Composite = "own.inner"} {
    %b = relax.add %a, %y : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    // CHECK: relax.return %b
    relax.return %b : !relax.tensor<[n], f32>
  }
  // CHECK: %z = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %z = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %z : !relax.tensor<[n], f32>
}

// -----

// A local function calls itself.
// CHECK-LABEL: @recursive
relax.func @recursive(%x: !relax.tensor<[n], f32>, %c: !relax.tensor<[], i1>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @inner(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    // CHECK: %own = relax.own_func : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>
    %own = relax.own_func : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>
    // CHECK: %b = relax.invoke %own(%a)
    %b = relax.invoke %own(%a) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.return %b : !relax.tensor<[n], f32>
  }
  %z = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %z : !relax.tensor<[n], f32>
}

// -----

// What graphs do besides computing, and calls that change their arguments.
// CHECK-LABEL: @run_time
relax.func impure @run_time(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK: relax.print "x = {}"(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  %0 = relax.print "x = {}"(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  // CHECK: relax.assert %c, "{0} {0}"(%x, %c) : !relax.tensor<[], i1>, (!relax.tensor<[n], f32>, !relax.tensor<[], i1>) -> tuple<>
  %1 = relax.assert %c, "{0} {0}"(%x, %c) : !relax.tensor<[], i1>, (!relax.tensor<[n], f32>, !relax.tensor<[], i1>) -> tuple<>
  // CHECK: %y = relax.call_pure_packed "env.f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  %y = relax.call_pure_packed "env.f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  // CHECK: %o = relax.call_pure_packed "vm.builtin.null_value"() : () -> !relax.object
  %o = relax.call_pure_packed "vm.builtin.null_value"() : () -> !relax.object
  // CHECK: %p = relax.call_pure_packed "env.f"(%o, %x) inplace [0, -1] : (!relax.object, !relax.tensor<[n], f32>) -> tuple<!relax.object, !relax.tensor<[n], f32>>
  %p = relax.call_pure_packed "env.f"(%o, %x) inplace [0, -1] : (!relax.object, !relax.tensor<[n], f32>) -> tuple<!relax.object, !relax.tensor<[n], f32>>
  // CHECK: %z = relax.call_tir_inplace @f(%x, %y) inplace [-1, 1] vars [n + 1] : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %z = relax.call_tir_inplace @f(%x, %y) inplace [-1, 1] vars [1 + n] : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// Rows in groups of a symbolic number, by matrices that are transposed.
// CHECK-LABEL: @grouped_matmul
relax.func @grouped_matmul(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[3, 6, 4], f32>, %ends: !relax.tensor<[3], i32>) -> !relax.tensor<[n, 6], f32> {
  // CHECK: %0 = relax.grouped_matmul %x, %w, %ends {transpose_rhs = true} : !relax.tensor<[n, 4], f32>, !relax.tensor<[3, 6, 4], f32>, !relax.tensor<[3], i32> -> !relax.tensor<[n, 6], f32>
  %0 = relax.grouped_matmul %x, %w, %ends {transpose_rhs = true} : !relax.tensor<[n, 4], f32>, !relax.tensor<[3, 6, 4], f32>, !relax.tensor<[3], i32> -> !relax.tensor<[n, 6], f32>
  relax.return %0 : !relax.tensor<[n, 6], f32>
}

// CHECK-LABEL: @scalars
relax.func @scalars(%x: !relax.prim<f32>) -> !relax.prim<f32> {
  // CHECK: %0 = relax.prim_to_tensor %x : !relax.prim<f32> -> !relax.tensor<[], f32>
  %0 = relax.prim_to_tensor %x : !relax.prim<f32> -> !relax.tensor<[], f32>
  // CHECK: %1 = relax.tensor_to_prim %0 : !relax.tensor<[], f32> -> !relax.prim<f32>
  %1 = relax.tensor_to_prim %0 : !relax.tensor<[], f32> -> !relax.prim<f32>
  relax.return %1 : !relax.prim<f32>
}

// -----

// CHECK-LABEL: relax.func @string
relax.func @string() -> !relax.object {
  // CHECK-NEXT: %s = relax.str "max \22 min" : !relax.object
  %s = relax.str "max \22 min" : !relax.object
  relax.return %s : !relax.object
}

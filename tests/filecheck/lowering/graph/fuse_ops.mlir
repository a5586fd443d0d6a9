// RUN: xrelax-opt %s -p legalize-ops,fuse-ops --split-input-file | filecheck %s

// An elementwise chain behind a matmul becomes one function with one result.
// CHECK-LABEL: relax.func private @fused_matmul_add_relu
// CHECK-SAME:    (%x: !relax.tensor<[n, 16], f32>, %w: !relax.tensor<[16, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[n, 8], f32> attributes {Primitive = true}
// CHECK-NEXT:    %gv = relax.dataflow
// CHECK-NEXT:      relax.call_tir @matmul(%x, %w)
// CHECK-NEXT:      relax.call_tir @add
// CHECK-NEXT:      relax.call_tir @relu
// CHECK-LABEL: relax.func @epilogue
// CHECK:         relax.dataflow
// CHECK-NEXT:      %0 = relax.call @fused_matmul_add_relu(%x, %w, %b)
// CHECK-NEXT:      relax.output %0
relax.func @epilogue(%x: !relax.tensor<[n, 16], f32>, %w: !relax.tensor<[16, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[n, 8], f32> {
  %r = relax.dataflow -> !relax.tensor<[n, 8], f32> {
    %0 = relax.matmul %x, %w : !relax.tensor<[n, 16], f32>, !relax.tensor<[16, 8], f32> -> !relax.tensor<[n, 8], f32>
    %1 = relax.add %0, %b : !relax.tensor<[n, 8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[n, 8], f32>
    %2 = relax.nn.relu %1 : !relax.tensor<[n, 8], f32> -> !relax.tensor<[n, 8], f32>
    relax.output %2 : !relax.tensor<[n, 8], f32>
  }
  relax.return %r : !relax.tensor<[n, 8], f32>
}

// -----

// A matmul that two calls use stays one matmul; both of its users join it, they meet again.
// CHECK-LABEL: relax.func private @fused_matmul_relu_add_add1
// CHECK-COUNT-1: relax.call_tir @matmul
// CHECK-LABEL: relax.func @used_twice
// CHECK-NOT:     call_tir
relax.func @used_twice(%x: !relax.tensor<[4, 16], f32>, %w: !relax.tensor<[16, 8], f32>, %b: !relax.tensor<[8], f32>) -> !relax.tensor<[4, 8], f32> {
  %r = relax.dataflow -> !relax.tensor<[4, 8], f32> {
    %0 = relax.matmul %x, %w : !relax.tensor<[4, 16], f32>, !relax.tensor<[16, 8], f32> -> !relax.tensor<[4, 8], f32>
    %1 = relax.nn.relu %0 : !relax.tensor<[4, 8], f32> -> !relax.tensor<[4, 8], f32>
    %2 = relax.add %0, %b : !relax.tensor<[4, 8], f32>, !relax.tensor<[8], f32> -> !relax.tensor<[4, 8], f32>
    %3 = relax.add %1, %2 : !relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32> -> !relax.tensor<[4, 8], f32>
    relax.output %3 : !relax.tensor<[4, 8], f32>
  }
  relax.return %r : !relax.tensor<[4, 8], f32>
}

// -----

// A result that is needed outside ends a group; what follows is not repeated into it.
// CHECK-LABEL: relax.func @needed_outside
// CHECK:         %0 = relax.call_tir @matmul(%x, %w)
// CHECK-NEXT:    %1 = relax.call_tir @relu(%0)
// CHECK-NEXT:    relax.output %0, %1
relax.func @needed_outside(%x: !relax.tensor<[4, 16], f32>, %w: !relax.tensor<[16, 8], f32>) -> tuple<!relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32>> {
  %m, %r = relax.dataflow -> !relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32> {
    %0 = relax.matmul %x, %w : !relax.tensor<[4, 16], f32>, !relax.tensor<[16, 8], f32> -> !relax.tensor<[4, 8], f32>
    %1 = relax.nn.relu %0 : !relax.tensor<[4, 8], f32> -> !relax.tensor<[4, 8], f32>
    relax.output %0, %1 : !relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32>
  }
  %t = relax.tuple(%m, %r) : (!relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32>) -> tuple<!relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32>>
  relax.return %t : tuple<!relax.tensor<[4, 8], f32>, !relax.tensor<[4, 8], f32>>
}

// -----

// Neither a library call nor one with effects is fused, and nothing moves past an effect.
// CHECK-LABEL: relax.func impure @calls_between
// CHECK-NEXT:    %0 = relax.call_tir @relu(%x)
// CHECK-NEXT:    %1 = relax.call_dps_packed "library.f"(%0)
// CHECK-NEXT:    %2 = relax.call_tir @relu(%1)
// CHECK-NEXT:    %3 = relax.call_packed "show"(%2)
// CHECK-NEXT:    %4 = relax.call_tir @add(%2, %2)
relax.func impure @calls_between(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.call_dps_packed "library.f"(%0) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  %2 = relax.nn.relu %1 : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %3 = relax.call_packed "show"(%2) : (!relax.tensor<[4], f32>) -> !relax.object
  %4 = relax.add %2, %2 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %4 : !relax.tensor<[4], f32>
}

// -----

// Elementwise calls of another shape do not join a matmul; two matmuls never share a group.
// CHECK-LABEL: relax.func @other_shapes
// CHECK:         %0 = relax.call_tir @matmul(%x, %w)
// CHECK-NEXT:    %1 = relax.call_tir @add(%0, %y)
// CHECK-NEXT:    %2 = relax.call_tir @matmul1(%1, %v)
relax.func @other_shapes(%x: !relax.tensor<[1, 16], f32>, %w: !relax.tensor<[16, 8], f32>, %y: !relax.tensor<[4, 8], f32>, %v: !relax.tensor<[8, 8], f32>) -> !relax.tensor<[4, 8], f32> {
  %r = relax.dataflow -> !relax.tensor<[4, 8], f32> {
    %0 = relax.matmul %x, %w : !relax.tensor<[1, 16], f32>, !relax.tensor<[16, 8], f32> -> !relax.tensor<[1, 8], f32>
    %1 = relax.add %0, %y : !relax.tensor<[1, 8], f32>, !relax.tensor<[4, 8], f32> -> !relax.tensor<[4, 8], f32>
    %2 = relax.matmul %1, %v : !relax.tensor<[4, 8], f32>, !relax.tensor<[8, 8], f32> -> !relax.tensor<[4, 8], f32>
    relax.output %2 : !relax.tensor<[4, 8], f32>
  }
  relax.return %r : !relax.tensor<[4, 8], f32>
}

// -----

// Equal layers share a function, outside of dataflow blocks as well.
// CHECK-LABEL: relax.func private @fused_add_relu(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>)
// CHECK-NOT:   relax.func private
// CHECK-LABEL: relax.func @layers
// CHECK:         %0 = relax.call @fused_add_relu(%x, %y)
// CHECK-NEXT:    %1 = relax.call @fused_add_relu(%z, %u)
relax.func @layers(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>, %z: !relax.tensor<[n], f32>, %u: !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> {
  %0 = relax.add %x, %y : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %1 = relax.nn.relu %0 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %2 = relax.add %z, %u : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %3 = relax.nn.relu %2 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  %t = relax.tuple(%1, %3) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  relax.return %t : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
}

// -----

// What reads an argument of a call in place stays before that call.
// CHECK-LABEL: relax.func @in_place
// CHECK:         %0 = relax.call_tir @relu(%t)
// CHECK-NEXT:    %1 = relax.call_tir_inplace @double(%t)
// CHECK-NEXT:    %2 = relax.call_tir @add(%0, %1)
tir.prim_func @double(%X: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "X" (%vi: spatial (0, 4) = %i) reads (%X[%vi]) writes (%X[%vi]) {
      %x = tir.load %X[%vi] : !tir.buffer<[4], f32>
      %s = arith.addf %x, %x : f32
      tir.store %s, %X[%vi] : !tir.buffer<[4], f32>
    }
  }
}
relax.func @in_place(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %r = relax.dataflow -> !relax.tensor<[4], f32> {
    %t = relax.call_dps_packed "library.f"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
    %0 = relax.nn.relu %t : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
    %1 = relax.call_tir_inplace @double(%t) inplace [0] : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
    %2 = relax.add %0, %1 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
    relax.output %2 : !relax.tensor<[4], f32>
  }
  relax.return %r : !relax.tensor<[4], f32>
}

// -----

// What constants alone make does not join what depends on arguments: it is computed once, on load.
// What follows it of constants does.
// CHECK-LABEL: relax.func private @fused_tir_exp_tir_negative(%{{[^:]*}}: !relax.tensor<[4], f32>)
// CHECK-LABEL: relax.func private @fused_add_relu(%{{.*}}: !relax.tensor<[4], f32>, %{{.*}}: !relax.tensor<[4], f32>)
// CHECK-LABEL: relax.func @of_constants
// CHECK:         %[[ONCE:.*]] = relax.call @fused_tir_exp_tir_negative(%w)
// CHECK-NEXT:    relax.call @fused_add_relu(%x, %[[ONCE]])
relax.func @of_constants(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %w = relax.constant <float32, [4], [1.0, 2.0, 3.0, 4.0]> : !relax.tensor<[4], f32>
  %0 = relax.exp %w : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %1 = relax.negative %0 : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %2 = relax.add %x, %1 : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %3 = relax.nn.relu %2 : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %3 : !relax.tensor<[4], f32>
}

// -----

// What is much larger than its constants is not kept, so it joins what reads it, and so does what
// is computed of it.
// CHECK-LABEL: relax.func private @fused_broadcast_to_tir_exp_add
// CHECK-LABEL: relax.func @much_larger
// CHECK:         relax.call @fused_broadcast_to_tir_exp_add(%w, %x)
relax.func @much_larger(%x: !relax.tensor<[4, 65536], f32>) -> !relax.tensor<[4, 65536], f32> {
  %w = relax.constant <float32, [4, 1], [1.0, 2.0, 3.0, 4.0]> : !relax.tensor<[4, 1], f32>
  %0 = relax.broadcast_to %w {shape = [#sym.expr<4>, #sym.expr<65536>]} : !relax.tensor<[4, 1], f32> -> !relax.tensor<[4, 65536], f32>
  %1 = relax.exp %0 : !relax.tensor<[4, 65536], f32> -> !relax.tensor<[4, 65536], f32>
  %2 = relax.add %x, %1 : !relax.tensor<[4, 65536], f32>, !relax.tensor<[4, 65536], f32> -> !relax.tensor<[4, 65536], f32>
  relax.return %2 : !relax.tensor<[4, 65536], f32>
}

// RUN: xrelax-opt %s -p gradient --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p 'gradient{require-grads=w}' --split-input-file | filecheck %s --check-prefix=CHECK-W

// Adjoints of a value that is used twice are added; constants have none; the function stays.
// CHECK-LABEL: relax.func @main_adjoint(%x: !relax.tensor<[2, 3], f32>, %w: !relax.tensor<[3], f32>) -> tuple<!relax.tensor<[], f32>, tuple<!relax.tensor<[2, 3], f32>, !relax.tensor<[3], f32>>>
// CHECK-NEXT:    %gv, %{{.*}}, %{{.*}} = relax.dataflow
// CHECK-NEXT:      %[[P:[a-z_0-9]+]] = relax.multiply %x, %w
// CHECK-NEXT:      %[[Q:[a-z_0-9]+]] = relax.multiply %[[P]], %x
// CHECK-NEXT:      %[[S:[a-z_0-9]+]] = relax.sum %[[Q]]
// CHECK-NEXT:      %[[ONE:[a-z_0-9]+]] = relax.ones {shape = []}
// CHECK-NEXT:      %[[QA:[a-z_0-9]+]] = relax.broadcast_to %[[ONE]] {shape = {{.*}}} : !relax.tensor<[], f32> -> !relax.tensor<[2, 3], f32>
// CHECK-NEXT:      %[[PA:[a-z_0-9]+]] = relax.multiply %[[QA]], %x
// CHECK-NEXT:      %[[X0:[a-z_0-9]+]] = relax.multiply %[[QA]], %[[P]]
// CHECK-NEXT:      %[[X1:[a-z_0-9]+]] = relax.multiply %[[PA]], %w
// CHECK-NEXT:      %[[XA:[a-z_0-9]+]] = relax.add %[[X0]], %[[X1]]
// CHECK-NEXT:      %[[W0:[a-z_0-9]+]] = relax.multiply %[[PA]], %x
// CHECK-NEXT:      %[[WA:[a-z_0-9]+]] = relax.collapse_sum_to %[[W0]] {shape = {{.*}}} : !relax.tensor<[2, 3], f32> -> !relax.tensor<[3], f32>
// CHECK-NEXT:      relax.output %[[S]], %[[XA]], %[[WA]]
// CHECK: relax.func @main(%x: !relax.tensor<[2, 3], f32>, %w: !relax.tensor<[3], f32>) -> !relax.tensor<[], f32>

// By `w` alone, what only `x` needs is not computed.
// CHECK-W-LABEL: relax.func @main_adjoint
// CHECK-W-SAME: -> tuple<!relax.tensor<[], f32>, tuple<!relax.tensor<[3], f32>>>
// CHECK-W-NOT: relax.add
// CHECK-W: relax.collapse_sum_to
// CHECK-W-NEXT: relax.output
relax.func @main(%x: !relax.tensor<[2, 3], f32>, %w: !relax.tensor<[3], f32>) -> !relax.tensor<[], f32> {
  %gv = relax.dataflow -> !relax.tensor<[], f32> {
    %p = relax.multiply %x, %w: !relax.tensor<[2, 3], f32>, !relax.tensor<[3], f32> -> !relax.tensor<[2, 3], f32>
    %q = relax.multiply %p, %x: !relax.tensor<[2, 3], f32>, !relax.tensor<[2, 3], f32> -> !relax.tensor<[2, 3], f32>
    %s = relax.sum %q : !relax.tensor<[2, 3], f32> -> !relax.tensor<[], f32>
    relax.output %s : !relax.tensor<[], f32>
  }
  relax.return %gv : !relax.tensor<[], f32>
}

// -----

// Symbols stay symbols. What the result does not depend on has zeros.
// CHECK-LABEL: relax.func @main_adjoint(%w: !relax.tensor<[n, 4], f32>, %y: !relax.tensor<[n], f32>)
// CHECK: relax.broadcast_to %{{.*}} {shape = {{.*}}} : !relax.tensor<[], f32> -> !relax.tensor<[n, 4], f32>
// CHECK: relax.zeros {shape = {{.*}}} : !relax.tensor<[n], f32>
relax.func @main(%w: !relax.tensor<[n, 4], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[], f32> {
  %gv = relax.dataflow -> !relax.tensor<[], f32> {
    %s = relax.sum %w: !relax.tensor<[n, 4], f32> -> !relax.tensor<[], f32>
    relax.output %s : !relax.tensor<[], f32>
  }
  relax.return %gv : !relax.tensor<[], f32>
}

// -----

// Between checkpoints values are recomputed from the operand of the first, when their gradients are
// due. The value of the next operation is kept.
// CHECK-LABEL: relax.func @main_adjoint(%w: !relax.tensor<[2], f32>)
// CHECK:         %p = relax.exp %w :
// CHECK-NEXT:    %q = relax.sin %p :
// CHECK-NEXT:    %r = relax.exp %q :
// CHECK-NEXT:    %s = relax.sum %r
// CHECK:         %r_adjoint = relax.broadcast_to
// CHECK-NEXT:    %p_cp = relax.exp %w {recomputed} :
// CHECK-NEXT:    %q_adjoint = relax.multiply %r_adjoint, %r :
// CHECK-NEXT:    %[[C:[a-z_0-9]+]] = relax.cos %p_cp
// CHECK-NEXT:    %p_adjoint = relax.multiply %q_adjoint, %[[C]]
// CHECK-NEXT:    relax.multiply %p_adjoint, %p_cp
// CHECK-LABEL: relax.func @main(
// CHECK:         relax.grad.start_checkpoint %w
relax.func @main(%w: !relax.tensor<[2], f32>) -> !relax.tensor<[], f32> {
  %gv = relax.dataflow -> !relax.tensor<[], f32> {
    %a = relax.grad.start_checkpoint %w : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    %p = relax.exp %a : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    %q = relax.sin %p : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    %b = relax.grad.end_checkpoint %q : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    %r = relax.exp %b : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    %s = relax.sum %r : !relax.tensor<[2], f32> -> !relax.tensor<[], f32>
    relax.output %s : !relax.tensor<[], f32>
  }
  relax.return %gv : !relax.tensor<[], f32>
}

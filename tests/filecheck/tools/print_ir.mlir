// RUN: xrelax-opt %s -p normalize,fold-constant,dce --print-ir-before=dce --print-ir-after=normalize --print-ir-after=dce 2>&1 | filecheck %s
// RUN: xrelax-opt %s -p normalize,dce --print-ir-before-all --print-ir-after-all 2>&1 | filecheck %s --check-prefix ALL
// RUN: xrelax-opt %s -p normalize,dce --print-ir-after-change 2>&1 | filecheck %s --check-prefix CHANGE
// RUN: xrelax-opt %s -p normalize,dce --print-ir-diff 2>&1 | filecheck %s --check-prefix DIFF
// RUN: xrelax-opt %s -p normalize,dce --check --print-ir-diff 2>&1 | filecheck %s --check-prefix DIFF
// RUN: xrelax-opt %s --emit=relax --print-ir-after-change 2>&1 | filecheck %s --check-prefix EMIT
// RUN: not xrelax-opt %s -p convert-to-llvm --print-ir-after-all 2>&1 | filecheck %s --check-prefix FAILED
// RUN: xrelax-opt %s -p normalize,dce --print-ir-after-all | xrelax-opt | filecheck %s --check-prefix OUTPUT
// RUN: xrelax-opt %s -p normalize,dce --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix PIPELINE

// The named passes alone, in the order in which they run; then the output.

// CHECK:       // -----// IR Dump After normalize //----- //
// CHECK-NEXT:  builtin.module {
// CHECK-NEXT:    relax.func @main
// CHECK-NEXT:      %unused = relax.nn.relu
// CHECK:       // -----// IR Dump Before dce //----- //
// CHECK:           %unused = relax.nn.relu
// CHECK:       // -----// IR Dump After dce //----- //
// CHECK-NOT:       %unused
// CHECK-NOT:   // -----//

// Before and after all passes.

// ALL:         IR Dump Before normalize
// ALL:         IR Dump After normalize
// ALL:         IR Dump Before dce
// ALL:         IR Dump After dce

// After the passes that change the IR, whole or as a difference.

// CHANGE-NOT:  IR Dump After normalize
// CHANGE:      IR Dump After dce
// CHANGE-NEXT: builtin.module {
// DIFF-NOT:    normalize
// DIFF:        // -----// IR Diff After dce //----- //
// DIFF-NEXT:   --- before dce
// DIFF-NEXT:   +++ after dce
// DIFF-NEXT:   @@ -1,6 +1,5 @@
// DIFF-NEXT:    builtin.module {
// DIFF-NEXT:      relax.func @main
// DIFF-NEXT:   -    %unused = relax.nn.relu %x
// EMIT-NOT:    IR Dump After normalize
// EMIT:        IR Dump After eliminate-common-subexpr
// EMIT-NOT:    IR Dump

// The IR of a pass that fails, before the error.

// FAILED:      // -----// IR Dump After convert-to-llvm Failed //----- //
// FAILED:        %unused = relax.nn.relu
// FAILED:      error: {{.*}}expected kernels and functions on memory

// Standard output has the result alone, which can be read again.

// OUTPUT:      builtin.module {
// OUTPUT-NEXT:   relax.func @main
// OUTPUT-NEXT:     %y = relax.add %x, %x

// PIPELINE:      normalize,dce
// PIPELINE-NEXT: builtin.module {
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %unused = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %y = relax.add %x, %x : !relax.tensor<[4], f32>, !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %y : !relax.tensor<[4], f32>
}

// RUN: xrelax-opt %s -p call-tir-rewrite --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: expected 'relax.call_dps_packed' outside of dataflow blocks: use ToNonDataflow
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %y = relax.dataflow -> !relax.tensor<[4], f32> {
    %a = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
    relax.output %a : !relax.tensor<[4], f32>
  }
  relax.return %y : !relax.tensor<[4], f32>
}

// -----

// CHECK: 'relax.func': expected 'main' to be declared impure, as it has 'relax.call_packed'
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %a = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4], f32>) -> !relax.tensor<[4], f32>
  relax.return %a : !relax.tensor<[4], f32>
}

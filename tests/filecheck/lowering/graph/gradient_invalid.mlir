// RUN: xrelax-opt %s -p gradient --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected a float of rank 0 to differentiate in 'main', got !relax.tensor<[2], f32>
relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {
  %gv = relax.dataflow -> !relax.tensor<[2], f32> {
    %s = relax.exp %x : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    relax.output %s : !relax.tensor<[2], f32>
  }
  relax.return %gv : !relax.tensor<[2], f32>
}

// -----

// CHECK: expected one dataflow block in 'main', got 'relax.sum' outside
relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[], f32> {
  %s = relax.sum %x : !relax.tensor<[2], f32> -> !relax.tensor<[], f32>
  relax.return %s : !relax.tensor<[], f32>
}

// -----

// CHECK: expected operators with gradients, got 'relax.sort'
relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[], f32> {
  %gv = relax.dataflow -> !relax.tensor<[], f32> {
    %y = relax.sort %x : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>
    %s = relax.sum %y : !relax.tensor<[2], f32> -> !relax.tensor<[], f32>
    relax.output %s : !relax.tensor<[], f32>
  }
  relax.return %gv : !relax.tensor<[], f32>
}

// -----

// CHECK: expected a graph function of the module (other), got 'main'
relax.func @other(%x: !relax.tensor<[], f32>) -> !relax.tensor<[], f32> {
  relax.return %x : !relax.tensor<[], f32>
}

// -----

// CHECK: expected a registered gradient, got 'copy_grad'
tir.prim_func @copy(%X: !tir.buffer<[], f32>, %Y: !tir.buffer<[], f32>) {
  %x = tir.load %X[] : !tir.buffer<[], f32>
  tir.store %x, %Y[] : !tir.buffer<[], f32>
}
relax.func @main(%x: !relax.tensor<[], f32>) -> !relax.tensor<[], f32> {
  %gv = relax.dataflow -> !relax.tensor<[], f32> {
    %y = relax.call_tir @copy(%x) gradient "copy_grad" : (!relax.tensor<[], f32>) -> !relax.tensor<[], f32>
    relax.output %y : !relax.tensor<[], f32>
  }
  relax.return %gv : !relax.tensor<[], f32>
}

// RUN: not xrelax-opt %s -p 'convert-layout{desired_layouts="relax.nn.conv2d NHWC OHWX"}' 2>&1 | filecheck %s --check-prefix LETTERS
// RUN: not xrelax-opt %s -p 'convert-layout{desired_layouts="relax.nn.conv2d NHWC4 OHWI"}' 2>&1 | filecheck %s --check-prefix CHOICE
// RUN: not xrelax-opt %s -p 'convert-layout{desired_layouts="relax.nn.conv2d NHWC"}' 2>&1 | filecheck %s --check-prefix COUNT
// RUN: not xrelax-opt %s -p 'convert-layout{desired_layouts="relax.nn.relu NHWC"}' 2>&1 | filecheck %s --check-prefix OPERATOR

relax.func @main(%x: !relax.tensor<[n, 3, 9, 9], f32>, %w: !relax.tensor<[4, 3, 3, 3], f32>) -> !relax.tensor<[n, 4, 7, 7], f32> {
  %r = relax.dataflow -> !relax.tensor<[n, 4, 7, 7], f32> {
    // LETTERS: error: 'relax.nn.conv2d': expected a permutation of layout OIHW, got OHWX
    // CHOICE: error: 'relax.nn.conv2d': malformed layout 'NHWC4'
    // COUNT: error: expected 2 or 3 layouts of 'relax.nn.conv2d', got 1
    %1 = relax.nn.conv2d %x, %w : !relax.tensor<[n, 3, 9, 9], f32>, !relax.tensor<[4, 3, 3, 3], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    // OPERATOR: error: expected layouts of convolutions or resizes, got 'relax.nn.relu'
    %2 = relax.nn.relu %1 : !relax.tensor<[n, 4, 7, 7], f32> -> !relax.tensor<[n, 4, 7, 7], f32>
    relax.output %2 : !relax.tensor<[n, 4, 7, 7], f32>
  }
  relax.return %r : !relax.tensor<[n, 4, 7, 7], f32>
}

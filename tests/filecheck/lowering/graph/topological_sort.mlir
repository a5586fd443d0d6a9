// RUN: xrelax-opt %s -p topological-sort | filecheck %s --check-prefix=DEPTH
// RUN: xrelax-opt %s -p 'topological-sort{order="breadth-first"}' | filecheck %s --check-prefix=BREADTH
// RUN: xrelax-opt %s -p 'topological-sort{direction="from-outputs"}' | filecheck %s --check-prefix=OUTPUTS
// RUN: xrelax-opt %s -p 'topological-sort{order="breadth-first" direction="from-outputs"}' | filecheck %s --check-prefix=LEVELS
// RUN: not xrelax-opt %s -p 'topological-sort{order="sideways"}' 2>&1 | filecheck %s --check-prefix=ORDER

// ORDER: expected depth-first or breadth-first, got 'sideways'

// Depth first, what uses a value follows it; breadth first, all that uses the inputs comes first.

// DEPTH:        relax.exp %x
// DEPTH-NEXT:   relax.abs
// DEPTH-NEXT:   relax.tan
// DEPTH-NEXT:   relax.sin %x
// DEPTH-NEXT:   relax.cos
// DEPTH-NEXT:   relax.add

// BREADTH:      relax.exp %x
// BREADTH-NEXT: relax.sin %x
// BREADTH-NEXT: relax.abs
// BREADTH-NEXT: relax.cos
// BREADTH-NEXT: relax.tan
// BREADTH-NEXT: relax.add

// From the outputs, operands of the last operation are computed in order; what is not used follows what it uses.

// OUTPUTS:      relax.sin %x
// OUTPUTS-NEXT: relax.cos
// OUTPUTS-NEXT: relax.exp %x
// OUTPUTS-NEXT: relax.abs
// OUTPUTS-NEXT: relax.tan
// OUTPUTS-NEXT: relax.add

// LEVELS:       relax.exp %x
// LEVELS-NEXT:  relax.sin %x
// LEVELS-NEXT:  relax.abs
// LEVELS-NEXT:  relax.tan
// LEVELS-NEXT:  relax.cos
// LEVELS-NEXT:  relax.add
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.dataflow -> !relax.tensor<[n], f32> {
    %0 = relax.exp %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %1 = relax.sin %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %2 = relax.abs %0 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %3 = relax.cos %1 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %4 = relax.tan %2 : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    %5 = relax.add %3, %2 : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output %5 : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// RUN: not xrelax-opt %s -p 'fuse-ops-by-pattern{patterns="relax.add(_, _)"}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not xrelax-opt %s -p 'fuse-ops-by-pattern{patterns="p=relax.ad(_, _)"}' 2>&1 | filecheck %s --check-prefix=OPERATOR
// RUN: not xrelax-opt %s -p 'fuse-ops-by-pattern{patterns="p=relax.add(_"}' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not xrelax-opt %s -p 'fuse-ops-by-pattern{patterns="p=_ & _"}' 2>&1 | filecheck %s --check-prefix=FORM

// NAME: expected name=pattern, got 'relax.add(_, _)'
// OPERATOR: expected an operator of the graph, got 'relax.ad'
// SYNTAX: expected a pattern such as relax.add(_, const), got 'relax.add(_'
// FORM: expected a pattern such as relax.add(_, const), got '_ & _'
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  relax.return %x : !relax.tensor<[4], f32>
}

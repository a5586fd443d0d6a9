// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: ops_invalid.mlir:4:34: error: expected an integer expression
"test.op"() {"a" = #sym.expr<n + >} : () -> ()

// -----

// CHECK: error: expected an integer expression, got 'floordiv'
"test.op"() {"a" = #sym.expr<n + floordiv>} : () -> ()

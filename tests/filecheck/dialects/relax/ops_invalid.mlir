// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'relax.func': expected 1 parameter names, got 2
relax.func @main(%x: !relax.tensor<[n], f32>) params ("x", "y") -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.func': expected distinct parameter names, got x, x
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) params ("x", "x") -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.func': expected a function to end with 'relax.return'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.nn.relu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.func': expected 'main' to return !relax.tensor<[m], f32>, got !relax.tensor<[n], f32>
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[m], f32>) -> !relax.tensor<[m], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.func': symbol 'm' is not determined by the parameters of 'main'
relax.func @main(%x: !relax.tensor<[n, m * 2], f32>) -> !relax.tensor<[n, m * 2], f32> {
  relax.return %x : !relax.tensor<[n, m * 2], f32>
}

// -----

// CHECK: 'relax.func': symbol 'q' is not determined by the parameters of 'main'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.alloc_tensor : !relax.tensor<[q], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.func': symbol 'q' is not determined by the parameters of 'main'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @f(%x) vars [#sym.expr<q + 1>] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.return' expects parent op to be one of 'relax.func', 'relax.local_func'
%x = "test.op"() : () -> !relax.tensor<[n], f32>
relax.return %x : !relax.tensor<[n], f32>

// -----

// CHECK: 'relax.dataflow': expected a dataflow block to end with 'relax.output'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %0 = relax.tuple() : () -> tuple<>
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.dataflow': expected a dataflow block of types !relax.tensor<[4], f32>, got !relax.tensor<[n], f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.dataflow -> !relax.tensor<[4], f32> {
    relax.output %x : !relax.tensor<[n], f32>
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.dataflow': expected a dataflow block not to contain another one
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    relax.dataflow {
      relax.output
    }
    relax.output
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.dataflow': expected pure operations in a dataflow block, got 'relax.call_packed'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %0 = relax.call_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
    relax.output
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.dataflow': expected pure operations in a dataflow block, got 'relax.alloc_tensor'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %0 = relax.alloc_tensor : !relax.tensor<[n], f32>
    relax.output
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.dataflow': expected pure operations in a dataflow block, got 'relax.call'
relax.func impure @log(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %0 = relax.call @log(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.output' expects parent op 'relax.dataflow'
relax.output

// -----

// CHECK: error: value '%y' is used but not defined
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %y = relax.nn.relu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
    relax.output
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'relax.call_tir' to give a tensor or a tuple of tensors, got !relax.object
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @f(%x) : (!relax.tensor<[n], f32>) -> !relax.object
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected te_grad_name with te_grad_kwargs, got {k = 2 : i64} alone
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @f(%x) with {k = 2 : i64} : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'relax.call_tir' to give tensors of known shape and dtype, got !relax.tensor<rank 2, f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @f(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<rank 2, f32>>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'relax.call_dps_packed' to give a tensor or a tuple of tensors, got tuple<>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_dps_packed "f"(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'relax.call_dps_packed' to give tensors of known shape and dtype, got !relax.tensor<[n], ?>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_dps_packed "f"(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], ?>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'relax.alloc_tensor' to give tensors of known shape and dtype, got !relax.tensor<*, f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.alloc_tensor : !relax.tensor<*, f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.tuple': expected a tuple of type tuple<!relax.tensor<[n], f32>>, got tuple<>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.tuple(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.tuple_get_item': expected a field of a tuple of 1, got 1
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.tuple(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>>
  %1 = relax.tuple_get_item %0[1] : tuple<!relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.tuple_get_item': expected field 0 of type !relax.tensor<[n], f32>, got !relax.tensor<[4], f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.tuple(%x) : (!relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>>
  %1 = relax.tuple_get_item %0[0] : tuple<!relax.tensor<[n], f32>> -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.constant': expected a constant of type !relax.tensor<[2], f32>, got !relax.tensor<[3], f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[3], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a dtype, got 'float31'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <float31, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 2 values for shape [2], got 3
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <float32, [2], [1.0, 2.0, 3.0]> : !relax.tensor<[2], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected values of int8, got 300
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <int8, [1], [300]> : !relax.tensor<[1], i8>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected values of int64, got 1.5
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <int64, [1], [1.5]> : !relax.tensor<[1], i64>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected values of bool, got 2
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <bool, [1], [2]> : !relax.tensor<[1], i1>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a number, nan, inf or -inf, got 'two'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.constant <float32, [1], ["two"]> : !relax.tensor<[1], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected an element type of a tensor, got i7
relax.func @main(%x: !relax.tensor<[n], i7>) -> !relax.tensor<[n], i7> {

  relax.return %x : !relax.tensor<[n], i7>
}

// -----

// CHECK: expected tensor dims over symbols of at least 0, got -4
relax.func @main(%x: !relax.tensor<[-4], f32>) -> !relax.tensor<[-4], f32> {

  relax.return %x : !relax.tensor<[-4], f32>
}

// -----

// CHECK: expected tensor dims over symbols of at least 0, got arg(0)
relax.func @main(%x: !relax.tensor<[arg(0)], f32>) -> !relax.tensor<[arg(0)], f32> {

  relax.return %x : !relax.tensor<[arg(0)], f32>
}

// -----

// CHECK: expected 'relax.add' to give !relax.tensor<[n], f32>, got !relax.tensor<[4], f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.add %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected shapes of 'relax.add' to broadcast, got (n, 3) and (m, 2)
relax.func @main(%x: !relax.tensor<[n, 3], f32>, %y: !relax.tensor<[m, 2], f32>) -> !relax.tensor<[n, 3], f32> {
  %0 = relax.add %x, %y : !relax.tensor<[n, 3], f32>, !relax.tensor<[m, 2], f32> -> !relax.tensor<[n, 3], f32>
  relax.return %x : !relax.tensor<[n, 3], f32>
}

// -----

// CHECK: expected operands of 'relax.multiply' to have one dtype, got float32 and int32
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], i32>) -> !relax.tensor<[n], f32> {
  %0 = relax.multiply %x, %y : !relax.tensor<[n], f32>, !relax.tensor<[n], i32> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected operands of 'relax.divide' to be numbers, got bool
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], i1>) -> !relax.tensor<[n], f32> {
  %0 = relax.divide %y, %y : !relax.tensor<[n], i1>, !relax.tensor<[n], i1> -> !relax.tensor<[n], i1>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected shapes of 'relax.matmul' to be compatible, got (n, 4) and (5, n)
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n, 4], f32>, %z: !relax.tensor<[5, n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.matmul %y, %z : !relax.tensor<[n, 4], f32>, !relax.tensor<[5, n], f32> -> !relax.tensor<[n, n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected operands of 'relax.matmul' to have at least one dim, got ()
relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.matmul %x, %y : !relax.tensor<[n], f32>, !relax.tensor<[], f32> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected weight of 'relax.linear' to have rank 2, got (n,)
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.linear %x, %x : !relax.tensor<[n], f32>, !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected data (…, k) and weight (m, k) of 'relax.linear' to be compatible, got (n,) and (4, 5)
relax.func @main(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[4, 5], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.linear %x, %w : !relax.tensor<[n], f32>, !relax.tensor<[4, 5], f32> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected bias of 'relax.linear' to have shape (4,), got (n,)
relax.func @main(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[4, n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.linear %x, %w bias %x : !relax.tensor<[n], f32> : !relax.tensor<[n], f32>, !relax.tensor<[4, n], f32> -> !relax.tensor<[4], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected axes of 'relax.permute_dims' to permute 1 dims, got (1, 0)
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.permute_dims %x {"axes" = array<i64: 1, 0>} : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.if': expected a condition of type !relax.tensor<[], i1> or !relax.prim<i1>, got !relax.tensor<[1], i1>
relax.func @main(%c: !relax.tensor<[1], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.if %c : !relax.tensor<[1], i1> -> !relax.tensor<[n], f32> {
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    relax.yield %x : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected branches to yield !relax.tensor<[n], f32>, got !relax.tensor<[m], f32>
relax.func @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>, %z: !relax.tensor<[m], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    relax.yield %z : !relax.tensor<[m], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a branch to end with 'relax.yield'
relax.func @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    %z = relax.nn.relu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  } else {
    relax.yield %x : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a dataflow block without control flow, got 'relax.if'
relax.func @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %o = relax.dataflow -> !relax.tensor<[n], f32> {
    %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
      relax.yield %x : !relax.tensor<[n], f32>
    } else {
      relax.yield %x : !relax.tensor<[n], f32>
    }
    relax.output %y : !relax.tensor<[n], f32>
  }
  relax.return %o : !relax.tensor<[n], f32>
}

// -----

// A symbol of a branch is unknown outside of it.
// CHECK: symbol 'k' is not determined by the parameters of 'main'
relax.func @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<rank 1, f32>) -> !relax.tensor<rank 1, f32> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[k], f32> {
    %z = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[k], f32>
    relax.yield %z : !relax.tensor<[k], f32>
  } else {
    %z = relax.match_cast %x : !relax.tensor<rank 1, f32> -> !relax.tensor<[k], f32>
    relax.yield %z : !relax.tensor<[k], f32>
  }
  relax.return %y : !relax.tensor<[k], f32>
}

// -----

// CHECK: expected a value that can be !relax.tensor<[n], f32>, got !relax.tensor<rank 2, f32>
relax.func @main(%x: !relax.tensor<rank 2, f32>) -> !relax.tensor<rank 2, f32> {
  %y = relax.match_cast %x : !relax.tensor<rank 2, f32> -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<rank 2, f32>
}

// -----

// CHECK: expected !relax.shape<[n]>, got !relax.shape<[4]>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.shape_of %x : !relax.tensor<[n], f32> -> !relax.shape<[4]>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a shape of known dims, got !relax.shape<rank 1>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.shape : !relax.shape<rank 1>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a number of known value, got !relax.prim<i64>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.prim_value : !relax.prim<i64>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected an integer over symbols, got n
relax.func @main(%x: !relax.tensor<[n], f32>, %p: !relax.prim<f32, n>) -> !relax.tensor<[n], f32> {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'main' to be declared impure, as it has 'relax.call_packed'
relax.func @main(%c: !relax.tensor<[], i1>, %x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.if %c : !relax.tensor<[], i1> -> !relax.tensor<[n], f32> {
    %0 = relax.call_packed "log"(%x) : (!relax.tensor<[n], f32>) -> !relax.object
    relax.yield %x : !relax.tensor<[n], f32>
  } else {
    relax.yield %x : !relax.tensor<[n], f32>
  }
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.local_func': expected 'log' to be declared impure, as it has 'relax.call_packed'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @log(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    %0 = relax.call_packed "log"(%a) : (!relax.tensor<[n], f32>) -> !relax.object
    relax.return %a : !relax.tensor<[n], f32>
  }
  %y = relax.invoke %f(%x) : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'main' to be declared impure, as it has 'relax.invoke'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func impure @log(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    %0 = relax.call_packed "log"(%a) : (!relax.tensor<[n], f32>) -> !relax.object
    relax.return %a : !relax.tensor<[n], f32>
  }
  %y = relax.invoke %f(%x) : !relax.func<impure (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a local function around 'relax.own_func'
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.own_func : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected the type !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>> of 'same', got !relax.func<() -> !relax.object>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @same(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    %own = relax.own_func : !relax.func<() -> !relax.object>
    relax.return %a : !relax.tensor<[n], f32>
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 1 arguments, got 0
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @same(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
    relax.return %a : !relax.tensor<[n], f32>
  }
  %y = relax.invoke %f() : !relax.func<(!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>>, () -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'same' to return !relax.tensor<[4], f32>, got !relax.tensor<[n], f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %f = relax.local_func @same(%a: !relax.tensor<[n], f32>) -> !relax.tensor<[4], f32> {
    relax.return %a : !relax.tensor<[n], f32>
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a format of 1 values of 'relax.print', got '{} {}'
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.print "{} {}"(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a format of 'relax.print', got '{'
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.print "{"(%x) : (!relax.tensor<[n], f32>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected tensors for 'relax.print', got !relax.shape<[n]>
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %s = relax.shape : !relax.shape<[n]>
  %0 = relax.print ""(%s) : (!relax.shape<[n]>) -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: 'relax.assert': expected a condition of one bool, got !relax.tensor<[n], f32>
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.assert %x, ""() : !relax.tensor<[n], f32>, () -> tuple<>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 1 inplace indices, got 2
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir_inplace @f(%x) inplace [0, -1] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected distinct arguments to change, got -1
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir_inplace @f(%x) inplace [-1] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected argument 0 not to be used afterwards
relax.func @packed_used(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_pure_packed "f"(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected results in place to be no tuples, got tuple<>
relax.func @packed_tuple(%x: tuple<>) -> tuple<tuple<>> {
  %0 = relax.call_pure_packed "f"(%x) inplace [0] : (tuple<>) -> tuple<tuple<>>
  relax.return %0 : tuple<tuple<>>
}

// -----

// CHECK: expected one of 1 arguments, got 1
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir_inplace @f(%x) inplace [1] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %0 : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected argument 0 to have the type of its output, !relax.tensor<[4], f32>, got !relax.tensor<[n], f32>
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_tir_inplace @f(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[4], f32>
  relax.return %0 : !relax.tensor<[4], f32>
}

// -----

// CHECK: expected argument 0 not to be used afterwards
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir_inplace @f(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// A cast has the memory of what it casts, and so has a field of a tuple.

// CHECK: expected argument 0 not to be used afterwards
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %t = relax.tuple(%x, %x) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>>
  %y = relax.tuple_get_item %t[1] : tuple<!relax.tensor<[n], f32>, !relax.tensor<[n], f32>> -> !relax.tensor<[n], f32>
  %0 = relax.call_tir_inplace @f(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}

// -----

// What follows a dataflow block follows the call in it.

// CHECK: expected argument 0 not to be used afterwards
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  relax.dataflow {
    %0 = relax.call_tir_inplace @f(%x) inplace [0] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
    relax.output
  }
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected data (m, k), weight (g, k, n) and offsets (g,) of 'relax.grouped_matmul', got (n, 4), (3, 6, 4), (3,)
relax.func @main(%x: !relax.tensor<[n, 4], f32>, %w: !relax.tensor<[3, 6, 4], f32>, %ends: !relax.tensor<[3], i32>) -> !relax.tensor<[n, 6], f32> {
  %0 = relax.grouped_matmul %x, %w, %ends : !relax.tensor<[n, 4], f32>, !relax.tensor<[3, 6, 4], f32>, !relax.tensor<[3], i32> -> !relax.tensor<[n, 6], f32>
  relax.return %0 : !relax.tensor<[n, 6], f32>
}

// -----

// CHECK: expected 'tir_var_upper_bound' to have integers of symbols, got {n = "8"}
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {"tir_var_upper_bound" = {"n" = "8"}} {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected 'tir_var_lower_bound' to have integers of symbols, got 2 : i64
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> attributes {"tir_var_lower_bound" = 2 : i64} {
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected !relax.tensor<[], f32>, got !relax.tensor<[1], f32>
relax.func @main(%x: !relax.prim<f32>) -> !relax.tensor<[1], f32> {
  %0 = relax.prim_to_tensor %x : !relax.prim<f32> -> !relax.tensor<[1], f32>
  relax.return %0 : !relax.tensor<[1], f32>
}

// -----

// CHECK: expected a tensor of rank 0 and known dtype, got !relax.tensor<[1], f32>
relax.func @main(%x: !relax.tensor<[1], f32>) -> !relax.prim<f32> {
  %0 = relax.tensor_to_prim %x : !relax.tensor<[1], f32> -> !relax.prim<f32>
  relax.return %0 : !relax.prim<f32>
}

// -----

// CHECK: expected !relax.prim<f32>, got !relax.prim<i64>
relax.func @main(%x: !relax.tensor<[], f32>) -> !relax.prim<i64> {
  %0 = relax.tensor_to_prim %x : !relax.tensor<[], f32> -> !relax.prim<i64>
  relax.return %0 : !relax.prim<i64>
}

// -----

// CHECK: expected a number of int64, got 9223372036854775808
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %0 = relax.call_tir @f(%x) vars [#sym.expr<9223372036854775808>] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
  relax.return %x : !relax.tensor<[n], f32>
}

// -----

// CHECK: expected a number of int64, got -9223372036854775809
relax.func @main() -> !relax.prim<i64, -9223372036854775809> {
  %0 = relax.prim_value : !relax.prim<i64, -9223372036854775809>
  relax.return %0 : !relax.prim<i64, -9223372036854775809>
}

// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'rt.func': expected at most 1 results, got 2
"rt.func"() ({
^bb0(%x: !tir.buffer<[n], f32>):
}) {"sym_name" = "main", "param_names" = [], "num_results" = #builtin.int<2>, "written" = []} : () -> ()

// -----

// CHECK: 'rt.func': expected 1 parameter names, got 0
"rt.func"() <{"sym_name" = "main", "param_names" = [], "num_results" = #builtin.int<1>, "written" = []}> ({
^bb0(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>):
}) : () -> ()

// -----

// CHECK: 'rt.func': expected distinct parameter names, got x, x
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) params ("x", "x") {
}

// -----

// CHECK: 'rt.func': expected written parameters among 1, got 1
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 written [1] {
}

// -----

// CHECK: 'rt.func': expected a buffer, got f32
rt.func @main(%x: f32) {
}

// -----

// CHECK: symbol 'm' in 'rt.func' is not determined by the parameters of 'main'
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n, m], f32>) results 1 {

}

// -----

// CHECK: 'rt.func': symbol 'm' in 'rt.alloc' is not determined by the parameters of 'main'
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %t = rt.alloc : !tir.buffer<[m], f32>
}

// -----

// CHECK: 'rt.func': symbol 'm' in 'rt.call_dps' is not determined by the parameters of 'main'
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.call_dps @f(%x) outs(%y) vars [m + 1] : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}

// -----

// CHECK: 'rt.arena': expected an arena size over symbols, got arg(0)
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %a = "rt.arena"() <{"size" = #sym.expr<arg(0)>}> : () -> !tir.buffer<[64], i8>
}

// -----

// CHECK: 'rt.arena': expected an arena of type !tir.buffer<[64], i8>, got !tir.buffer<[32], i8>
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %a = "rt.arena"() <{"size" = #sym.expr<64>}> : () -> !tir.buffer<[32], i8>
}

// -----

// CHECK: 'rt.view': expected a view of bytes, got !tir.buffer<[n], f32>
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %v = rt.view %x[0] : !tir.buffer<[n], f32> to !tir.buffer<[n], f32>
}

// -----

// CHECK: 'rt.view': expected a byte offset over symbols, at least 0, got -4
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %a = rt.arena 64
  %v = rt.view %a[-4] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
}

// -----

// CHECK: 'rt.view': expected a byte offset over symbols, at least 0, got arg(0)
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %a = rt.arena 64
  %v = rt.view %a[arg(0)] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
}

// -----

// CHECK: 'rt.view': expected a view within n * 4 bytes, got one that ends 16 bytes later
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %a = rt.arena n * 4
  %v = rt.view %a[16] : !tir.buffer<[n * 4], i8> to !tir.buffer<[n], f32>
}

// -----

// CHECK: 'rt.constant': expected a constant of type !tir.buffer<[1], f32>, got !tir.buffer<[2], f32>
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  %w = rt.constant <float32, [1], [1.0]> : !tir.buffer<[2], f32>
}

// -----

// CHECK: 'rt.copy': expected a copy between tensors of one type, got !tir.buffer<[5], f32> and !tir.buffer<[4], f32>
rt.func @main(%x: !tir.buffer<[5], f32>) {
  %t = rt.alloc : !tir.buffer<[4], f32>
  rt.copy %x, %t : !tir.buffer<[5], f32>, !tir.buffer<[4], f32>
}

// -----

// CHECK: expected outputs of 'rt.call_dps' to be distinct from each other and from its inputs
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.call_dps @f(%x) outs(%x) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}

// -----

// CHECK: expected outputs of 'rt.call_dps' to be distinct from each other and from its inputs
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.call_dps @f() outs(%y, %y) : (), (!tir.buffer<[n], f32>, !tir.buffer<[n], f32>)
}

// -----

// CHECK: 'rt.call_dps': expected vars over symbols, got arg(0)
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.call_dps @f(%x) outs(%y) vars [arg(0)] : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}

// -----

// CHECK: expected outputs of 'rt.call_packed' to be distinct from each other and from its inputs
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.call_packed "f"(%x) outs(%x) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}

// -----

// CHECK: expected calls, loops, copies and allocations in a dataflow region, got 'rt.dataflow'
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.dataflow {
    rt.dataflow {
    }
  }
}

// -----

// CHECK: 'rt.dataflow': expected calls, loops, copies and allocations in a dataflow region, got 'rt.check'
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.dataflow {
    rt.check %x "x" : !tir.buffer<[n], f32>
  }
}

// -----

// CHECK: 'rt.dataflow': expected calls, loops, copies and allocations in a dataflow region, got 'rt.arena'
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.dataflow {
    %a = rt.arena 64
  }
}

// -----

// CHECK: expected a condition of one bool, got !tir.buffer<[1], i1>
rt.func @main(%c: !tir.buffer<[1], i1>) {
  rt.if %c : !tir.buffer<[1], i1> { } else { }
}

// -----

// CHECK: expected 'rt.arena' outside of 'rt.if'
rt.func @main(%c: !tir.buffer<[], i1>) {
  rt.if %c : !tir.buffer<[], i1> {
    %a = rt.arena 64
  } else { }
}

// -----

// CHECK: expected a predicate (eq, ge), got 'lt'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.assert n lt 3, "no"
}

// -----

// CHECK: symbol 'k' in 'rt.assert' is not determined by the parameters of 'main'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.assert n eq k, "no"
}

// -----

// CHECK: expected a signature that determines the symbols
rt.func @main(%x: !tir.buffer<[n], f32>) symbols [k] {
}

// -----

// CHECK: expected 1 parameters for the signature, got 2
rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) signature ("x") : (!relax.tensor<[n], f32>) -> tuple<> {
}

// -----

// CHECK: expected a signature that has the aliased results
rt.func @main(%x: !tir.buffer<[n], f32>) written [0] aliased [0] {
}

// -----

// CHECK: expected 1 aliased parameters or -1, got 2
rt.func @main(%x: !tir.buffer<[n], f32>) written [0] signature ("x") : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> aliased [0, 0] {
}

// -----

// CHECK: expected an aliased parameter to be written, got 0
rt.func @main(%x: !tir.buffer<[n], f32>) signature ("x") : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> aliased [0] {
}

// -----

// CHECK: expected the signature to determine symbol 'k'
rt.func @main(%x: !tir.buffer<[n], f32>) symbols [k] signature ("x") : (!relax.tensor<[n], f32>) -> tuple<> {
}

// -----

// CHECK: expected a text for relax.print, relax.assert, relax.str, vm.builtin.value_of, got 'f'
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.call_packed "f" text "{}" (%x) outs() : (!tir.buffer<[n], f32>), ()
}

// -----

// CHECK: expected values to keep that a function returns, and no outputs
rt.func @main(%x: !tir.buffer<[n], f32>) {
  rt.call_packed "f" returns kept [[0]] () outs(%x) : (), (!tir.buffer<[n], f32>)
}

// -----

// CHECK: expected 1 inputs for the signature, got 0
rt.func @main() {
  rt.call_packed "f"() outs() : (), () signature (!relax.object, !relax.shape<[4]>) -> tuple<>
}

// -----

// CHECK: expected 2 outputs for the signature, got 1
rt.func @main(%y: !tir.buffer<[], i64>) results 1 {
  rt.call_packed "f" returns () outs(%y) : (), (!tir.buffer<[], i64>) signature () -> tuple<!relax.object, !relax.prim<i64>>
}

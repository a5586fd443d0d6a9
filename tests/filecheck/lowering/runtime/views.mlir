// RUN: xrelax-opt %s -p convert-relax-to-rt --split-input-file | filecheck %s
// RUN: xrelax-opt %s -p convert-relax-to-rt,plan-memory --split-input-file | filecheck %s --check-prefix=PLAN

// What a returned view shows is computed in the memory of the result, under its own dims.

// CHECK-LABEL: rt.func @result(%x: !tir.buffer<[n, 12], f32>, %z: !tir.buffer<[n * 12], f32>) results 1 {
// CHECK-NEXT:    rt.check %x
// CHECK-NEXT:    %0 = rt.reinterpret %z : !tir.buffer<[n * 12], f32> to !tir.buffer<[n, 12], f32>
// CHECK-NEXT:    rt.call_packed "f"(%x) outs(%0)
// CHECK-NEXT:    %y = rt.reinterpret %z : !tir.buffer<[n * 12], f32> to !tir.buffer<[n, 3, 4], f32>
// CHECK-NEXT:  }
// PLAN-LABEL: rt.func @result
relax.func @result(%x: !relax.tensor<[n, 12], f32>) -> !relax.tensor<[n * 12], f32> {
  %0 = relax.call_dps_packed "f"(%x) : (!relax.tensor<[n, 12], f32>) -> !relax.tensor<[n, 12], f32>
  %y = relax.memory.view %0 {shape = [#sym.expr<n>, #sym.expr<3>, #sym.expr<4>]} : !relax.tensor<[n, 12], f32> -> !relax.tensor<[n, 3, 4], f32>
  %z = relax.memory.view %y {shape = [#sym.expr<n * 12>]} : !relax.tensor<[n, 3, 4], f32> -> !relax.tensor<[n * 12], f32>
  relax.return %z : !relax.tensor<[n * 12], f32>
}

// -----

// A view of a parameter that is returned is copied, and so is a tensor that is returned twice.

// CHECK-LABEL: rt.func @copies
// CHECK-SAME:    (%x: !tir.buffer<[4, 3], f32>, [[R:%.*]]: !tir.buffer<[12], f32>, %b: !tir.buffer<[4, 3], f32>, [[S:%.*]]: !tir.buffer<[12], f32>)
// CHECK:         [[Y:%.*]] = rt.reinterpret %x : !tir.buffer<[4, 3], f32> to !tir.buffer<[12], f32>
// CHECK-NEXT:    rt.call_packed "f"(%x) outs(%b)
// CHECK-NEXT:    [[C:%.*]] = rt.reinterpret %b : !tir.buffer<[4, 3], f32> to !tir.buffer<[12], f32>
// CHECK-NEXT:    rt.copy [[Y]], [[R]] :
// CHECK-NEXT:    rt.copy [[C]], [[S]] :
// PLAN-LABEL: rt.func @copies
relax.func @copies(%x: !relax.tensor<[4, 3], f32>) -> tuple<!relax.tensor<[12], f32>, !relax.tensor<[4, 3], f32>, !relax.tensor<[12], f32>> {
  %y = relax.memory.view %x {shape = [#sym.expr<12>]} : !relax.tensor<[4, 3], f32> -> !relax.tensor<[12], f32>
  %b = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4, 3], f32>) -> !relax.tensor<[4, 3], f32>
  %c = relax.memory.view %b {shape = [#sym.expr<12>]} : !relax.tensor<[4, 3], f32> -> !relax.tensor<[12], f32>
  %t = relax.tuple(%y, %b, %c) : (!relax.tensor<[12], f32>, !relax.tensor<[4, 3], f32>, !relax.tensor<[12], f32>) -> tuple<!relax.tensor<[12], f32>, !relax.tensor<[4, 3], f32>, !relax.tensor<[12], f32>>
  relax.return %t : tuple<!relax.tensor<[12], f32>, !relax.tensor<[4, 3], f32>, !relax.tensor<[12], f32>>
}

// -----

// Memory is in use as long as a view of it is, here until the last call.

// CHECK-LABEL: rt.func @liveness
// PLAN-LABEL: rt.func @liveness
// PLAN:         %0 = rt.arena 128
// PLAN:         %a = rt.view %0[0]
// PLAN-NEXT:    rt.call_packed "f"(%x) outs(%a)
// PLAN-NEXT:    %b = rt.reinterpret %a
// PLAN-NEXT:    %c = rt.view %0[64]
// PLAN-NEXT:    rt.call_packed "f"(%x) outs(%c)
// PLAN-NEXT:    rt.call_packed "g"(%b, %c) outs(%d)
relax.func @liveness(%x: !relax.tensor<[4, 3], f32>) -> !relax.tensor<[12], f32> {
  %a = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4, 3], f32>) -> !relax.tensor<[4, 3], f32>
  %b = relax.memory.view %a {shape = [#sym.expr<12>]} : !relax.tensor<[4, 3], f32> -> !relax.tensor<[12], f32>
  %c = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4, 3], f32>) -> !relax.tensor<[4, 3], f32>
  %d = relax.call_dps_packed "g"(%b, %c) : (!relax.tensor<[12], f32>, !relax.tensor<[4, 3], f32>) -> !relax.tensor<[12], f32>
  relax.return %d : !relax.tensor<[12], f32>
}

// -----

// A view that a dataflow block outputs is known outside of the block, with the memory that it shows.

// CHECK-LABEL: rt.func @dataflow
// CHECK:         %a = rt.alloc
// CHECK-NEXT:    %b = rt.reinterpret %a
// CHECK-NEXT:    rt.dataflow {
// CHECK-NEXT:      rt.call_packed "f"(%x) outs(%a)
// CHECK-NEXT:    }
// CHECK-NEXT:    rt.call_packed "g"(%b) outs(%d)
// PLAN-LABEL: rt.func @dataflow
relax.func @dataflow(%x: !relax.tensor<[4, 3], f32>) -> !relax.tensor<[12], f32> {
  %o = relax.dataflow -> !relax.tensor<[12], f32> {
    %a = relax.call_dps_packed "f"(%x) : (!relax.tensor<[4, 3], f32>) -> !relax.tensor<[4, 3], f32>
    %b = relax.memory.view %a {shape = [#sym.expr<12>]} : !relax.tensor<[4, 3], f32> -> !relax.tensor<[12], f32>
    relax.output %b : !relax.tensor<[12], f32>
  }
  %d = relax.call_dps_packed "g"(%o) : (!relax.tensor<[12], f32>) -> !relax.tensor<[12], f32>
  relax.return %d : !relax.tensor<[12], f32>
}

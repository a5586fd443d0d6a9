// RUN: xrelax-opt %s -p convert-to-llvm --split-input-file | filecheck %s

// An entry reads pointers and symbols from its arguments, scratch memory and constants from the context.

rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
  rt.check %x "x" : !tir.buffer<[n], f32>
  %a = rt.arena n * 4 + 64
  %t = rt.view %a[64] : !tir.buffer<[n * 4 + 64], i8> to !tir.buffer<[n], f32>
  %c = rt.constant <float32, [1], [2.0]> : !tir.buffer<[1], f32>
  rt.dataflow {
    rt.call_dps @k(%x, %c) outs(%t) : (!tir.buffer<[n], f32>, !tir.buffer<[1], f32>), (!tir.buffer<[n], f32>)
  }
  rt.call_packed "env.relu"(%t) outs(%y) : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
}

loops.func @k(%X: !tir.buffer<[m], f32>, %C: !tir.buffer<[1], f32>, %Y: !tir.buffer<[m], f32>) symbols [m] noalias {
}

// The scratch memory is aligned to a cache line.
// CHECK:      llvm.func internal @xrelax.k({{.*}}%X: !llvm.ptr {llvm.align = 4 : i64{{.*}}%Y: !llvm.ptr {llvm.align = 64 : i64

// CHECK:      llvm.func @xrelax.main(%[[CTX:.*]]: !llvm.ptr, %[[ARGV:.*]]: !llvm.ptr) -> i32
// CHECK:      %[[X:.*]] = llvm.load %[[ARGV]] {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      %[[Y:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      %[[N:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> i64
// CHECK:      %[[ARENA:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      %[[T:.*]] = llvm.getelementptr inbounds %[[ARENA]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:      %[[TABLE:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      %[[C:.*]] = llvm.load %[[TABLE]] {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      llvm.call @xrelax.k(%[[CTX]], %[[X]], %[[C]], %[[T]], %[[N]]) :
// CHECK-NOT:  icmp
// CHECK:      %[[STATUS:.*]] = llvm_ext.call_ptr %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i64, i32, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-NEXT: llvm.icmp "ne" %[[STATUS]]

// -----

// Only a call that can fail is tested.

rt.func private @inner(%x: !tir.buffer<[n], f32>) {
  rt.call_dps @checked(%x) outs() : (!tir.buffer<[n], f32>), ()
}

loops.func @checked(%X: !tir.buffer<[n], f32>) symbols [n] {
  %ok = arith.constant false
  tir.assert %ok, "never"
}

// CHECK:      llvm.func internal @xrelax.checked(
// CHECK:      llvm.mlir.constant(2 : i32) : i32
// CHECK:      llvm.func internal @xrelax.inner(%{{.*}}: !llvm.ptr, %x: !llvm.ptr, %{{.*}}: i64) -> i32
// CHECK:      %[[STATUS:.*]] = llvm.call @xrelax.checked(
// CHECK-NEXT: %[[FAILED:.*]] = llvm.icmp "ne" %[[STATUS]]
// CHECK-NEXT: llvm.cond_br %[[FAILED]]

// RUN: xrelax-opt %s -p convert-to-llvm --split-input-file | filecheck %s

// Pointers to carried memory exchange places from one iteration to the next; after an odd number of
// iterations what was written last is copied. A slice is a pointer. The loop polls for signals, as
// the kernel does not.

rt.func @main(%x: !tir.buffer<[n, 4], f32>, %h: !tir.buffer<[4], f32>) results 1 {
  %a = rt.arena 64
  %s = rt.view %a[0] : !tir.buffer<[64], i8> to !tir.buffer<[4], f32>
  rt.for i to n carried (%c, %d) = (%h, %s) : !tir.buffer<[4], f32> {
    %r = rt.slice %x[i] : !tir.buffer<[n, 4], f32> to !tir.buffer<[4], f32>
    rt.call_dps @k(%c, %r) outs(%d) : (!tir.buffer<[4], f32>, !tir.buffer<[4], f32>), (!tir.buffer<[4], f32>)
  }
}
loops.func @k(%H: !tir.buffer<[4], f32>, %X: !tir.buffer<[4], f32>, %Y: !tir.buffer<[4], f32>) noalias {
}

// The kernel relies on the alignment of the spare memory only if that of the result has it, too.
// CHECK:      llvm.func internal @xrelax.k({{.*}}%H: !llvm.ptr {llvm.align = 4 : i64{{.*}}%X: !llvm.ptr {llvm.align = 4 : i64{{.*}}%Y: !llvm.ptr {llvm.align = 4 : i64
// CHECK-LABEL: llvm.func @xrelax.main(
// CHECK:      %[[X:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      %[[H:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      %[[N:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> i64
// CHECK:      llvm.store
// CHECK:      %[[S:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:      llvm.br ^[[HEADER:.*]](%{{.*}}, %[[H]], %[[S]] : i64, !llvm.ptr, !llvm.ptr)
// CHECK-NEXT: ^[[HEADER]](%[[I:.*]]: i64, %[[C:.*]]: !llvm.ptr, %[[D:.*]]: !llvm.ptr):
// CHECK-NEXT:   %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %[[N]]
// CHECK-NEXT:   llvm.cond_br %[[MORE]]
// CHECK:        llvm.call @xrelax.helper.poll_when_due
// CHECK:        %[[OFFSET:.*]] = llvm.mul %[[I]], %{{.*}}
// CHECK:        %[[R:.*]] = llvm.getelementptr inbounds %[[X]][%[[OFFSET]]]
// CHECK:        llvm.call @xrelax.k(%{{.*}}, %[[C]], %[[R]], %[[D]])
// CHECK:        %[[J:.*]] = llvm.add %[[I]], %{{.*}}
// CHECK-NEXT:   llvm.br ^[[HEADER]](%[[J]], %[[D]], %[[C]] : i64, !llvm.ptr, !llvm.ptr)
// CHECK:        %[[ODD:.*]] = llvm.and %[[I]], %{{.*}}
// CHECK:        llvm_ext.intrinsic "llvm.memcpy"(%[[H]], %[[S]],

// -----

// A while loop reads its condition in every iteration. It does not poll, as its function does.

rt.func @main(%c: !tir.buffer<[], i1>) written [0] {
  rt.for i to 5 while %c : !tir.buffer<[], i1> {
    rt.call_dps @body(%c) outs() : (!tir.buffer<[], i1>), ()
  }
}
rt.func private @body(%c: !tir.buffer<[], i1>) written [0] {
  rt.call_dps @k() outs(%c) : (), (!tir.buffer<[], i1>)
}
loops.func @k(%C: !tir.buffer<[], i1>) {
}
// CHECK-LABEL: llvm.func internal @xrelax.body(
// CHECK:         llvm.call @xrelax.helper.poll_when_due
// CHECK-LABEL: llvm.func @xrelax.main(
// CHECK:         %[[C:.*]] = llvm.load %{{.*}} {llvm_ext.invariant} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.icmp "slt"
// CHECK-NOT:     poll_when_due
// CHECK:         llvm.call @xrelax.body(%{{.*}}, %[[C]])
// CHECK:         %[[HOLDS:.*]] = llvm.load %[[C]] : !llvm.ptr -> i8
// CHECK-NEXT:    %[[MORE:.*]] = llvm.icmp "ne" %[[HOLDS]]
// CHECK-NEXT:    llvm.cond_br %[[MORE]]

// -----

// Slices of aligned memory are aligned if their size is a multiple of the alignment.

rt.func @main() {
  %a = rt.arena 384
  %x = rt.view %a[0] : !tir.buffer<[384], i8> to !tir.buffer<[2, 16], f32>
  %y = rt.view %a[128] : !tir.buffer<[384], i8> to !tir.buffer<[2, 20], f32>
  rt.for i to 2 {
    %r = rt.slice %x[i] : !tir.buffer<[2, 16], f32> to !tir.buffer<[16], f32>
    %s = rt.slice %y[i] : !tir.buffer<[2, 20], f32> to !tir.buffer<[20], f32>
    rt.call_dps @k(%r) outs(%s) : (!tir.buffer<[16], f32>), (!tir.buffer<[20], f32>)
  }
}
loops.func @k(%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[20], f32>) noalias {
}
// CHECK: llvm.func internal @xrelax.k({{.*}}%X: !llvm.ptr {llvm.align = 64 : i64{{.*}}%Y: !llvm.ptr {llvm.align = 4 : i64

// RUN: xrelax-opt %s -p convert-relax-to-rt --split-input-file | filecheck %s --check-prefix=RT
// RUN: xrelax-opt %s -p convert-relax-to-rt,plan-memory --split-input-file | filecheck %s

// A storage is one piece of the arena, also by a view of a tensor in it. Its tensors are at their offsets. A returned
// one is copied.

// RT-LABEL:    rt.func @main
// RT:            %s = rt.alloc : !tir.buffer<[n * 4 + 64], i8>
// RT-NEXT:       %a = rt.view %s[64] : !tir.buffer<[n * 4 + 64], i8> to !tir.buffer<[n], f32>
// RT-NEXT:       rt.call_packed "f"(%x, %a)
// CHECK-LABEL: rt.func @main(%x: !tir.buffer<[n], f32>, %c: !tir.buffer<[n], f32>) results 1 {
// CHECK:         [[A:%[0-9]+]] = rt.arena ((n + 15) floordiv 16) * 128 + 64
// CHECK-NEXT:    %a = rt.view [[A]][64] :
// CHECK-NEXT:    rt.call_packed "f"(%x, %a)
// CHECK-NEXT:    %b = rt.view [[A]][0] :
// CHECK-NEXT:    rt.call_packed "f"(%a, %b)
// CHECK-NEXT:    [[C:%c_?[0-9]*]] = rt.view [[A]][((n + 15) floordiv 16) * 64 + 64] :
// CHECK-NEXT:    rt.call_packed "f"(%b, [[C]])
// CHECK-NEXT:    rt.copy [[C]], %c
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %s = relax.memory.alloc_storage n * 4 + 64
  %a = relax.memory.alloc_tensor %s[64] : !relax.tensor<[n], f32>
  %0 = relax.call_packed "f"(%x, %a) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<>
  %b = relax.memory.alloc_tensor %s[0] : !relax.tensor<[16], f32>
  %1 = relax.call_packed "f"(%a, %b) : (!relax.tensor<[n], f32>, !relax.tensor<[16], f32>) -> tuple<>
  %t = relax.memory.alloc_storage n * 4
  %c = relax.memory.alloc_tensor %t[0] : !relax.tensor<[n], f32>
  %2 = relax.call_packed "f"(%b, %c) : (!relax.tensor<[16], f32>, !relax.tensor<[n], f32>) -> tuple<>
  relax.return %c : !relax.tensor<[n], f32>
}

// -----

// A kernel writes the operands from its first output on; a parameter that it writes is the caller's.

// CHECK-LABEL: rt.func @written(%x: !tir.buffer<[4], f32>, %y: !tir.buffer<[4], f32>, %y_1: !tir.buffer<[4], f32>) results 1 written [0]
// CHECK:         rt.call_dps @zero.kernel() outs(%x)
relax.func impure @written(%x: !relax.tensor<[4], f32>, %y: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %0 = relax.call_kernel @zero(%x) : (!relax.tensor<[4], f32>) -> tuple<>
  relax.return %y : !relax.tensor<[4], f32>
}
tir.prim_func @zero(%A: !tir.buffer<[4], f32>) {
  tir.for %i in (0, 4) {
    tir.block "A" (%vi: spatial (0, 4) = %i) reads () writes (%A[%vi]) {
      %0 = arith.constant 0.0 : f32
      tir.store %0, %A[%vi] : !tir.buffer<[4], f32>
    }
  }
}

// -----

// Whether a tensor is within its storage is checked where only the sizes of a call say it.

// RT-LABEL:    rt.func @fits
// RT:            %s = rt.alloc : !tir.buffer<[64], i8>
// RT-NEXT:       rt.assert 64 ge n * 4 + 16, "expected 'a' in 'fits' within the storage of {0} bytes, got {1}"
// RT-NEXT:       {{%a.*}} = rt.view %s[16]
relax.func impure @fits(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %s = relax.memory.alloc_storage 64
  %a = relax.memory.alloc_tensor %s[16] : !relax.tensor<[n], f32>
  relax.return %a : !relax.tensor<[n], f32>
}

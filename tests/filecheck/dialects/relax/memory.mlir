// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Two tensors share storage; a kernel is called on its inputs and outputs.

// CHECK-LABEL: relax.func impure @main
relax.func impure @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  // CHECK-NEXT: %s = relax.memory.alloc_storage n * 4 + 64
  %s = relax.memory.alloc_storage n * 4 + 64
  // CHECK-NEXT: %a = relax.memory.alloc_tensor %s[64] : !relax.tensor<[n], f32>
  %a = relax.memory.alloc_tensor %s[64] : !relax.tensor<[n], f32>
  // CHECK-NEXT: relax.call_kernel @copy(%x, %a) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<>
  %0 = relax.call_kernel @copy(%x, %a) : (!relax.tensor<[n], f32>, !relax.tensor<[n], f32>) -> tuple<>
  // CHECK-NEXT: %b = relax.memory.alloc_tensor %s[0] : !relax.tensor<[16], f32>
  %b = relax.memory.alloc_tensor %s[0] : !relax.tensor<[16], f32>
  // CHECK-NEXT: relax.memory.kill_storage %s : (!relax.object) -> tuple<>
  %1 = relax.memory.kill_storage %s : (!relax.object) -> tuple<>
  // CHECK-NEXT: relax.call_kernel @fill(%b) vars [#sym.expr<n + 1>] : (!relax.tensor<[16], f32>) -> tuple<>
  %2 = relax.call_kernel @fill(%b) vars [#sym.expr<n + 1>] : (!relax.tensor<[16], f32>) -> tuple<>
  // CHECK-NEXT: relax.memory.kill_tensor %b : (!relax.tensor<[16], f32>) -> tuple<>
  %3 = relax.memory.kill_tensor %b : (!relax.tensor<[16], f32>) -> tuple<>
  relax.return %a : !relax.tensor<[n], f32>
}

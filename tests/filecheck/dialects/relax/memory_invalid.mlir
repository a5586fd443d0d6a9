// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: 'relax.memory.alloc_tensor': expected a tensor within 32 bytes, got one that ends 8 bytes later
relax.func impure @main() -> !relax.tensor<[8], f32> {
  %s = relax.memory.alloc_storage 32
  %a = relax.memory.alloc_tensor %s[8] : !relax.tensor<[8], f32>
  relax.return %a : !relax.tensor<[8], f32>
}

// -----

// CHECK: 'relax.memory.alloc_tensor': expected an offset that is a multiple of 4 bytes, got 2
relax.func impure @main() -> !relax.tensor<[8], f32> {
  %s = relax.memory.alloc_storage 64
  %a = relax.memory.alloc_tensor %s[2] : !relax.tensor<[8], f32>
  relax.return %a : !relax.tensor<[8], f32>
}

// -----

// CHECK: 'relax.memory.alloc_tensor': expected a byte offset over symbols, at least 0, got -4
relax.func impure @main() -> !relax.tensor<[8], f32> {
  %s = relax.memory.alloc_storage 64
  %a = relax.memory.alloc_tensor %s[-4] : !relax.tensor<[8], f32>
  relax.return %a : !relax.tensor<[8], f32>
}

// -----

// CHECK: 'relax.memory.alloc_tensor': expected storage of 'relax.memory.alloc_storage', got s
relax.func impure @main(%s: !relax.object) -> !relax.tensor<[8], f32> {
  %a = relax.memory.alloc_tensor %s[0] : !relax.tensor<[8], f32>
  relax.return %a : !relax.tensor<[8], f32>
}

// -----

// CHECK: 'relax.memory.alloc_storage': expected a size over symbols, at least 0, got -1
relax.func impure @main(%x: !relax.tensor<[8], f32>) -> !relax.tensor<[8], f32> {
  %s = relax.memory.alloc_storage -1
  relax.return %x : !relax.tensor<[8], f32>
}

// -----

// CHECK: error: expected 'a' not to be used after 'relax.memory.kill_tensor'
relax.func impure @main() -> !relax.tensor<[8], f32> {
  %a = relax.alloc_tensor : !relax.tensor<[8], f32>
  %0 = relax.memory.kill_tensor %a : (!relax.tensor<[8], f32>) -> tuple<>
  relax.return %a : !relax.tensor<[8], f32>
}

// -----

// CHECK: 'relax.func': expected 'main' to be declared impure, as it has 'relax.call_kernel'
relax.func @main(%x: !relax.tensor<[8], f32>) -> !relax.tensor<[8], f32> {
  %a = relax.alloc_tensor : !relax.tensor<[8], f32>
  %0 = relax.call_kernel @copy(%x, %a) : (!relax.tensor<[8], f32>, !relax.tensor<[8], f32>) -> tuple<>
  relax.return %a : !relax.tensor<[8], f32>
}

// -----

// CHECK: error: expected 'relax.call_kernel' to give tuple<>, got !relax.object
relax.func impure @main(%x: !relax.tensor<[8], f32>) -> !relax.tensor<[8], f32> {
  %0 = relax.call_kernel @fill(%x) : (!relax.tensor<[8], f32>) -> !relax.object
  relax.return %x : !relax.tensor<[8], f32>
}

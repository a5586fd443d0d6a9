// RUN: xrelax-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected a view of 'relax.nn.pack_words' to be of vectors of whole words, got (n, 6) along axis 1
relax.func @main(%x: !relax.tensor<[n, 6], i8>) -> !relax.tensor<[n, 2], i32> {
  %0 = relax.nn.pack_words %x {view = true} : !relax.tensor<[n, 6], i8> -> !relax.tensor<[n, 2], i32>
  relax.return %0 : !relax.tensor<[n, 2], i32>
}

// -----

// CHECK: expected a view of 'relax.nn.pack_words' to be of vectors of whole words, got (4, 4) along axis 0
relax.func @main(%x: !relax.tensor<[4, 4], i8>) -> !relax.tensor<[1, 4], i32> {
  %0 = relax.nn.pack_words %x {axis = 0 : i64, view = true} : !relax.tensor<[4, 4], i8> -> !relax.tensor<[1, 4], i32>
  relax.return %0 : !relax.tensor<[1, 4], i32>
}

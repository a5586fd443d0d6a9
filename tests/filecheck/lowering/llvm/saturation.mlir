// RUN: xrelax-opt %s -p 'vectorize-loops{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"},convert-to-llvm{target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"}' | filecheck %s
// RUN: xrelax-opt %s -p 'vectorize-loops{target="llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=generic"},convert-to-llvm{target="llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=generic"}' | filecheck %s --check-prefix=OTHER

// On x86 lanes are brought into the range of the integers before they are converted: NaN to 0, what
// is below to the least number, and for what is above the largest one is chosen afterwards.

// CHECK-LABEL: llvm.func internal @xrelax.vectors(
// CHECK:         %[[X:.*]] = llvm.load
// CHECK-NEXT:    %[[NUMBER:.*]] = llvm_ext.fcmp ord %[[X]], %[[X]]
// CHECK-NEXT:    %[[A:.*]] = llvm_ext.select %[[NUMBER]], %[[X]], %[[ZERO:.*]] :
// CHECK-NEXT:    %[[ABOVE:.*]] = llvm_ext.fcmp ogt %[[A]], %[[LEAST:.*]] : vector<16xf32>
// CHECK-NEXT:    %[[B:.*]] = llvm_ext.select %[[ABOVE]], %[[A]], %[[LEAST]]
// CHECK-NEXT:    %[[OVER:.*]] = llvm_ext.fcmp oge %[[B]], %[[END:.*]] : vector<16xf32>
// CHECK-NEXT:    %[[C:.*]] = llvm_ext.select %[[OVER]], %[[ZERO]], %[[B]]
// CHECK-NEXT:    %[[I:.*]] = llvm_ext.cast fptosi %[[C]] : vector<16xf32> to vector<16xi32>
// CHECK-NEXT:    llvm_ext.select %[[OVER]], %[[LAST:.*]], %[[I]]

// OTHER-LABEL: llvm.func internal @xrelax.vectors(
// OTHER:         llvm_ext.intrinsic "llvm.fptosi.sat"
loops.func @vectors(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[64], i32>) noalias {
  loops.for %i in (0, 64) vectorized {
    %x = loops.load %X[%i] : !tir.buffer<[64], f32> -> f32
    %y = arith.fptosi %x : f32 to i32
    loops.store %y, %Y[%i] : !tir.buffer<[64], i32>, i32
  }
}

// The largest integer of 8 bits is a float, and a comparison with 0 replaces NaN too.

// CHECK-LABEL: llvm.func internal @xrelax.bytes(
// CHECK:         %[[X:.*]] = llvm.load
// CHECK-NEXT:    %[[ABOVE:.*]] = llvm_ext.fcmp ogt %[[X]], %[[ZERO:.*]] : vector<16xf32>
// CHECK-NEXT:    %[[A:.*]] = llvm_ext.select %[[ABOVE]], %[[X]], %[[ZERO]]
// CHECK-NEXT:    %[[BELOW:.*]] = llvm_ext.fcmp olt %[[A]], %[[MOST:.*]] : vector<16xf32>
// CHECK-NEXT:    %[[B:.*]] = llvm_ext.select %[[BELOW]], %[[A]], %[[MOST]]
// CHECK-NEXT:    llvm_ext.cast fptoui %[[B]] : vector<16xf32> to vector<16xi8>
loops.func @bytes(%X: !tir.buffer<[64], f32>, %Y: !tir.buffer<[64], ui8>) noalias {
  loops.for %i in (0, 64) vectorized {
    %x = loops.load %X[%i] : !tir.buffer<[64], f32> -> f32
    %y = arith.fptoui %x : f32 to i8
    loops.store %y, %Y[%i] : !tir.buffer<[64], ui8>, i8
  }
}

// For a number by itself LLVM knows what to do.

// CHECK-LABEL: llvm.func internal @xrelax.scalar(
// CHECK:         llvm_ext.intrinsic "llvm.fptoui.sat"
loops.func @scalar(%X: !tir.buffer<[8], f32>, %Y: !tir.buffer<[8], i8>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[8], f32> -> f32
  %y = arith.fptoui %x : f32 to i8
  loops.store %y, %Y[0] : !tir.buffer<[8], i8>, i8
}

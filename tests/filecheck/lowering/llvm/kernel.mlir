// RUN: xrelax-opt %s -p convert-to-llvm --split-input-file | filecheck %s

// Row addresses are computed once per row; symbols come after the buffers.

loops.func @scale(%X: !tir.buffer<[n, m], f32>, %Y: !tir.buffer<[n, m], f32>) symbols [n, m] noalias {
  loops.for %i in (0, n) {
    loops.for %j in (0, m) {
      %x = loops.load %X[%i, %j] : !tir.buffer<[n, m], f32> -> f32
      %y = arith.mulf %x, %x fastmath<contract> : f32
      loops.store %y, %Y[%i, %j] : !tir.buffer<[n, m], f32>, f32
    }
  }
}

// CHECK:      llvm.func internal @xrelax.scale(%{{.*}}: !llvm.ptr {llvm.noalias, llvm.nocapture},
// CHECK-SAME: %X: !llvm.ptr {{{.*}}llvm.readonly}, %Y: !llvm.ptr {{{.*}}}, %n: i64, %m: i64) -> i32
// CHECK:      llvm.icmp "slt" %[[I:.*]], %n : i64
// CHECK:      %[[ROW:.*]] = llvm.mul %m, %[[I]] overflow<nsw> : i64
// CHECK:      llvm.icmp "slt" %[[J:.*]], %m : i64
// CHECK:      %[[AT:.*]] = llvm.add %[[ROW]], %[[J]] overflow<nsw> : i64
// CHECK-NEXT: %[[PX:.*]] = llvm.getelementptr inbounds %X[%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT: %[[V:.*]] = llvm.load %[[PX]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT: %[[W:.*]] = llvm.fmul %[[V]], %[[V]] {fastmathFlags = #llvm.fastmath<contract>} : f32
// CHECK-NEXT: %[[PY:.*]] = llvm.getelementptr inbounds %Y[%[[AT]]]
// CHECK-NEXT: llvm.store %[[W]], %[[PY]] {alignment = 4 : i64} : f32, !llvm.ptr

// -----

// Arithmetic on bf16 is done in f32, each operation rounded; a bool in memory is a byte.

loops.func @small(%X: !tir.buffer<[4], bf16>, %B: !tir.buffer<[4], i1>) noalias {
  %x = loops.load %X[0] : !tir.buffer<[4], bf16> -> bf16
  %y = arith.addf %x, %x : bf16
  %c = arith.cmpf olt, %y, %x : bf16
  loops.store %c, %B[1] : !tir.buffer<[4], i1>, i1
}

// CHECK:      llvm.func internal @xrelax.small
// CHECK:      %[[X:.*]] = llvm.load %X {alignment = 2 : i64} : !llvm.ptr -> bf16
// CHECK-NEXT: %[[A:.*]] = llvm_ext.cast fpext %[[X]] : bf16 to f32
// CHECK-NEXT: %[[B:.*]] = llvm_ext.cast fpext %[[X]] : bf16 to f32
// CHECK-NEXT: %[[S:.*]] = llvm.fadd %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[Y:.*]] = llvm_ext.cast fptrunc %[[S]] : f32 to bf16
// CHECK:      llvm_ext.fcmp olt %{{.*}}, %{{.*}} : f32 -> i1
// CHECK:      llvm.zext %{{.*}} : i1 to i8
// CHECK:      llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr

// -----

// A parallel loop becomes a function that threads run on parts of its range, with the number of the thread. The run time
// gets it with what the loop captures and the cost of an iteration: 100 ps for the loop, and 30 for each operation.

loops.func @fill(%Y: !tir.buffer<[n], f32>) symbols [n] noalias {
  %one = arith.constant 1.0 : f32
  loops.for %i in (0, n) parallel {
    loops.store %one, %Y[%i] : !tir.buffer<[n], f32>, f32
  }
}

// CHECK:      llvm.func internal @xrelax.fill.body0(%0: i64, %1: i64, %2: i64, %3: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias}) -> i32
// CHECK:      llvm.func internal @xrelax.fill.parallel0(%{{[0-9]+}}: !llvm.ptr, %{{[0-9]+}}: !llvm.ptr, %{{[0-9]+}}: i64, %{{[0-9]+}}: i64, %{{[0-9]+}}: i64) -> i32
// CHECK:      llvm.load
// CHECK:      llvm.call @xrelax.fill.body0(
// CHECK:      llvm.func internal @xrelax.fill(%[[CTX:[0-9]+]]: !llvm.ptr {llvm.noalias, llvm.nocapture}, %Y: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias}, %n: i64)
// CHECK:      %[[COST:[0-9]+]] = llvm.mlir.constant(390) : i64
// CHECK:      %[[SLOTS:[0-9]+]] = llvm.mlir.constant(1024) : i64
// CHECK:      %[[BODY:[0-9]+]] = llvm.mlir.addressof @xrelax.fill.parallel0
// CHECK:      llvm.call @xrelax_parallel(%[[CTX]], %[[BODY]], %{{[0-9]+}}, %{{[0-9]+}}, %n, %[[COST]], %[[SLOTS]])

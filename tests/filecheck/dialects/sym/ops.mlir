// RUN: xrelax-opt %s | filecheck %s
// RUN: xrelax-opt %s --print-op-generic | xrelax-opt | filecheck %s

// Expressions are canonical: equal values have one text.
"test.op"() {
  // CHECK: a = #sym.expr<n + 5>
  "a" = #sym.expr<(n + 2) + 3>,
  // CHECK-SAME: b = #sym.expr<0>
  "b" = #sym.expr<n - n>,
  // CHECK-SAME: c = #sym.expr<m * n * 4 - n>
  "c" = #sym.expr<(4 * m - 1) * n>,
  // CHECK-SAME: d = #sym.expr<-7>
  "d" = #sym.expr<-7>,
  // Floor division takes out what it divides, and keeps the rest.
  // CHECK-SAME: e = #sym.expr<n * 2 + m floordiv 4>
  "e" = #sym.expr<(n * 8 + m) floordiv 4>,
  // CHECK-SAME: f = #sym.expr<(m + 1) mod 8>
  "f" = #sym.expr<(n * 8 + m + 9) mod 8>,
  // CHECK-SAME: g = #sym.expr<min(m, n) * 2>
  "g" = #sym.expr<min(n, m) * 2>,
  // CHECK-SAME: h = #sym.expr<n + 1>
  "h" = #sym.expr<max(n, n + 1)>,
  // A quotient that is subtracted or multiplied keeps its brackets.
  // CHECK-SAME: i = #sym.expr<-(n floordiv 4)>
  "i" = #sym.expr<-(n floordiv 4)>,
  // CHECK-SAME: j = #sym.expr<m * (n floordiv 4)>
  "j" = #sym.expr<m * (n floordiv 4)>,
  // CHECK-SAME: k = #sym.expr<n floordiv (m floordiv 2)>
  "k" = #sym.expr<n floordiv (m floordiv 2)>,
  // CHECK-SAME: l = #sym.expr<arg(0) * 4 + arg(1)>
  "l" = #sym.expr<arg(1) + arg(0) * 4>
} : () -> ()

"""Loops, conditions and assertions, compiled and run."""

import numpy as np
import pytest

from xrelax.dialects.diagnostics import Diagnostic

HEAD = """
rt.func @main(%x: !tir.buffer<[n], i64>, %y: !tir.buffer<[n], i64>) results 1 {
  rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[n], i64>), (!tir.buffer<[n], i64>)
}
loops.func @k(%X: !tir.buffer<[n], i64>, %Y: !tir.buffer<[n], i64>) symbols [n] noalias {
"""


@pytest.fixture(scope="module")
def run(build):
    """Runs a kernel body from `%X` to `%Y`, both of shape (n,) and dtype int64."""
    return lambda body, x: build(f"{HEAD}{body}}}")["main"](x).numpy()


def test_carried_values_and_nested_loops(run):
    body = """
    %zero = arith.constant 0 : i64
    loops.for %i in (0, n) {
      %sum, %last = loops.for %j in (%i, n - %i) carry (%s = %zero : i64, %l = %zero : i64) {
        %v = loops.load %X[%j] : !tir.buffer<[n], i64> -> i64
        %t = arith.addi %s, %v : i64
        loops.yield %t, %v : i64, i64
      }
      %r = arith.subi %sum, %last : i64
      loops.store %r, %Y[%i] : !tir.buffer<[n], i64>, i64
    }
    """
    x = np.arange(1, 8)
    expected = [sum(x[i:]) - x[-1] for i in range(7)]
    np.testing.assert_array_equal(run(body, x), expected)


@pytest.mark.parametrize("extent", ["0", "n - 7", "n - 9"])
def test_loop_without_iterations(run, extent):
    body = f"""
    %one = arith.constant 1 : i64
    loops.for %i in (0, n) {{
      %s = loops.for %j in (2, {extent}) carry (%c = %one : i64) {{
        %v = loops.load %X[%j + 1000000] : !tir.buffer<[n], i64> -> i64
        loops.yield %v : i64
      }}
      loops.store %s, %Y[%i] : !tir.buffer<[n], i64>, i64
    }}
    """
    np.testing.assert_array_equal(run(body, np.zeros(7, np.int64)), np.ones(7))


def test_bounds(run):
    body = """
    %a = arith.constant 1 : i64
    %b = arith.constant 2 : i64
    loops.for %i in (0, n) {
      loops.store %a, %Y[%i] : !tir.buffer<[n], i64>, i64
      loops.if (%i * 2 < n, 1 < %i + 1) {
        loops.store %b, %Y[%i] : !tir.buffer<[n], i64>, i64
      }
    }
    """
    np.testing.assert_array_equal(run(body, np.zeros(9, np.int64)), [1, 2, 2, 2, 2, 1, 1, 1, 1])


def test_choice_between_regions(run):
    body = """
    %zero = arith.constant 0 : i64
    loops.for %i in (0, n) {
      %v = loops.load %X[%i] : !tir.buffer<[n], i64> -> i64
      %c = arith.cmpi slt, %v, %zero : i64
      %r, %q = scf.if %c -> (i64, i64) {
        %m = arith.subi %zero, %v : i64
        scf.yield %m, %v : i64, i64
      } else {
        %w = loops.load %X[n - 1 - %i] : !tir.buffer<[n], i64> -> i64
        scf.yield %v, %w : i64, i64
      }
      %s = arith.addi %r, %q : i64
      scf.if %c {
        loops.store %v, %Y[%i] : !tir.buffer<[n], i64>, i64
      } else {
        loops.store %s, %Y[%i] : !tir.buffer<[n], i64>, i64
      }
    }
    """
    x = np.array([3, -4, 5, -6])
    np.testing.assert_array_equal(run(body, x), np.where(x < 0, x, x + x[::-1]))


def test_while_with_forwarded_values(run):
    """Collatz steps: the condition region hands other values on than it got."""
    body = """
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %three = arith.constant 3 : i64
    loops.for %i in (0, n) {
      %v = loops.load %X[%i] : !tir.buffer<[n], i64> -> i64
      %steps, %end = scf.while (%c = %v, %k = %zero) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi sgt, %c, %one : i64
        scf.condition(%more) %k, %c : i64, i64
      } do {
      ^bb0(%k2: i64, %c2: i64):
        %half = arith.floordivsi %c2, %two : i64
        %odd = arith.andi %c2, %one : i64
        %is_odd = arith.cmpi eq, %odd, %one : i64
        %triple = arith.muli %c2, %three : i64
        %up = arith.addi %triple, %one : i64
        %next = arith.select %is_odd, %up, %half : i64
        %k3 = arith.addi %k2, %one : i64
        scf.yield %next, %k3 : i64, i64
      }
      %r = arith.addi %steps, %end : i64
      loops.store %r, %Y[%i] : !tir.buffer<[n], i64>, i64
    }
    """
    np.testing.assert_array_equal(run(body, np.array([1, 2, 3, 6, 7, 27])), [1, 2, 8, 9, 17, 112])


def test_scf_for_with_a_step(run):
    body = """
    %low = arith.constant 1 : index
    %step = arith.constant 3 : index
    %high = tir.apply n
    %zero = arith.constant 0 : i64
    %sum = scf.for %j = %low to %high step %step iter_args(%s = %zero) -> (i64) {
      %v = loops.load %X[%j] : !tir.buffer<[n], i64> -> i64
      %t = arith.addi %s, %v : i64
      scf.yield %t : i64
    }
    loops.for %i in (0, n) {
      loops.store %sum, %Y[%i] : !tir.buffer<[n], i64>, i64
    }
    """
    x = np.arange(11) ** 2
    np.testing.assert_array_equal(run(body, x), np.full(11, x[1::3].sum()))


@pytest.mark.parametrize("kind", ["vectorized", "unrolled"])
def test_hints_do_not_change_results(run, capfd, kind):
    body = f"""
    loops.for %i in (0, n) {kind} {{
      %v = loops.load %X[%i] : !tir.buffer<[n], i64> -> i64
      %r = arith.muli %v, %v : i64
      loops.store %r, %Y[%i] : !tir.buffer<[n], i64>, i64
    }}
    """
    x = np.arange(37)
    np.testing.assert_array_equal(run(body, x), x * x)
    assert capfd.readouterr().err == ""


EXPRESSIONS = {
    "%i floordiv 4": lambda i, n: i // 4,
    "%i mod 4": lambda i, n: i % 4,
    "(%i - n) floordiv 3": lambda i, n: (i - n) // 3,
    "(%i - n) mod 3": lambda i, n: (i - n) % 3,
    "(%i - 5) floordiv 8": lambda i, n: (i - 5) // 8,
    "(%i - 5) mod 8": lambda i, n: (i - 5) % 8,
    "(%i - 5) floordiv (-3)": lambda i, n: (i - 5) // -3,
    "(%i - 5) mod (-3)": lambda i, n: (i - 5) % -3,
    "(%i * 7 - 20) floordiv n": lambda i, n: (i * 7 - 20) // n,
    "(%i * 7 - 20) mod n": lambda i, n: (i * 7 - 20) % n,
    "%i floordiv (%i - 3)": lambda i, n: i // (i - 3) if i != 3 else 0,
    "%i mod (%i - 3)": lambda i, n: i % (i - 3) if i != 3 else 0,
    "min(%i, n - %i)": lambda i, n: min(i, n - i),
    "max(%i * %i - 30, 3 - %i)": lambda i, n: max(i * i - 30, 3 - i),
    "n * n * %i - %i * 5 + 7": lambda i, n: n * n * i - i * 5 + 7,
}


def test_index_expressions(run):
    """Rounded down for negative numbers too; division by a value that is 0 gives 0."""
    for text, function in EXPRESSIONS.items():
        body = f"""
        loops.for %i in (0, n) {{
          %e = tir.apply {text}
          %r = arith.index_cast %e : index to i64
          loops.store %r, %Y[%i] : !tir.buffer<[n], i64>, i64
        }}
        """
        found = run(body, np.zeros(11, np.int64))
        np.testing.assert_array_equal(found, [function(i, 11) for i in range(11)], err_msg=text)


def test_data_dependent_index(run):
    body = """
    loops.for %i in (0, n) {
      %v = loops.load %X[%i] : !tir.buffer<[n], i64> -> i64
      %j = arith.index_cast %v : i64 to index
      %w = loops.load %X[%j * 2 - %i] : !tir.buffer<[n], i64> -> i64
      loops.store %w, %Y[%i] : !tir.buffer<[n], i64>, i64
    }
    """
    x = np.array([0, 1, 2, 3, 3])
    np.testing.assert_array_equal(run(body, x), x[x * 2 - np.arange(5)])


CHECKED = """
    %limit = arith.constant 10 : i64
    loops.for %i in (0, n) KIND {
      %v = loops.load %X[%i] : !tir.buffer<[n], i64> -> i64
      %small = arith.cmpi slt, %v, %limit : i64
      tir.assert %small, "values must be smaller than 10"
      %odd = arith.cmpi ne, %v, %limit : i64
      tir.assert %small, "another check"
      loops.store %v, %Y[%i] : !tir.buffer<[n], i64>, i64
    }
"""


@pytest.mark.parametrize("kind", ["", "parallel"])
def test_assertion_reaches_the_caller(build, kind):
    main = build(HEAD + CHECKED.replace("KIND", kind) + "}")["main"]
    np.testing.assert_array_equal(main(np.arange(10)).numpy(), np.arange(10))
    with pytest.raises(ValueError, match=r"^values must be smaller than 10$"):
        main(np.arange(11))
    np.testing.assert_array_equal(main(np.arange(3)).numpy(), np.arange(3))


def test_operation_without_llvm_ir_is_named_with_its_place(convert):
    text = HEAD + "%t = tir.alloc_buffer : !tir.buffer<[4], f32>\n}"
    with pytest.raises(Diagnostic, match=r"in 'k': .*'tir.alloc_buffer'") as failure:
        convert(text)
    assert "\n" not in str(failure.value)

"""What TensorIR looks like as TVMScript: parameters, loops, blocks, expressions, control flow."""

import pytest
from printed_programs import script

from xrelax.script.printer.writer import Names


def body_of(text, buffers="%X: !tir.buffer<[16], f32>, %Y: !tir.buffer<[16], f32>"):
    """The lines of a PrimFunc's body, without what declares buffers."""
    printed = script(f"tir.prim_func @f({buffers}) {{ {text} }}")
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    return [line[8:] for line in lines[start + 1 :]]


def stored(text, dtype="f32"):
    """The expression that a body computes in ``%r`` from two loads, as it is printed."""
    buffer = f"!tir.buffer<[4], {dtype}>"
    head = (
        f"tir.for %i in (0, 4) {{ %a = tir.load %A[%i] : {buffer} %b = tir.load %B[%i] : {buffer} "
    )
    tail = f" tir.store %r, %C[%i] : {buffer} }}"
    lines = body_of(head + text + tail, ", ".join(f"%{n}: {buffer}" for n in "ABC"))
    return lines[-1].strip().removeprefix("C[i] = ")


def test_buffer_parameters():
    printed = script(
        "tir.prim_func @f(%A: !tir.buffer<[4], i32>, %B: !tir.buffer<[4], f32>, %n: index, "
        "%C: !tir.buffer<[n], f32>, %D: !tir.buffer<[4, 4], f16, strides = [8, 1], offset = 2>, "
        '%E: !tir.buffer<[4], f32, "shared">, %a: f32) params ("A", "b", "n", "C", "D", "E", "a")'
        ' attributes {"tir.noalias" = true, "global_symbol" = "g"} {}'
    )
    assert (
        '    def f(A: T.Buffer((4,), "int32"), b: T.handle, n: T.int64, var_C: T.handle' in printed
    )
    for line in (
        'T.func_attr({"global_symbol": "g", "tir.noalias": True})',
        "B = T.match_buffer(b, (4,))",
        "C = T.match_buffer(var_C, (n,))",
        'D = T.match_buffer(var_D, (4, 4), "float16", strides=(8, 1), elem_offset=2)',
        'E = T.match_buffer(var_E, (4,), scope="shared")',
    ):
        assert f"        {line}\n" in printed + "\n"


def test_names_are_python_identifiers_that_nothing_else_uses():
    names = Names(["Module"])
    assert [names.fresh(n) for n in ("T", "for", "x.y", "0", "Module", "x", "x")] == [
        "T_1",
        "for_1",
        "x_y",
        "v0",
        "Module_1",
        "x",
        "x_1",
    ]
    with names.scope():
        assert names.fresh("i") == "i" and names.fresh("i") == "i_1"
    assert names.fresh("i") == "i"
    assert [names.numbered("lv") for _ in range(3)] == ["lv", "lv1", "lv2"]


def test_loop_variables_do_not_hide_symbols_or_buffers():
    lines = body_of(
        "tir.for %n in (0, n) { tir.for %X in (0, 16) {"
        "%v = tir.load %X_0[%X] : !tir.buffer<[n], f32> "
        "tir.store %v, %X_0[%n] : !tir.buffer<[n], f32> } }",
        "%X_0: !tir.buffer<[n], f32>",
    )
    assert lines[-2:] == ["for n_1, X in T.grid(n, 16):", "    X_0[n_1] = X_0[X]"]


def test_kinds_of_loops():
    load = (
        "%v = tir.load %X[%i] : !tir.buffer<[16], f32> "
        "tir.store %v, %Y[%i] : !tir.buffer<[16], f32>"
    )
    heads = {
        "(0, 16)": "range(16)",
        "(2, 8)": "range(2, 10)",
        "(0, 16) parallel": "T.parallel(16)",
        "(4, 4) vectorized": "T.vectorized(4, 8)",
        "(0, 16) unrolled": "T.unroll(16)",
        '(0, 16) thread_binding "threadIdx.x"': 'T.thread_binding(16, thread="threadIdx.x")',
        '(0, 16) annotations {"pragma" = 1 : i64}': 'T.serial(16, annotations={"pragma": 1})',
    }
    for head, printed in heads.items():
        lines = body_of(f"tir.for %i in {head} {{ {load} }}")
        assert lines == [f"for i in {printed}:", "    Y[i] = X[i]"]


def test_a_grid_ends_where_an_inner_bound_depends_on_an_outer_loop():
    lines = body_of(
        "tir.for %i in (0, 4) { tir.for %j in (0, 4) { tir.for %k in (0, %j) {"
        "%v = tir.load %X[%i] : !tir.buffer<[16], f32>"
        "tir.store %v, %Y[%i * 4 + %k] : !tir.buffer<[16], f32> } } }"
    )
    assert lines == [
        "for i, j in T.grid(4, 4):",
        "    for k in range(j):",
        "        Y[i * 4 + k] = X[i]",
    ]


def test_axes_that_do_not_follow_a_loop_are_written_alone():
    lines = body_of(
        "tir.for %i in (0, 4) { tir.for %j in (0, 4) { tir.for %k in (0, 8) {"
        'tir.block "b" (%a: spatial (0, 4) = %i, %b: spatial (0, 4) = %j, '
        "%c: spatial (0, 14) = %i * 4 + %j, %d: reduce (0, 8) = %k, %e: opaque (0, 8) = %k) "
        'where (%i * 4 + %j < 14) reads (%X[%c]) writes (%Y[%a * 4 : 4]) annotations {"x" = "y"} {'
        "%v = tir.load %X[%c] : !tir.buffer<[16], f32>"
        "tir.store %v, %Y[%a * 4 + %b] : !tir.buffer<[16], f32> } } } }"
    )
    assert lines == [
        '# with T.block("root"):',
        "for i, j, k in T.grid(4, 4, 8):",
        '    with T.block("b"):',
        '        a, b = T.axis.remap("SS", [i, j])',
        "        c = T.axis.spatial(14, i * 4 + j)",
        "        d = T.axis.reduce(8, k)",
        "        e = T.axis.opaque(8, k)",
        "        T.where(i * 4 + j < 14)",
        "        T.reads(X[c])",
        "        T.writes(Y[a * 4:a * 4 + 4])",
        '        T.block_attr({"x": "y"})',
        "        Y[a * 4 + b] = X[c]",
    ]


def test_views_of_buffers():
    lines = body_of(
        'tir.for %i in (0, 4) { tir.block "b" (%a: spatial (0, 4) = %i)'
        " reads (%X[%a, 0 : 8]) writes (%X[%a, 0 : 8]) {"
        "%V = tir.match_buffer %X[%a, 0] : !tir.buffer<[4, 8], f32>"
        " to !tir.buffer<[8], f32, strides = [1]>"
        "%v = tir.load %V[0] : !tir.buffer<[8], f32, strides = [1]>"
        "tir.store %v, %V[1] : !tir.buffer<[8], f32, strides = [1]> } }",
        "%X: !tir.buffer<[4, 8], f32>",
    )
    assert lines[-2:] == ["        V = T.match_buffer(X[a, 0:8], (8,))", "        V[1] = V[0]"]


@pytest.mark.parametrize(
    ("ir", "printed"),
    [
        ("%s = arith.addf %a, %b : f32 %r = arith.mulf %s, %b2 : f32", "(A[i] + B[i]) * B[i]"),
        ("%s = arith.mulf %a, %b : f32 %r = arith.subf %s, %b2 : f32", "A[i] * B[i] - B[i]"),
        ("%s = arith.subf %a, %b : f32 %r = arith.subf %b2, %s : f32", "B[i] - (A[i] - B[i])"),
        ("%s = arith.divf %a, %b : f32 %r = arith.negf %s : f32", "-(A[i] / B[i])"),
        ("%s = math.exp %a : f32 %r = arith.minimumf %s, %b : f32", "T.min(T.exp(A[i]), B[i])"),
        ("%c = arith.cmpf olt, %a, %b : f32 %r = arith.select %c, %a2, %b2 : f32",
         "T.Select(A[i] < B[i], A[i], B[i])"),
        ("%c = arith.constant 0x7F800000 : f32 %r = arith.addf %a, %c : f32",
         'A[i] + T.float32("inf")'),
        ("%c = arith.constant 1.5 : f32 %r = math.powf %a, %c : f32",
         "T.pow(A[i], T.float32(1.5))"),
        ("%c = arith.constant 0.1 : f32 %r = arith.mulf %c, %a : f32", "T.float32(0.1) * A[i]"),
        ("%h = arith.truncf %a : f32 to f16 %r = arith.extf %h : f16 to f32",
         'T.Cast("float32", T.Cast("float16", A[i]))'),
    ],
)  # fmt: skip
def test_float_expressions(ir, printed):
    again = (
        "%a2 = tir.load %A[%i] : !tir.buffer<[4], f32> "
        "%b2 = tir.load %B[%i] : !tir.buffer<[4], f32> "
    )
    assert stored(again + ir) == printed


@pytest.mark.parametrize(
    ("dtype", "ir", "printed"),
    [
        ("i32", "%r = arith.floordivsi %a, %b : i32", "A[i] // B[i]"),
        ("i32", "%r = arith.divsi %a, %b : i32", "T.truncdiv(A[i], B[i])"),
        ("ui8", "%r = arith.divui %a, %b : i8", "A[i] // B[i]"),
        ("ui8", "%r = arith.remui %a, %b : i8", "A[i] % B[i]"),
        ("i32", "%c = arith.constant 3 : i32 %r = arith.addi %a, %c : i32", "A[i] + T.int32(3)"),
        ("ui8", "%c = arith.constant -1 : i8 %r = arith.xori %a, %c : i8", "A[i] ^ T.uint8(255)"),
        ("i32", "%c = arith.constant 1 : i32 %s = arith.shli %a, %b : i32 "
         "%r = arith.ori %s, %c : i32",
         "A[i] << B[i] | T.int32(1)"),
        ("i64", "%r = arith.maxsi %a, %b : i64", "T.max(A[i], B[i])"),
        ("i1", "%r = arith.ori %a, %b : i1", "T.Or(A[i], B[i])"),
        ("i1", "%t = arith.constant true %r = arith.xori %a, %t : i1", "not A[i]"),
        ("i32", "%x = arith.index_cast %i : index to i64 %y = arith.trunci %x : i64 to i32 "
         "%r = arith.addi %a, %y : i32", 'A[i] + T.Cast("int32", i)'),
        ("i64", "%x = tir.apply %i + 1 %y = arith.index_cast %x : index to i64 "
         "%r = arith.muli %y, %a : i64", 'T.Cast("int64", i + 1) * A[i]'),
        ("i32", "%w = arith.extsi %a : i32 to i64 %r = arith.trunci %w : i64 to i32",
         'T.Cast("int32", T.Cast("int64", A[i]))'),
    ],
)  # fmt: skip
def test_integer_expressions(dtype, ir, printed):
    assert stored(ir, dtype) == printed


def test_the_remainder_is_recognized():
    lines = body_of(
        "tir.for %i in (0, 4) { %a = tir.load %A[%i] : !tir.buffer<[4], i32> "
        "%b = arith.constant 3 : i32 %q = arith.floordivsi %a, %b : i32 "
        "%p = arith.muli %q, %b : i32 %r = arith.subi %a, %p : i32 "
        "tir.store %r, %A[%i] : !tir.buffer<[4], i32> }",
        "%A: !tir.buffer<[4], i32>",
    )
    assert lines[1:] == ["    a: T.int32 = A[i]", "    A[i] = a % T.int32(3)"]


def test_conditions_guard_what_they_choose():
    lines = body_of(
        "tir.for %i in (0, 16) { %l = tir.apply %i %r = tir.apply 12 "
        "%c = arith.cmpi slt, %l, %r : index %v = scf.if %c -> (f32) { "
        "%x = tir.load %X[%i + 4] : !tir.buffer<[16], f32> scf.yield %x : f32 }"
        " else { %z = arith.constant 0.0 : f32 scf.yield %z : f32 }"
        "tir.store %v, %Y[%i] : !tir.buffer<[16], f32> }"
    )
    assert lines[1:] == ["    Y[i] = T.if_then_else(i < 12, X[i + 4], T.float32(0))"]


def test_values_used_twice_or_across_a_store_have_a_line_of_their_own():
    lines = body_of(
        "%x = tir.load %X[0] : !tir.buffer<[16], f32> %y = tir.load %Y[0] : !tir.buffer<[16], f32>"
        "%s = arith.addf %y, %y : f32 tir.store %s, %X[0] : !tir.buffer<[16], f32>"
        "tir.store %x, %Y[0] : !tir.buffer<[16], f32>"
    )
    assert lines == ["x: T.float32 = X[0]", "y: T.float32 = Y[0]", "X[0] = y + y", "Y[0] = x"]


def test_indices_that_depend_on_data():
    lines = body_of(
        "tir.for %i in (0, 4) { %k = tir.load %K[%i] : !tir.buffer<[4], i32> "
        "%w = arith.extsi %k : i32 to i64 "
        "%j = arith.index_cast %w : i64 to index %v = tir.load %X[%j] : !tir.buffer<[16], f32> "
        "tir.store %v, %X[%i] : !tir.buffer<[16], f32> }",
        "%K: !tir.buffer<[4], i32>, %X: !tir.buffer<[16], f32>",
    )
    assert lines[1:] == ["    X[i] = X[K[i]]"]


def test_control_flow_and_assertions():
    lines = body_of(
        "%x = tir.load %X[0] : !tir.buffer<[16], f32> %z = arith.constant 0.0 : f32 "
        '%c = arith.cmpf oge, %x, %z : f32 tir.assert %c, "say \\"no\\"" '
        "%x1 = tir.load %X[0] : !tir.buffer<[16], f32> %c1 = arith.cmpf ogt, %x1, %z : f32 "
        "scf.if %c1 { tir.store %z, %Y[0] : !tir.buffer<[16], f32> scf.yield }"
        " else { tir.store %z, %Y[1] : !tir.buffer<[16], f32> scf.yield }"
        "scf.while () : () -> () { %w = tir.load %Y[2] : !tir.buffer<[16], f32> "
        "%d = arith.cmpf une, %w, %z : f32 scf.condition(%d) } do {"
        " tir.store %z, %Y[2] : !tir.buffer<[16], f32> scf.yield }"
    )
    assert lines == [
        'assert X[0] >= T.float32(0), "say \\"no\\""',
        "if X[0] > T.float32(0):",
        "    Y[0] = T.float32(0)",
        "else:",
        "    Y[1] = T.float32(0)",
        "while Y[2] != T.float32(0):",
        "    Y[2] = T.float32(0)",
    ]


def test_bools_that_come_from_loads_are_combined_without_a_shortcut():
    assert stored("%r = arith.andi %a, %b : i1", "i1") == "T.And(A[i], B[i])"
    named = "%r = arith.ori %a, %b : i1 %s = arith.andi %a, %r : i1"
    assert stored(f"{named} tir.store %s, %A[0] : !tir.buffer<[4], i1>", "i1") == "r"


def test_external_calls():
    lines = body_of(
        '%x = tir.load %X[0] : !tir.buffer<[16], f32> %r = tir.call_extern "f"(%x) : (f32) -> f32 '
        'tir.store %r, %Y[0] : !tir.buffer<[16], f32> %u = tir.call_extern "g"() : () -> i32'
    )
    assert lines == [
        'Y[0] = T.call_extern("float32", "f", X[0])',
        'T.evaluate(T.call_extern("int32", "g"))',
    ]


def test_scalars_in_memory():
    lines = body_of(
        "%x = tir.load %A[] : !tir.buffer<[], f32> tir.store %x, %A[] : !tir.buffer<[], f32>",
        "%A: !tir.buffer<[], f32>",
    )
    assert lines == ["A[()] = A[()]"]


def test_an_empty_function_evaluates_a_number():
    assert body_of("") == ["T.evaluate(0)"]


def test_what_script_cannot_say_is_refused_by_name():
    with pytest.raises(ValueError, match=r"got 'math\.cbrt'"):
        stored("%r = math.cbrt %a : f32")
    with pytest.raises(ValueError, match=r"got 'rt\.func'"):
        script("rt.func @f(%x: !tir.buffer<[1], f32>) results 0 {}")

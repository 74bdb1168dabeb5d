"""Programs with every cast written, as text and as JSON, and run."""
from __future__ import annotations

import json
from typing import Any

import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.system_files.reader import parse

np = pytest.importorskip("numpy")
PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {
    "scalars": ("a*2.0 + b", {"a": "int8:0d", "b": "float16[2]"}),
    "in place": (
        "y = x*2\ny += z\ny[1:, None] = 3\nreturn y.sum(axis=0, dtype=np.float32)/np.pi, y",
        {"x": "float32[4,4]", "z": "float32[4,4]"},
    ),
    "choice": ("where(x > 0, -x, x**2) @ x.T", {"x": "int16[3,3]"}),
    "out of range": ("(x < 300) & (x != -1)", {"x": "uint8[3]"}),
    "casts": ("np.clip(x, 0, 1.5).astype(y.dtype) + concat([x, y])[0]", {"x": "int8[3]", "y": "float32[3]"}),
    "created": (
        "np.std(x, axis=-1, keepdims=True, ddof=1) + np.full((2,), 3) + arange(2) + asarray(2.5)",
        {"x": "float16[2,3]"},
    ),
    "steps back": ("x[::-1, ..., None].reshape(-1)*1j + np.inf", {"x": "float32[2,2]"}),
}


def made(p: tl.Program, xp: Any) -> dict[str, Any]:
    """An array of one, two, three ... for each input."""
    given = {}
    for step in p.steps:
        if step.text in p.inputs:
            shape = step.shape or ()
            dtype = str(p.inputs[step.text]).partition(":")[0]
            given[step.text] = xp.asarray(np.arange(1, 1 + int(np.prod(shape))).reshape(shape), dtype=dtype)
    return given


def listed(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("system", ["numpy", "jax", "torch"])
def test_with_every_cast_written_values_stay_and_none_is_left(name: str, system: str) -> None:
    pytest.importorskip("array_api_compat")
    text, bound = PROGRAMS[name]
    p = tl.program(text, **bound)
    try:
        explicit = p.explicit(system)
    except tl.ProgramError as refused:
        assert any(o.is_refused for o in p.under(system)), refused
        return
    explicit.check()
    xp = tl.namespace(system, np)
    if name == "out of range" and system == "numpy":
        xp = tl.namespace("jax", np)  # compares with numbers that fit
    for x, y, i in zip(
        listed(p.run(tl.namespace(system, np), **made(p, tl.namespace(system, np)))),
        listed(explicit.run(xp, **made(p, xp))),
        p.results,
        strict=True,
    ):
        said = p.under(system)[i].operand
        assert said is not None and x.dtype is y.dtype is said.dtype
        np.testing.assert_array_equal(np.asarray(x.bare), np.asarray(y.bare))


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_explicit_program_is_the_same_under_every_system(name: str) -> None:
    text, bound = PROGRAMS[name]
    p = tl.program(text, **bound).explicit("numpy")
    systems = ["numpy", "torch", "array-api", *(["jax"] if name != "in place" else [])]  # `y[1:] = 3`
    answers = {tuple(str(p.under(s)[i]) for i in p.results) for s in systems}
    assert len(answers) == 1


def test_what_casts_implicitly_is_said_so() -> None:
    p = tl.program("y = x + 1\nz = y * w", x="int32", w="float32")
    with pytest.raises(tl.ProgramError, match=r"add 'x \+ 1' \(<source>, line 1\) casts implicitly"):
        p.check()
    with pytest.raises(tl.ProgramError, match=r"refused: float64 cannot be written into float32; cast its"):
        tl.program("x *= y", x="float32", y="float64").explicit("array-api")
    with pytest.raises(tl.ProgramError, match=r"add 'x \+ y' does not say its dtype; take .explicit"):
        tl.program("x + y", x="int8", y="int8").check()


def test_casts_have_their_losses_and_bytes() -> None:
    bound = {"x": "int8[10]", "z": "float32[10]", "c": "bool[10]", "i": "int64[10]"}
    p = tl.program("y = x.astype(float16)\ny += z\nwhere(c, y, i)", **bound)
    casts = p.casts("numpy")
    assert [(c.step.text, p.steps[c.operand].text, str(c.source), str(c.target), c.bytes) for c in casts] == [
        ("y += z", "x.astype(float16)", "float16", "float32", 40),
        ("y += z", "y += z", "float32", "float16", 20),
        ("where(c, y, i)", "y += z", "float16", "float64", 80),
        ("where(c, y, i)", "i", "int64", "float64", 80),
    ]
    assert casts[1].loss is not None and casts[1].loss.magnitude
    assert tl.program("x ** 2", x="float32").casts("jax") == ()  # the exponent takes no part
    assert tl.program("x + y", x="int8", y="int16").casts("numpy")[0].bytes is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_and_json_read_back_as_the_same_program(name: str) -> None:
    text, bound = PROGRAMS[name]
    p = tl.program(text, **bound)
    for each in (p, p.explicit("numpy")):
        again = tl.Program.from_json(each.to_json())
        assert again.steps == each.steps and again.results == each.results and again.source == each.source
    assert str(tl.program(str(p))) == str(p)
    assert [str(p.under("jax")[i]) for i in p.results] == [
        str(q.under("jax")[i]) for q in [tl.program(str(p))] for i in q.results
    ]


def test_an_opaque_step_is_taken_as_it_was() -> None:
    p = tl.program('y = opaque("float16[3]", x)\ny * 2.0', x="int64")
    assert p.under("numpy").dtype == p.under("jax").dtype == tl.dtype("float16")
    assert tl.Program.from_json(p.to_json()).steps == p.steps
    with pytest.raises(tl.ProgramError, match="not known well enough to be carried out"):
        p.run(np, x=np.ones(3, "int64"))


GOOD = json.loads(tl.program("x[1:] + 2.5", x="float32[3]").to_json())


def damaged(path: str, value: Any) -> str:
    """A good program with another value at a place."""
    data = json.loads(json.dumps(GOOD))
    at: Any = data
    *keys, last = path.replace("[", ".[").split(".")
    for key in keys:
        at = at[int(key.strip("[]"))] if key.startswith("[") else at[key]
    at[int(last.strip("[]")) if last.startswith("[") else last] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("typelattice", "table", 'the whole: no program; give what to_json made, with'),
        ("version", 2, "version: no version that is known; it should be 1"),
        ("steps", {}, "steps: no list of at most 1,000,000; give one"),
        ("results", [4], "results[0]: 4 is no earlier step; give a number from 0 to 3"),
        ("results", [], "results: empty; give the number of a step"),
        ("results", [True], "results[0]: True is no earlier step"),
        ("source", 3, "source: no text; give one"),
        ("steps[0].is", "inputt", "steps[0].is: unknown step 'inputt' (did you mean input"),
        ("steps[0].given", "floatt", None),
        ("steps[0].given", "float32:1d", "steps[0].given: cannot read '1d' in 'float32:1d'"),
        ("steps[0].shape", [-1], "steps[0].shape[0]: -1 is no length of an axis"),
        ("steps[0]", 7, "steps[0]: no object; give one with keys"),
        ("steps[1].source", 1, "steps[1].source: 1 is no earlier step; give a number from 0 to 0"),
        ("steps[1].key", {"slyce": []}, "steps[1].key: unknown key 'slyce' (did you mean slice?)"),
        ("steps[1].key", {"slice": [1]}, "steps[1].key.slice: 1 bounds; give three"),
        ("steps[1].key", {}, "steps[1].key: an object of 0 keys"),
        ("steps[2].value", "2", "steps[2].value: no number; give one"),
        ("steps[2].value", {"float": "infinite"}, "steps[2].value.float: no float; give a number"),
        ("steps[2].value", 2**5000, "steps[2].value: a number of more than 4,096 bits"),
        ("steps[3].name", "__import__", "steps[3].name: unknown operation '__import__'; give a known one"),
        ("steps[3].operands", [0], "steps[3].operands: add takes 2 operands, not 1; give 1 more"),
        ("steps[3].operands", [0, 3], "steps[3].operands[1]: 3 is no earlier step"),
        ("steps[3].args", {"step": 0}, "steps[3].args: no list; give one"),
        ("steps[3].dtype", 3, 'steps[3].dtype: no dtype; give {"dtype": "float32"}'),
        ("steps[3].keywords", [], "steps[3].keywords: no object; give one with keys"),
        ("steps[3].file", "x" * 2000, "steps[3].file: no text of at most 1,000 characters"),
        ("steps[3].text", None, "steps[3].text: no text; give one"),
    ],
)  # fmt: skip
def test_damaged_json_is_refused_by_its_place(path: str, value: Any, said: str | None) -> None:
    if said is None:  # the dtype of a file's own, it may be: the system says
        with pytest.raises(tl.DTypeError, match="unknown dtype 'floatt'"):
            tl.Program.from_json(damaged(path, value)).under("numpy")
        return
    with pytest.raises(tl.ProgramError) as refused:
        tl.Program.from_json(damaged(path, value))
    assert str(refused.value).startswith(said)


NO_JSON = ["", "{", "[" * 100_000, '{"a": 1' + "0" * 5000 + "}", "\ud800", "null", "[]"]


@pytest.mark.parametrize("text", NO_JSON)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(tl.ProgramError, match=r"not JSON: |no program; give what to_json made"):
        tl.Program.from_json(text)


def test_an_operation_belongs_to_a_library() -> None:
    """JAX's documents: `np.int16(1) + 1 + jnp.int16(1)`, where NumPy 1 made int64 of the first sum."""
    p = tl.program("np.int16(1) + 1 + jnp.int16(1)")
    assert [(s.text, s.owner) for s in p.steps if s.op == "add"] == [
        ("np.int16(1) + 1", "numpy"),
        ("np.int16(1) + 1 + jnp.int16(1)", "jax"),
    ]
    both = {"numpy": "numpy1", "jax": "jax"}
    other = tl.program("np.int16(1) + (1 + jnp.int16(1))")
    assert [str(x.under(both).dtype) for x in (p, other)] == ["int64", "int16"]  # not associative
    with pytest.raises(tl.ProgramError, match="is jax's, and no system is given for that"):
        p.under({"numpy": "numpy"})
    with pytest.raises(tl.ProgramError, match="is owned by no library; give one system for all"):
        tl.program("x + x", x="int8").under({"numpy": "numpy"})


def test_an_input_that_is_missing_or_unknown_is_refused_by_name() -> None:
    with pytest.raises(tl.ProgramError, match="the input x is not given; give x="):
        tl.program("x + 1", x="int8").run(np)
    with pytest.raises(tl.ProgramError, match="the program has no input y; it has x"):
        tl.program("x + 1", x="int8").run(np, y=np.ones(2), x=1)


NUMBERS = ["float", "1 / 1j", "-(0*1j)", "x + 2**1030", "complex(0.0, -0.0) * x", "-0.0 * x"]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_of_any_sort_are_written_and_read(text: str) -> None:
    p = tl.program(text, **({"x": "complex64"} if "x" in text.replace("complex", "") else {}))
    assert str(tl.program(str(p))) == str(p)
    assert tl.Program.from_json(p.to_json()).steps == p.steps


def test_a_shape_that_is_none_is_refused() -> None:
    for text in ("eye(())", "zeros(-1)", "full((2, -3), 1)"):
        with pytest.raises(tl.ProgramError, match="shape"):
            tl.program(text)


IN_AN_INDEX = ("[0, 2]", "[True, False, True]", ":, [1, 0, 1]", "[0, 1], [2, 0]", "[[0], [1]]")


@pytest.mark.parametrize("index", IN_AN_INDEX)
def test_lists_in_an_index_stay_lists_where_a_program_is_written_and_run(index: str) -> None:
    p = tl.program(f"x[{index}]", x="float32[3,3]")
    assert f"x[{index}]" in str(p)
    assert tl.Program.from_json(p.to_json()).steps == p.steps
    x = np.arange(9.0).reshape(3, 3)
    assert np.array_equal(p.run(np, x=x), eval(f"x[{index}]", {"x": x}))
    called = tl.program(lambda x: eval(f"x[{index}]", {"x": x}), x="float32[3,3]")
    assert [step.list_form for step in called.steps[1:]] == [p.steps[1].list_form]


def test_how_lists_stand_in_an_index_is_read_as_one_of_the_words_for_it() -> None:
    told = json.loads(tl.program("x[[0]]", x="float32[3]").to_json())
    told["steps"][-1]["lists"] = "some"
    with pytest.raises(tl.TypelatticeError, match="unknown; it is one of index, indices"):
        tl.Program.from_json(json.dumps(told))


WIDE = """
name = "wide"
order = "i32 -> bf16, f16 -> f32"
[ops]
sum = { computes = { "bf16, f16" = "f32" }, gives = { f32 = "joined" } }
prod = { computes = { "bf16, f16" = "f32" }, gives = { f32 = "joined" } }
cumulative_sum = { computes = { "bf16, f16" = "f32" }, gives = { f32 = "joined" } }
std = { computes = { "bf16, f16" = "f32" }, gives = { f32 = "joined" } }
matmul = { computes = { "bf16, f16" = "f32" }, gives = { f32 = "joined" } }
"""


@pytest.mark.parametrize("text", ["sum(x)", "cumulative_sum(x)[-1]", "x @ x"])
def test_what_adds_wide_and_gives_narrow_still_adds_wide_when_explicit(text: str) -> None:
    """4,096 ones added in bfloat16 are 256, and in float32 4,096."""
    wide = parse(WIDE)
    p = tl.program(text, x="bfloat16[4096]")
    explicit = p.explicit(wide)
    explicit.check()
    assert str(explicit.under(wide)[explicit.results[0]]) == "bfloat16"
    for system in (wide, tl.system("numpy"), tl.system("torch")):
        xp = tl.namespace(system, np)
        found = explicit.run(xp, x=xp.ones(4096, dtype="bfloat16"))
        assert (float(found), str(found.dtype)) == (4096.0, "bfloat16")


def test_a_product_or_deviation_computed_wide_is_cast_after_it() -> None:
    for text in ("prod(x)", "std(x)"):
        lines = str(tl.program(text, x="float16[9]").explicit(parse(WIDE))).splitlines()
        assert "float32" in lines[-3]
        assert "astype(t2, float16)" in lines[-2]


@pytest.mark.parametrize("system", one_in(3, tl.systems(), 2))
def test_an_explicit_program_reads_back_with_the_dtypes_of_its_steps(system: str) -> None:
    """A division of integers is one in C, and stays one when its text is read again."""
    for text in ("x / y", "x + y", "-x", "x < y", "z = x * y\nz += x\nz", "sum(x)", "sqrt(x) * 2"):
        p = tl.program(text, x="int32[3]", y="int32[3]") if "y" in text else tl.program(text, x="int32[3]")
        try:
            explicit = p.explicit(system)
        except tl.ProgramError:
            continue  # refused there
        again = tl.program(str(explicit))
        again.check()
        assert str(again) == str(explicit)
        assert [getattr(s, "dtype", None) for s in again.steps] == [
            getattr(s, "dtype", None) for s in explicit.steps
        ]

"""The report of a run names the step that widened a float, what follows from it, and what stops it."""

from __future__ import annotations

import html
import math
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest
from followed import followed

import typelattice as tl
from typelattice.programs.calls.steps import Input, Opaque, SourceLocation
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.remedies.remedy import find_remedy
from typelattice.tracing.report.html_elements import escape_text
from typelattice.tracing.report.html_report import write_pages
from typelattice.tracing.report.report_entries import FINDING_RULES, make_report
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.report.tool_formats import build_sarif, entry_data, write_github_annotations
from typelattice.tracing.run_data.merged_runs import drop_unused_steps, merge_runs
from typelattice.tracing.run_data.run import Observation, Run, UnfollowedCode
from typelattice.tracing.steps.called_name import name_in_source


def run_of(folder: Path, source: str, own: str = "numpy", **bound: str) -> Run:
    """A run of the function `f` of a source text, as it comes out under a library's own system."""
    path = folder / "code.py"
    path.write_text(dedent(source), encoding="utf-8")
    program = tl.program(f"{path}:f", **bound)
    seen = []
    for step, outcome in zip(program.steps, program.under(own), strict=True):
        assert outcome.operand is not None
        bits = outcome.operand.dtype.bits if outcome.operand.dtype else 64
        count = math.prod(n or 1 for n in step.shape) if step.shape else 1
        seen.append(Observation(outcome.operand, 1, count * (bits or 8) // 8))
    return Run(program, tuple(seen), {"numpy": own}, sources={"code.py": path.read_text(encoding="utf-8")})


def found_in(run: Run, *systems: str) -> Findings:
    return collect_findings(run, systems)


def named(found: Findings) -> list[str]:
    """The source texts by which the causes are named."""
    return [found.predicted_run.steps[cause.step].text for cause in found.causes]


NORMALIZE = """
    import numpy as np
    def f(img, mean):
        x = img / 255.0
        y = x - mean
        return np.sqrt(y) + 1
"""


def test_a_float_that_meets_a_wider_one_from_outside_is_named_where_they_meet(tmp_path: Path) -> None:
    found = found_in(run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]"))
    (cause,) = found.causes
    assert named(found) == ["x - mean"]
    assert (cause.narrow_dtype.name, cause.wide_dtype.name) == ("float32", "float64")
    assert [found.predicted_run.steps[i].text for i in cause.later_wide_steps] == [
        "x - mean",
        "np.sqrt(y)",
        "np.sqrt(y) + 1",
    ]
    assert cause.extra_bytes == 3 * 1200


def test_the_smallest_cast_is_that_of_the_small_operand(tmp_path: Path) -> None:
    found = found_in(run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]"))
    remedy = find_remedy(found.predicted_run, found.causes[0])
    assert remedy is not None
    assert [found.predicted_run.steps[c.producer].text for c in remedy.replay.casts] == ["mean"]
    assert (remedy.replay.bytes, remedy.replay.target.name) == (24, "float32")
    assert remedy.replay.narrow_steps == found.causes[0].later_wide_steps


def test_a_float_that_nothing_widened_has_no_cause(tmp_path: Path) -> None:
    for dtype in ("float32", "float64"):
        run = run_of(tmp_path, NORMALIZE, img=f"{dtype}[100,3]", mean=f"{dtype}[3]")
        assert not found_in(run).causes
        assert "no float was widened by another" in list(write_report(run, ()))


def test_the_step_that_made_the_wide_float_is_named_beside_the_first_that_it_widened(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        """
            import numpy as np
            def f(x, count):
                t = count / 10
                scale = np.sqrt(t)
                a = x * 2.0
                return a * scale
            """,
        x="float32[100]",
        count="int64[100]",
    )
    found = found_in(run)
    assert named(found) == ["a * scale"]
    (cause,) = found.causes
    assert [found.predicted_run.steps[i].text for i in cause.origin_steps] == ["count / 10"]
    assert "code.py:4: count / 10" in "\n".join(write_report(run, ()))


def test_an_integer_that_widens_a_float_is_what_to_cast(tmp_path: Path) -> None:
    source = """
        def f(x, n):
            return x * n
    """
    found = found_in(run_of(tmp_path, source, x="float32[100]", n="int64[1]"))
    assert named(found) == ["x * n"]
    remedy = find_remedy(found.predicted_run, found.causes[0])
    assert remedy is not None
    assert [found.predicted_run.steps[c.producer].text for c in remedy.replay.casts] == ["n"]


def test_a_cast_that_the_code_asks_for_is_a_cause(tmp_path: Path) -> None:
    source = """
        import numpy as np
        def f(x):
            y = x.astype(np.float64)
            return y * 2.0
    """
    run = run_of(tmp_path, source, x="float32[100]")
    assert named(found_in(run)) == ["x.astype(np.float64)"]
    assert "casts float32 to float64 explicitly" in "\n".join(write_report(run, ()))


def test_two_wide_operands_are_both_cast_to_stop_what_follows(tmp_path: Path) -> None:
    source = """
        def f(x, mean, std):
            return (x - mean) / std
    """
    found = found_in(run_of(tmp_path, source, x="float32[100,3]", mean="float64[3]", std="float64[3]"))
    (cause,) = found.causes
    remedy = find_remedy(found.predicted_run, cause)
    assert remedy is not None
    assert [found.predicted_run.steps[c.producer].text for c in remedy.replay.casts] == ["mean", "std"]
    assert remedy.replay.narrow_steps == cause.later_wide_steps


def test_no_cast_is_proposed_after_which_an_operation_is_refused(tmp_path: Path) -> None:
    source = """
        def f(h, x, w, m):
            y = h * w
            z = x * w
            return y.sum() + (z @ m).sum()
    """
    shapes = {"h": "bfloat16[9,9]", "x": "float32[9,9]", "w": "float32[9]", "m": "float32[9,9]"}
    found = found_in(run_of(tmp_path, source, own="torch", **shapes))
    remedy = find_remedy(found.predicted_run, found.causes[0])
    assert remedy is not None
    assert [found.predicted_run.steps[c.producer].text for c in remedy.replay.casts] == ["w"]
    assert [found.predicted_run.steps[i].text for i in remedy.replay.narrow_steps] == ["h * w", "y.sum()"]


def test_a_cause_of_which_the_sizes_are_not_known_is_not_said_to_take_no_bytes(tmp_path: Path) -> None:
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    run = replace(run, observations=tuple(replace(seen, bytes=0) for seen in run.observations))
    assert "floats were widened from 1 place" in list(write_report(run, ()))


def test_the_rule_of_a_cause_is_that_of_the_promotion(tmp_path: Path) -> None:
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    rule = tl.system("numpy").explain("float32", "float64", op="subtract").rule
    assert str(rule) in "\n".join(write_report(run, ()))


def test_a_complex_number_is_as_wide_as_its_parts(tmp_path: Path) -> None:
    source = """
        def f(x, z, w):
            return x * z + w
    """
    assert not found_in(run_of(tmp_path, source, x="float32[9]", z="complex64[9]", w="complex64[9]")).causes
    found = found_in(run_of(tmp_path, source, x="float32[9]", z="complex64[9]", w="float64[9]"))
    assert named(found) == ["x * z + w"]
    remedy = find_remedy(found.predicted_run, found.causes[0])
    assert remedy is not None and remedy.replay.target.name == "float32"


PARTS = """
    import numpy as np
    def f(x, n, u):
        mean = n / 2
        low = mean * x
        bits = n + u
        return bits * low
"""


def test_where_a_system_parts_is_named_with_what_it_costs(tmp_path: Path) -> None:
    run = run_of(tmp_path, PARTS, x="float32[9]", n="int32[9]", u="uint32[9]")
    found = found_in(run, "torch")
    told = {found.predicted_run.steps[p.steps[0]].text: p for p in found.divergences["torch"]}
    assert {text: p.cost for text, p in told.items()} == {"n + u": "raises", "n / 2": "loses"}
    assert (told["n + u"].later_count, told["n + u"].unreached_count) == (1, 1)
    said = "\n".join(write_report(run, ["torch"]))
    assert "under torch 2 places would differ: 1 raises, 1 loses" in said
    assert said.index("n + u") < said.index("n / 2", said.index("under torch"))


def test_a_system_that_gives_fewer_bits_without_a_loss_is_narrower(tmp_path: Path) -> None:
    source = """
        import numpy as np
        def f(x):
            return x + np.zeros(3)
    """
    found = found_in(run_of(tmp_path, source, x="float64[3]"), "torch", "jax")
    assert [p.cost for p in found.divergences["torch"]] == ["narrower"]
    assert found.divergences["jax"] == ()


def test_a_system_that_casts_an_operand_to_more_than_the_run_did_loses_nothing(tmp_path: Path) -> None:
    """NumPy 1 casts the int64 without dimensions to float32, and NumPy 2 both to float64."""
    source = """
        def f(n, x):
            return n + x
    """
    run = run_of(tmp_path, source, own="numpy1", n="int64:0d", x="float32[3]")
    assert [p.cost for p in found_in(run, "numpy").divergences["numpy"]] == ["wider"]


def test_a_system_that_gives_an_integer_for_a_float_loses_what_it_does_not_hold(tmp_path: Path) -> None:
    source = """
        import numpy as np
        def f(n):
            return np.median(n)
    """
    run = run_of(tmp_path, source, n="int32[4]")
    (divergence,) = found_in(run, "torch").divergences["torch"]
    assert divergence.cost == "loses"
    assert [(a.name, b.name) for a, b in divergence.lossy_casts] == [("float64", "int32")]


def test_a_step_that_came_out_otherwise_than_our_rules_say_is_told_once(tmp_path: Path) -> None:
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float32[3]")
    at = run.program.step("x - mean")
    wrong = [
        replace(seen, operand=tl.operand("float16")) if i >= at and seen.operand.dtype else seen
        for i, seen in enumerate(run.observations)
    ]
    run = replace(run, observations=tuple(wrong))
    assert found_in(run).predicted_run.mismatches == (at,)
    assert "1 mismatch: our rules say otherwise" in "\n".join(write_report(run, ()))


def test_an_opaque_step_that_widens_is_a_cause_of_which_no_rule_is_known(tmp_path: Path) -> None:
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float32[3]")
    at = run.program.step("x - mean")
    step = run.program.steps[at]
    opaque = Opaque("blur", tl.operand("float64"), step.inputs, text="blur(x)", location=step.location)
    steps = (*run.program.steps[:at], opaque, *run.program.steps[at + 1 :])
    seen = tuple(
        replace(s, operand=tl.operand("float64")) if i >= at and s.operand.dtype else s
        for i, s in enumerate(run.observations)
    )
    run = replace(run, program=replace(run.program, steps=steps), observations=seen)
    assert named(found_in(run)) == ["blur(x)"]
    assert "no rule of it is known" in " ".join("\n".join(write_report(run, ())).split())


def test_a_list_that_meets_a_float_is_what_to_make_an_array_of(tmp_path: Path) -> None:
    """An operation with a long list among its operands is recorded as an opaque step of its name."""
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    at = run.program.step("x - mean")
    step = run.program.steps[at]
    opaque = Opaque(
        "subtract", tl.operand("float64"), step.inputs[:1], text=step.text, location=step.location
    )
    steps = (*run.program.steps[:at], opaque, *run.program.steps[at + 1 :])
    told = " ".join(
        "\n".join(write_report(replace(run, program=replace(run.program, steps=steps)), ())).split()
    )
    assert "subtract of float32 and a list or the like gives float64" in told


def test_what_needs_a_refused_step_is_no_refusal_of_its_own(tmp_path: Path) -> None:
    """An opaque step in between passes on that it is not reached."""
    source = """
        def f(x, n, u):
            bits = n + u
            blurred = bits * x
            return blurred + 1.0
    """
    run = run_of(tmp_path, source, x="float32[9]", n="int32[9]", u="uint32[9]")
    at = run.program.step("bits * x")
    step = run.program.steps[at]
    opaque = Opaque(
        "blur", run.observations[at].operand, step.inputs, text="blur(bits)", location=step.location
    )
    steps = (*run.program.steps[:at], opaque, *run.program.steps[at + 1 :])
    run = replace(run, program=replace(run.program, steps=steps))
    (divergence,) = found_in(run, "torch").divergences["torch"]
    assert run.program.steps[divergence.steps[0]].text == "n + u"
    assert (divergence.later_count, divergence.unreached_count) == (2, 2)


def test_what_follows_an_opaque_call_of_an_array_that_differs_is_said_to_be_unknown(tmp_path: Path) -> None:
    source = """
        def f(x, n):
            scaled = n * x
            blurred = scaled - x
            return blurred * 2.0
    """
    run = run_of(tmp_path, source, x="float32[9]", n="int32[9]")
    at = run.program.step("scaled - x")
    step = run.program.steps[at]
    opaque = Opaque(
        "blur", run.observations[at].operand, step.inputs, text="blur(scaled)", location=step.location
    )
    steps = (*run.program.steps[:at], opaque, *run.program.steps[at + 1 :])
    run = replace(run, program=replace(run.program, steps=steps))
    (divergence,) = found_in(run, "torch").divergences["torch"]
    assert [run.program.steps[i].text for i in divergence.opaque_consumers] == ["blur(scaled)"]
    assert [run.program.steps[i].text for i in divergence.unknown_steps] == ["blur(scaled)", "blurred * 2.0"]
    told = " ".join("\n".join(write_report(run, ["torch"])).split())
    assert "what these calls give, nor 1 step after it; only a new run does: code.py:4: blur" in told


@pytest.mark.parametrize("width", [60, 80])
def test_every_line_fits_the_width(tmp_path: Path, width: int) -> None:
    run = run_of(tmp_path, PARTS, x="float32[9]", n="int32[9]", u="uint32[9]")
    for line in "\n".join(write_report(run, ["torch", "jax", "numpy1"], width)).splitlines():
        assert len(line) <= width


HOSTILE = """
    def f(x, y):
        z = x + y  # <script>alert(1)</script> &amp; "' \u202e
        return z
"""


def test_pages_hold_no_script_but_ours_and_the_source_stays_text(tmp_path: Path) -> None:
    run = run_of(tmp_path, HOSTILE, x="float32[9]", y="float64[9]")
    hostile = replace(
        run,
        program=replace(
            run.program, steps=tuple(replace(s, text=f"<img src=x>{s.text}") for s in run.program.steps)
        ),
        summaries=("<b>summary</b>",),
    )
    write_pages(hostile, ["torch"], tmp_path / "pages")
    pages = sorted((tmp_path / "pages").iterdir())
    assert [page.name for page in pages] == ["001_code.html", "index.html"]
    for page in pages:
        told, *scripts = re.split("<script>(.*)</script>", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for script, _ in pairwise(scripts):
            allowed = b64encode(sha256(script.encode()).digest()).decode()
            assert f"script-src 'sha256-{allowed}'" in told
        told += "".join(scripts[1::2])
        assert len(scripts) == 2 * (page.name != "index.html")
        for markup in ("<script", "<img", "<b>", "\u202e", "http:", "https:", "//"):
            assert markup not in told, markup
        assert "default-src 'none'" in told
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp;" in pages[0].read_text(encoding="utf-8")


def test_every_link_of_the_pages_leads_to_a_line_or_a_page(tmp_path: Path) -> None:
    import re

    run = run_of(tmp_path, PARTS, x="float32[9]", n="int32[9]", u="uint32[9]")
    write_pages(run, ["torch"], tmp_path / "pages")
    anchors = {
        f"{page.name}#{each}" if each else page.name
        for page in (tmp_path / "pages").iterdir()
        for each in ["", *re.findall(r'id="([^"]+)"', page.read_text(encoding="utf-8"))]
    }
    for page in (tmp_path / "pages").iterdir():
        for link in re.findall(r'href="([^"]+)"', page.read_text(encoding="utf-8")):
            assert (page.name + link if link.startswith("#") else link) in anchors


def test_the_line_of_a_cause_is_marked_and_those_that_follow_are(tmp_path: Path) -> None:
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    write_pages(run, [], tmp_path / "pages")
    told = (tmp_path / "pages" / "001_code.html").read_text(encoding="utf-8")
    assert '<details id="L5" class="line cause change flagged">' in told
    plain = html.unescape(re.sub("<[^>]*>", "", told.partition('<div class="line added">')[2]))
    assert plain.startswith("+    y = x - mean.astype(x.dtype)saves up to ")
    assert '<details id="L6" class="line later">' in told
    assert '<details id="L4" class="line">' in told


def test_the_line_that_makes_the_wide_float_is_marked_and_each_that_it_widens(tmp_path: Path) -> None:
    source = """
        import numpy as np
        def f(x):
            k = np.linspace(0, 1, 8)
            scale = k * 2.0
            y = x * scale
            z = x[:8] * scale
            return z + 1
    """
    write_pages(run_of(tmp_path, source, x="float32[8]"), [], tmp_path / "pages")
    told = (tmp_path / "pages" / "001_code.html").read_text(encoding="utf-8")
    marks = dict(re.findall(r'id="L(\d+)" class="line ?(\w*)', told))
    assert [marks[n] for n in "45678"] == ["made", "made", "cause", "cause", "later"]
    assert "a float was widened here, as at " in told


def test_a_file_in_which_nothing_ran_is_not_counted(tmp_path: Path) -> None:
    """An array that comes from another file stands there, and no operation does."""
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    steps = [
        replace(s, location=SourceLocation("other.py", 1)) if isinstance(s, Input) else s
        for s in run.program.steps
    ]
    run = replace(run, program=replace(run.program, steps=tuple(steps)))
    assert next(write_report(run, ())).startswith("4 operations ran in 1 file under numpy")


def test_pages_of_an_earlier_run_are_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    steps = tuple(
        replace(s, location=s.location and replace(s.location, file="old.py")) for s in run.program.steps
    )
    write_pages(replace(run, program=replace(run.program, steps=steps)), [], folder)
    (folder / "002_mine.html").write_text("mine")
    write_pages(run, [], folder)
    assert sorted(p.name for p in folder.iterdir()) == ["001_code.html", "002_mine.html", "index.html"]
    (folder / "index.html").write_text('<a href="002_mine.html">not ours</a>')
    write_pages(run, [], folder)
    assert (folder / "002_mine.html").exists()


def test_text_of_pages_has_nothing_that_controls() -> None:
    assert escape_text("a\x00\x1b[31m<") == "a\ufffd\ufffd[31m&lt;"


def test_a_folder_that_cannot_be_is_one_error(tmp_path: Path) -> None:
    run = run_of(tmp_path, NORMALIZE, img="float32[100,3]", mean="float64[3]")
    (tmp_path / "file").write_text("")
    with pytest.raises(tl.TypelatticeError, match=r"cannot write .*file"):
        write_pages(run, [], tmp_path / "file")


def test_a_run_without_arrays_claims_nothing() -> None:
    told = str(tl.trace(lambda: 1 + 2, systems=["torch"]))
    assert told.startswith("0 operations ran in 0 files\n\nno dtypes are known")
    assert "widened" not in told and "torch" not in told.partition("--dtype-trace")[2]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("np.add.accumulate(h) + x", "add of"),
        ("np.add.accumulate(h, dtype=np.float64)", "add.accumulate of float16 gives float64"),
        ("np.multiply.reduce(h, dtype=np.float64)", "multiply.reduce of float16 gives float64"),
        ("np.subtract.outer(h, w)", "subtract.outer of float16 and float64 gives float64"),
        ("np.concatenate([h, w])", "concatenate of float16 and float64 gives float64"),
        ("h @ w", "matmul of float16 and float64 gives float64"),
    ],
)
def test_an_operation_is_named_as_the_program_wrote_it(code: str, said: str) -> None:
    before = "import numpy as np\nx, h, w = np.ones(3, np.float32), np.ones(3, np.float16), np.ones(3)\n"
    _, run = followed(code, before)
    assert said in " ".join("\n".join(write_report(run, ())).split())


def test_what_is_written_into_out_is_named_by_the_function(tmp_path: Path) -> None:
    before = "import numpy as np\nx, z = np.ones(3, np.float16), np.ones(3, np.float16)\n"
    _, run = followed("z", f"{before}np.add(x, x, out=z)\nz[0] = 2.0\n")
    assert [name_in_source(step) for step in run.program.steps if step.op == "setitem"] == [
        "add into out",
        "setitem",
    ]
    write_pages(run, (), tmp_path)
    pages = "".join(page.read_text() for page in tmp_path.glob("*.html"))
    assert "add into out" in pages


def test_what_is_written_into_elements_widens_the_steps_after_it() -> None:
    before = "import numpy as np\nx = np.ones(9, np.float32)\nbuf = np.zeros(9)\n"
    for writes in ("buf[:] = x", "part = buf[1:4]\npart[:] = x[:3]"):
        _, run = followed("z", f"{before}{writes}\ny = buf * 2\nz = np.sqrt(y)\n")
        (cause,) = found_in(run).causes
        assert [run.program.steps[i].text for i in cause.following_steps] == ["buf * 2", "np.sqrt(y)"]


OPAQUE = """import numpy as np
x = np.ones((4, 4), np.float32)
h = x * np.linspace(0, 1, 4)
q = np.piecewise(h, [h > 0], [1.0])
t = q.sum(axis=1) + 1
"""


def test_a_replay_does_not_tell_what_calls_without_a_rule_would_give() -> None:
    _, run = followed("t", OPAQUE)
    found = found_in(run)
    (cause,) = found.causes
    remedy = find_remedy(found.predicted_run, cause)
    assert remedy is not None
    texts = [step.text for step in run.program.steps]
    assert [texts[c.producer] for c in remedy.replay.casts] == ["np.linspace(0, 1, 4)"]
    assert {texts[i] for i in remedy.replay.opaque_consumers} == {"np.piecewise(h, [h > 0], [1.0])"}
    assert {texts[i] for i in remedy.replay.unknown_steps} >= {"q.sum(axis=1)", "q.sum(axis=1) + 1"}
    told = " ".join("\n".join(write_report(run, ())).split())
    assert "a replay does not tell what these calls give" in told
    assert "code.py:4: np.piecewise(h, [h > 0], [1.0])" in told


def test_a_compiled_function_that_takes_a_narrowed_array_is_named() -> None:
    given = "import numpy as np\nimport operator\nkept = [None]\nx = np.ones(3, np.float32).astype(float)\n"
    _, run = followed("operator.setitem(kept, 0, x)", given)
    for each in (run, merge_runs([run, run]), drop_unused_steps(run)):
        told = " ".join("\n".join(write_report(each, ())).split())
        assert "a compiled function takes the array, and may refuse another dtype" in told
        assert told.count("operator.setitem(kept, 0, x)") == 1


def test_a_line_that_is_meant_is_counted_and_not_shown() -> None:
    _, run = followed("h", OPAQUE.replace("1, 4)", "1, 4)  # typelattice: meant"))
    assert not found_in(run).causes
    assert "1 finding not shown: a comment says that it is meant" in list(write_report(run, ()))


def test_a_report_of_everything_shows_every_place_and_names_all_that_was_not_followed() -> None:
    lines = [f"a{i} = np.ones({i}, np.float32) * np.ones({i})" for i in range(1, 13)]
    _, run = followed("a1", "import numpy as np\n" + "\n".join(lines) + "\n")
    left = tuple(UnfollowedCode(f"f{i}", "numba compiles it") for i in range(3))
    run = replace(run, unfollowed_code=left)
    some, everything = (list(write_report(run, (), everything=each)) for each in (False, True))
    assert "not followed: 3 functions or modules: numba compiles it" in some
    assert "not followed: f0, f1, f2: numba compiles it" in everything
    assert len([line for line in some if line.startswith((" 1", "10", "12"))]) == 2
    assert len([line for line in everything if line.startswith((" 1", "10", "12"))]) == 3


def test_annotations_name_rule_file_and_line(tmp_path: Path) -> None:
    run = run_of(tmp_path, PARTS, x="float32[9]", n="int32[9]", u="uint32[9]")
    made = make_report(found_in(run, "torch"))
    lines = [*write_github_annotations(made)]
    assert lines[0].startswith("::warning file=code.py,line=5,title=TL001::mean * x: float32 becomes float64")
    assert any(line.startswith("::error file=code.py,line=6,title=TL101::") for line in lines)
    assert all("\n" not in line for line in lines) and lines[0].count("%0A") > 5
    document = build_sarif(made, "1.0")
    (one,) = document["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert rules == [*FINDING_RULES]
    for result in one["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    assert [entry_data(entry)["rule"] for entry in made.entries] == [r["ruleId"] for r in one["results"]]


def test_a_system_that_is_one_mode_of_its_library_says_which(tmp_path: Path) -> None:
    """Most programs with JAX run another one."""
    run = run_of(tmp_path, "def f(x):\n    return x * 2.0\n", x="float32[3]")
    lines = write_report(run, ["jax", "jax-x32"])
    assert sum("64-bit types enabled" in line and "jax-x32" in line for line in lines) == 1

"""Tools that look at a program say the same of it with and without the tracer.

Profilers and debuggers also see frames of typelattice, as docs/tracing.md says. The program's own frames
are the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from samples import one_in
from test_tracing_scripts import both

HEAD = """
import sys
import numpy as np
def scaled(x):
    y = x * np.float64(2)
    y += 1
    return y[0] - x
def total(n):
    made = [scaled(np.full(3, i, np.float32)) for i in range(n)]
    return sum(made)
"""
TRACEBACKS = """
import traceback
def fail(x):
    try:
        return x + np.ones(4)
    except ValueError as e:
        raise KeyError("shape") from e
try:
    fail(total(2))
except KeyError:
    print(traceback.format_exc())
fail(total(2))
"""
GROUPS = """
def fail(x):
    return x @ np.ones(4)
found = []
for k in range(2):
    try:
        fail(total(1))
    except ValueError as e:
        found.append(e)
raise ExceptionGroup("several", found)
"""
CPROFILE = """
import cProfile, pstats
profile = cProfile.Profile()
print(profile.runcall(total, 3))
own = {k[1:]: v[:2] for k, v in pstats.Stats(profile).stats.items() if k[0] == __file__}
print(sorted(own.items()))
"""
SETPROFILE = """
seen = []
def told(frame, event, arg):
    if frame.f_code.co_filename == __file__ and not event.startswith("c_"):
        seen.append((frame.f_code.co_name, event, frame.f_lineno))
sys.setprofile(told)
total(2)
sys.setprofile(None)
print(seen)
"""
SETTRACE = """
seen = []
def told(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return None
    seen.append((frame.f_code.co_name, event, frame.f_lineno, sorted(frame.f_locals)))
    return told
sys.settrace(told)
total(2)
sys.settrace(None)
print(seen)
"""
MONITORING = """
seen = []
def told(code, line):
    if code.co_filename == __file__:
        seen.append((code.co_name, line))
sys.monitoring.use_tool_id(4, "seen")
sys.monitoring.register_callback(4, sys.monitoring.events.LINE, told)
sys.monitoring.set_events(4, sys.monitoring.events.LINE)
total(2)
sys.monitoring.set_events(4, 0)
print(seen)
"""
DEBUGGER = """
import io, pdb
words = "next\\nnext\\np y.dtype, x\\nup\\np n\\ndown\\nnext\\np y\\ncontinue\\n"
def scaled(x):
    debugger.set_trace()
    y = x * np.float64(2)
    y += 1
    return y[0] - x
debugger = pdb.Pdb(stdin=io.StringIO(words), stdout=sys.stdout, nosigint=True)
debugger.prompt = ""
print(total(1))
"""
SOURCES = """
import inspect
print(inspect.getsource(scaled), inspect.signature(scaled), scaled.__code__.co_varnames)
print(sorted({line for _, _, line in scaled.__code__.co_lines() if line}))
print(total(1))
"""
TOOLS = {
    "tracebacks": (TRACEBACKS, 1),
    "groups of exceptions": (GROUPS, 1),
    "cProfile": (CPROFILE, 0),
    "sys.setprofile": (SETPROFILE, 0),
    "sys.settrace": (SETTRACE, 0),
    "sys.monitoring": (MONITORING, 0),
    "pdb": (DEBUGGER, 0),
    "inspect": (SOURCES, 0),
}


@pytest.mark.parametrize("name", one_in(3, [*TOOLS]))
def test_a_tool_says_the_same_with_the_tracer(tmp_path: Path, name: str) -> None:
    if name == "sys.monitoring" and sys.version_info < (3, 12):
        pytest.skip("Python 3.12 has it first")
    tool, status = TOOLS[name]
    (tmp_path / "main.py").write_text(HEAD + tool, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py", PYTHONWARNINGS="ignore")
    assert plain.returncode == traced.returncode == status, traced.stderr
    assert plain.stdout == traced.stdout
    assert traced.stderr.startswith(plain.stderr)
    assert plain.stdout or plain.stderr
    assert ": x * np.float64(2)" in traced.stderr, traced.stderr


def test_marshal_refuses_followed_code_as_the_page_says(tmp_path: Path) -> None:
    text = "import marshal\ntry:\n    marshal.dumps(scaled.__code__)\nexcept ValueError as e:\n    print(e)\n"
    (tmp_path / "main.py").write_text(HEAD + text, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py")
    assert (plain.stdout, traced.stdout) == ("", "unmarshallable object\n")

"""Tools that look at a program say the same of it with and without the tracer.

Profilers in C and tools of `sys.monitoring` also see frames of typelattice, as docs/followed.md says. The
program's own frames are the same.
"""

from __future__ import annotations

import re
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
    seen.append((frame.f_code.co_name, event, frame.f_lineno, getattr(arg, "__name__", "")))
sys.setprofile(told)
total(2)
sys.setprofile(None)
print([each for each in seen if each[3] != "setprofile"])
"""
SETTRACE = """
seen = []
def told(frame, event, arg):
    seen.append((frame.f_code.co_name, event, frame.f_lineno, sorted(frame.f_locals)))
    return told
sys.settrace(told)
total(2)
print(sys.gettrace() is told, sorted([i for i in [2, 1]], key=lambda i: -i))
sys.settrace(None)
print(seen)
def fail(frame, event, arg):
    raise ValueError(sys._getframe(1).f_code.co_name)
sys.settrace(fail)
try:
    total(2)
except ValueError:
    import traceback
    traceback.print_exc(file=sys.stdout)
print(sys.gettrace())
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
words = "next\\nnext\\np y.dtype, x\\nup\\np n\\ndown\\nnext\\np y\\n"
words += 12 * "step\\nwhere\\n" + "continue\\n"
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


READERS_OF_CODE = {
    "constants": "print(scaled.__code__.co_consts, [type(c) for c in scaled.__code__.co_consts])",
    "marshal": "import marshal\nprint(len(marshal.dumps(scaled.__code__)), scaled(np.ones(2)))",
    "dis": "import dis\ndis.dis(scaled)\nprint(dis.stack_effect(dis.opmap['NOP']))",
    "own compiler": (
        "import types\n"
        "def compiled(f):\n"
        "    code = f.__code__\n"
        "    print(code.co_names, len(code.co_code), code.co_stacksize)\n"
        "    return types.FunctionType(code, f.__globals__)\n"
        "@compiled\n"
        "def kernel(x):\n"
        "    return x * np.float64(2)\n"
        "print(kernel(np.ones(2)))"
    ),
    "nested": (
        "def outer():\n"
        "    return [lambda x: x + 1, lambda x: x + 2]\n"
        "print([f.__code__.co_consts for f in outer()], outer.__code__ == outer.__code__)\n"
        "print(outer.__code__.co_consts[1] is outer()[0].__code__)"
    ),
    "frames": (
        "def seen():\n"
        "    frame = sys._getframe()\n"
        "    return frame.f_code is seen.__code__, frame.f_lasti, sys._getframe(1).f_back\n"
        "print(seen(), np.ones(2) + 1)"
    ),
    "generators": (
        "def each():\n"
        "    yield np.ones(2) + 1\n"
        "async def later():\n"
        "    return np.ones(2) + 1\n"
        "g, c = each(), later()\n"
        "print(g.gi_code is each.__code__, c.cr_code is later.__code__, next(g))\n"
        "c.close()"
    ),
    "tracebacks": (
        "try:\n"
        "    scaled(None)\n"
        "except TypeError as e:\n"
        "    t = e.__traceback__.tb_next\n"
        "    print(t.tb_lasti, t.tb_frame.f_code is scaled.__code__, t.tb_lineno)"
    ),
    "replaced": (
        "code = scaled.__code__\n"
        "scaled.__code__ = code.replace(co_name='other')\n"
        "print(scaled.__code__.co_name, scaled(np.ones(2)))\n"
        "scaled.__code__ = code\n"
        "print(scaled.__code__ is code, scaled(np.ones(2)))"
    ),
    "dead code": "print(np.ones(2) + 1 if False else 2)\nif 0:\n    print(-np.ones(3), np.ones(2)[0])",
    "stack": "import traceback\ndef f():\n    traceback.print_stack(file=sys.stdout)\nf()",
}


@pytest.mark.parametrize("reader", one_in(2, sorted(READERS_OF_CODE)))
def test_whatever_reads_code_gets_the_code_of_the_file(tmp_path: Path, reader: str) -> None:
    text = HEAD + READERS_OF_CODE[reader] + "\ntotal(2)\n"
    (tmp_path / "main.py").write_text(text, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py")
    assert _without_addresses(traced.stdout) == _without_addresses(plain.stdout), traced.stderr
    assert plain.returncode == traced.returncode == 0, traced.stderr
    assert ": x * np.float64(2)" in traced.stderr, traced.stderr


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 has the first sys.monitoring")
def test_a_monitor_of_one_function_sees_it(tmp_path: Path) -> None:
    text = (
        "tool = sys.monitoring\n"
        "tool.use_tool_id(4, 'lines')\n"
        "tool.register_callback(4, tool.events.LINE, lambda code, line: print(code.co_name, line))\n"
        "tool.set_local_events(4, scaled.__code__, tool.events.LINE)\n"
        "total(2)\n"
    )
    (tmp_path / "main.py").write_text(HEAD + text, encoding="utf-8")
    plain, traced = both(tmp_path, "main.py")
    assert plain.stdout == traced.stdout != ""


def test_each_warning_about_the_source_is_shown_once(tmp_path: Path) -> None:
    text = "import warnings\nx = 1\nprint(x is 1, '\\d')\nfor _ in range(2): warnings.warn('once')\n"
    (tmp_path / "main.py").write_text(text, encoding="utf-8")
    for filters in ("", "always"):
        plain, traced = both(tmp_path, "main.py", PYTHONWARNINGS=filters)
        assert plain.returncode == traced.returncode == 0
        assert traced.stderr.startswith(plain.stderr) and "SyntaxWarning" in plain.stderr
        assert traced.stderr.count("Warning") == plain.stderr.count("Warning")

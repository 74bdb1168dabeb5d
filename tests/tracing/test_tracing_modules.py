"""Modules of every sort are followed: reloaded, in archives, compiled, and those that cannot be are named."""
from __future__ import annotations

import importlib
import py_compile
import sys
import zipfile
from pathlib import Path

from traced_modules import texts, write

from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.record.trace_imports import Tracing


def test_a_reloaded_module_is_rewritten_anew(package: Path) -> None:
    path = write(package, "traced_reload", "import numpy as np\ndef run(): return np.ones(2) + 1\n")
    with Tracing(("traced_reload",)) as tracing:
        import importlib

        import traced_reload

        traced_reload.run()
        path.write_text(
            "import numpy as np\ndef run(): return np.ones(2) * 3.5\n# longer\n", encoding="utf-8"
        )
        importlib.invalidate_caches()
        importlib.reload(traced_reload).run()
    assert {"add", "multiply"} <= {step.op for step in tracing.run().program.steps}


def test_namespace_packages_and_archives_are_followed(package: Path) -> None:
    write(package / "traced_space", "inner", "import numpy as np\ndef run(): return np.ones(2) + 1\n")
    with zipfile.ZipFile(package / "traced.zip", "w") as archive:
        archive.writestr("traced_zip/__init__.py", "import numpy as np\ndef run(): return np.ones(2) * 2\n")
    sys.path.insert(0, str(package / "traced.zip"))
    try:
        with Tracing(("traced_space", "traced_zip")) as tracing:
            import traced_space.inner
            import traced_zip

            traced_space.inner.run()
            traced_zip.run()
    finally:
        sys.path.remove(str(package / "traced.zip"))
    places = {
        step.op: step.location.file for step in tracing.run().program.steps if step.location and step.op
    }
    assert places["add"].endswith("inner.py") and "traced.zip" in places["multiply"]


def test_a_module_in_an_archive_may_be_of_another_encoding_and_compiled(package: Path) -> None:
    text = "# coding: latin-1\nimport numpy as np\nname = '\xe9'\ndef run(): return np.ones(2) + 1\n"
    source = write(package, "compiled", "def run(): return 3\n")
    with zipfile.ZipFile(package / "encoded.zip", "w") as archive:
        archive.writestr("traced_encoded/__init__.py", text.encode("latin-1"))
        archive.write(py_compile.compile(str(source), str(source) + "c"), "traced_encoded/compiled.pyc")
    sys.path.insert(0, str(package / "encoded.zip"))
    try:
        with Tracing(("traced_encoded",)) as tracing:
            module = importlib.import_module("traced_encoded")
            assert module.name == "\xe9" and module.run().tolist() == [2, 2]
            assert importlib.import_module("traced_encoded.compiled").run() == 3
    finally:
        sys.path.remove(str(package / "encoded.zip"))
    assert "np.ones(2) + 1" in texts(tracing.run())


def test_a_module_that_cannot_be_rewritten_runs_as_it_is_and_is_named(package: Path) -> None:
    deep = "x = 1.0\nx = " + "+".join(["1.0 * x"] * 700) + "\n"
    write(package, "traced_deep", deep)
    with Tracing(("traced_deep",)) as tracing:
        import traced_deep
    assert traced_deep.x == 700
    (left,) = tracing.run().unfollowed_code
    assert (left.name, left.reason) == ("traced_deep", "its expressions are nested too deeply to rewrite")


def test_what_was_imported_before_is_named(package: Path) -> None:
    write(package, "traced_before", "x = 1\n")
    importlib.import_module("traced_before")

    with Tracing(("traced_before",)) as tracing:
        pass
    assert "it was imported before tracing began" in {left.reason for left in tracing.run().unfollowed_code}


def test_compiled_code_is_kept_only_where_it_was_asked_for_and_follows_the_source(package: Path) -> None:
    cache = package / "kept"
    data = b"import numpy as np\nx = np.ones(2) + 1\n"
    for text in (data, data, data.replace(b"+", b"*")):
        recorder = Recorder()
        code = ModuleCompiler(recorder, cache).compile_module("m", "m.py", text)
        assert code is not None
        exec(code, {})
        wanted = "add" if b"+" in text else "multiply"
        assert wanted in {step.op for step in recorder.build_run().program.steps}
    assert len(list(cache.iterdir())) == 2
    for kept in cache.iterdir():
        kept.write_bytes(kept.read_bytes()[:-3])
    assert ModuleCompiler(Recorder(), cache).compile_module("m", "m.py", data) is not None
    write(package, "traced_plain", "import numpy as np\nx = np.ones(2) + 1\n")
    with Tracing(("traced_plain",)):
        import traced_plain  # noqa: F401

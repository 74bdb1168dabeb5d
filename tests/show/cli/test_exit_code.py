"""The option --exit-code: status 1 says to a script what the words say."""
from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.show.cli.main import main

CHAIN = """name = "chain"
title = "One chain"
tiers = ["array"]
order = "b -> i8 -> i16"
"""
FORK = CHAIN.replace("chain", "fork").replace("b -> i8 -> i16", "b -> u8, i8 -> i16, u16")


@pytest.mark.parametrize(("argv", "status"), [
    ("explain int8 int16 --system numpy --system torch", 0),
    ("explain int64 float16 --system numpy --system torch", 1),
    ("explain int64 float16 --system array-api", 1),
    ("explain int64 float16 --system array-api --format json", 1),
    ("explain x*2 x=int8 --system numpy --system torch", 0),
    ("explain x*2.5 x=int8 --system numpy --system torch", 1),
    ("explain x@y x=int8 y=float16 --system torch", 1),
    ("diff numpy jax --dtypes int8,int16", 0), ("diff numpy jax --dtypes int8,int16 --format csv", 0),
    ("diff numpy jax --tier array", 1), ("diff chain.toml numpy --op all", 1),
    ("diff chain.toml chain.toml --op all", 0),
    ("laws chain.toml", 0), ("laws fork.toml", 1), ("laws chain.toml fork.toml", 1),
    ("laws fork.toml --format json", 1),
])  # fmt: skip
def test_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    argv: str, status: int,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("chain.toml").write_text(CHAIN)
    Path("fork.toml").write_text(FORK)
    assert main([*argv.split(), "--exit-code"]) == status
    asked = capsys.readouterr()
    assert main(argv.split()) == 0
    assert capsys.readouterr() == asked  # the option changes the status alone

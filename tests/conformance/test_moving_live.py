"""PyTorch's operations that move elements, asked of every dtype. Recordings ask most of the usual ones."""

from __future__ import annotations

import warnings

import pytest

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.releases import installed_release

MOVING = ("view", "like", "shifted")


@pytest.mark.live
def test_pytorch_moves_the_dtypes_that_its_system_says() -> None:
    pytest.importorskip("torch")
    from typelattice.conformance.recording.libraries.torch import Torch

    library = Torch()
    system = tl.system(installed_release("torch", library.versions))
    asked, wrong = 0, []
    for op, function in library.operations().items():
        if (
            op not in OPERATIONS
            or OPERATIONS[op].operation_class not in MOVING
            or OPERATIONS[op].max_operands != 1
        ):
            continue
        for name in library.native_dtypes:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = library.read(function(library.make_array(library.native_dtypes[name], 1)))
            except (RuntimeError, NotImplementedError):
                found = "refused"
            said = str(system.explain(name, op=op).dtype or "refused")
            asked += 1
            if said != found:
                wrong.append(f"{op}({name}) is {found}, the system says {said}")
    assert wrong == []
    assert asked > 500

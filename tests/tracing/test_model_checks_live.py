"""Checks of models in tests: a policy of dtypes for PyTorch, and the state of an update of JAX."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import typelattice as tl

pytestmark = pytest.mark.live


@pytest.fixture
def model() -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def test_a_model_that_keeps_to_its_policy_passes(model: Any) -> None:
    torch = sys.modules["torch"]
    with tl.dtype_policy(model, params="float32", compute="bfloat16"), torch.autocast("cpu", torch.bfloat16):
        model(torch.randn(3, 4)).float().sum().backward()
    tl.dtype_policy(model, params="float32").check()


def test_parameters_of_another_dtype_are_named(model: Any) -> None:
    torch = sys.modules["torch"]
    model[2].bfloat16()
    with pytest.raises(tl.DTypePolicyError) as e:
        tl.dtype_policy(model, params="float32").check()
    lines = str(e.value).splitlines()
    assert lines[0] == "1 place departs from params=float32"
    assert lines[1].endswith("2 tensors of the parameters are bfloat16, not float32: 2.weight, 2.bias")
    tl.dtype_policy(model, params="bfloat16", keep=["0.*"]).check()
    with pytest.raises(tl.DTypePolicyError, match=r"2 tensors .* not float32: 2\.weight, 2\.bias"):
        tl.dtype_policy(model, params="bfloat16", keep=["*"]).check()
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def test_a_wide_array_in_a_block_is_a_departure(model: Any) -> None:
    torch = sys.modules["torch"]
    model.bfloat16()
    x = torch.randn(3, 4, dtype=torch.bfloat16)
    refused = pytest.raises(tl.DTypePolicyError, match="mul of bfloat16 and float32 gives float32")
    with refused, tl.dtype_policy(model, compute="bfloat16"):
        out = model(x) * torch.ones(2)
    assert out.dtype is torch.float32


def test_an_error_of_the_block_is_its_own_and_nothing_is_left(model: Any) -> None:
    torch = sys.modules["torch"]
    with pytest.raises(ZeroDivisionError), tl.dtype_policy(model, compute="bfloat16"):
        1 / 0  # noqa: B018
    refused = pytest.raises(tl.DTypePolicyError, match="no operation of PyTorch ran")
    with refused, tl.dtype_policy(model, compute="bfloat16"):
        pass
    with pytest.raises(tl.PolicyError, match=r"give a torch\.nn\.Module"):
        tl.dtype_policy(3, compute="bfloat16")
    with pytest.raises(tl.PolicyError, match="int8 is none"):
        tl.dtype_policy(model, compute="int8")
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def test_a_state_that_changes_its_dtype_is_named() -> None:
    jnp = pytest.importorskip("jax.numpy")
    state = {"mu": jnp.zeros(3, jnp.bfloat16), "step": jnp.zeros((), jnp.int32)}

    def widen(state: Any, grad: Any) -> Any:
        return {"mu": state["mu"] * 0.9 + grad, "step": state["step"] + 1}

    def keep(state: Any, grad: Any) -> Any:
        return grad, {"mu": (state["mu"] * 0.9 + grad).astype(state["mu"].dtype), "step": state["step"] + 1}

    with pytest.raises(tl.DTypePolicyError) as e:
        tl.state_dtypes_kept(widen)(state, jnp.ones(3, jnp.float32))
    assert str(e.value).splitlines()[1:] == ["  ['mu']: bfloat16 became float32"]
    tl.state_dtypes_kept(keep)(state, jnp.ones(3, jnp.float32))
    with pytest.raises(tl.PolicyError, match="say which one it is with result="):
        tl.state_dtypes_kept(lambda state: 3)(state)

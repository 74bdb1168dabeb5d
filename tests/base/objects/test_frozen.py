"""A class made by `frozen` behaves as the dataclass of the same body does."""
from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typelattice.base.objects.frozen_classes import COMPILED_AFTER, field, frozen, replace
from typelattice.core.losses.loss import Loss
from typelattice.core.operands.operand import Operand


def made(decorated: Callable[[type], type], field: Any) -> tuple[type, type]:
    """A class of values, and one that inherits from it, made by either decorator."""

    @decorated
    class Base:
        UNIT: ClassVar[str] = "m"
        first: int
        second: int | str = 2

    @decorated
    class Value(Base):  # type: ignore[misc, valid-type]
        third: list[int] = field(default_factory=list)
        hidden: int = field(default=0, repr=False, compare=False)
        computed: int = field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "computed", self.first + 1)

    return Base, Value


OURS = made(frozen(), field)
THEIRS = made(dataclasses.dataclass(frozen=True, slots=True), dataclasses.field)
arguments = st.lists(st.integers(0, 2), max_size=5)


def outcome(of: Callable[[], object]) -> object:
    try:
        return of()
    except (TypeError, AttributeError) as e:
        return type(e)


@given(st.integers(0, 1), arguments, arguments)
def test_values_compare_print_and_refuse_as_dataclasses_do(which: int, a: list[int], b: list[int]) -> None:
    def answers(cls: Any) -> object:
        x, y = cls(*a), cls(*b)
        return x == y, hash(x) == hash(y), repr(x).rpartition(".")[2], getattr(x, "computed", None), cls.UNIT

    assert outcome(lambda: answers(OURS[which])) == outcome(lambda: answers(THEIRS[which]))


def test_a_constructor_that_is_compiled_late_makes_the_same_values() -> None:
    cls = made(frozen(), field)[1]
    values = [cls(1, third=[i]) for i in range(2 * COMPILED_AFTER)]
    assert [(x.first, x.second, x.third, x.hidden, x.computed) for x in values] == [
        (1, 2, [i], 0, 2) for i in range(2 * COMPILED_AFTER)
    ]


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), ((1, 2, [], 0, 5), {}), ((1,), {"first": 1}), ((1,), {"new": 2}), ((1,), {"computed": 2})],
)
def test_the_first_value_takes_no_wrong_arguments(given: tuple[int, ...], named: dict[str, int]) -> None:
    messages = []
    for cls in (made(frozen(), field)[1], THEIRS[1]):
        with pytest.raises(TypeError) as e:
            cls(*given, **named)
        messages.append(str(e.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("name", ["first", "new"])
def test_a_value_never_changes(name: str) -> None:
    value = OURS[1](1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(value, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(value, name)
    assert not hasattr(value, "__dict__")


def test_dataclasses_knows_the_fields() -> None:
    for ours, theirs in zip(OURS, THEIRS, strict=True):
        shown = [
            [(f.name, f.type, f.init, f.repr, f.compare, f.default) for f in dataclasses.fields(cls)]
            for cls in (ours, theirs)
        ]
        assert shown[0] == shown[1]
        assert ours.__match_args__ == theirs.__match_args__
        assert ours.__init__.__annotations__ == theirs.__init__.__annotations__
    value = OURS[1](1, third=[3])
    assert dataclasses.replace(value, first=4) == replace(value, first=4) == OURS[1](4, third=[3])
    assert dataclasses.asdict(OURS[0](1)) == {"first": 1, "second": 2}


def test_a_dataclass_may_inherit_from_a_frozen_class() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Wide(Operand):
        more: int = 0

    x = Wide(**dict.fromkeys(Operand.__match_args__), more=3)
    assert x.more == 3 and dataclasses.replace(x, more=4).more == 4


def test_values_are_pickled_and_copied() -> None:
    loss = Loss(**dict.fromkeys(Loss.__match_args__))
    for again in (pickle.loads(pickle.dumps(loss)), copy.copy(loss), copy.deepcopy(loss)):
        assert again == loss and hash(again) == hash(loss)

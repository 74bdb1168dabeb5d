"""The values that a run ends with: objects are looked into, and none of their code is run."""

from __future__ import annotations

from typing import Any

import numpy as np

from typelattice.repair.copies.call_outcomes import list_float_widths, read_value
from typelattice.repair.copies.kept_values import KeptValue, describe_unread_values, list_bound_values


class Endless:
    def to_numpy(self) -> Any:
        return self


class Failing:
    def to_numpy(self) -> Any:
        raise KeyError(1)


class Hiding:
    def __init__(self) -> None:
        self.x = np.ones(2, np.float32)

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            raise ZeroDivisionError
        return object.__getattribute__(self, name)


class Dynamic:
    def __getattr__(self, name: str) -> Any:
        return {}[name]


def test_an_object_with_attributes_of_its_own_making_is_no_array() -> None:
    assert not list_bound_values({"x": Dynamic(), "y": [Dynamic()], "z": {"a": Dynamic()}})
    assert read_value([Dynamic()]) == read_value([Dynamic()])
    assert not [*list_float_widths({"a": Dynamic()})]


def test_objects_that_fail_or_never_end_are_named_and_passed_by() -> None:
    kept = list_bound_values({"endless": Endless(), "failing": Failing(), "hiding": Hiding()})
    assert {*kept} == {"failing", "hiding.x"}
    assert [*describe_unread_values(kept)] == ["failing was not compared: no number of it can be read"]


def test_of_a_large_array_a_part_is_kept_and_said() -> None:
    kept = list_bound_values({"x": np.ones(3_000_000, np.float32), "y": np.ones(2)})
    assert kept["y"] == KeptValue("float64", (1.0, 1.0))
    assert [*describe_unread_values(kept)] == ["of x 1 number in 3 was compared"]

"""Branches that the values of arrays decide: both are read, and what they leave behind is merged."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Excerpt, ProgramError, Ref
from typelattice.programs.readers.source.python_values import (
    COUNTER,
    MISSING,
    ClassValue,
    DefinedFunction,
    InstanceValue,
    KeyOfValues,
    NamedTupleValue,
    RaisedError,
    Scope,
    UnknownValue,
    find_key_of_values,
)

MAX_MERGED_VALUES = 20_000  # values that the values of arrays decide; more are refused

# -- how a block of lines ends


@dataclass(frozen=True, slots=True)
class Ending:
    """The way in which a block of lines ends. `value` is what it returns."""

    sort: str
    value: Any = None
    error: RaisedError | None = None


NORMAL_END = Ending("normal")
BREAK_END = Ending("break")
CONTINUE_END = Ending("continue")


# -- what a branch changes

Contents = dict[int, tuple[Any, Any]]  # objects by their identity, each with its content
Sides = tuple[Contents, Contents]  # the contents after each of two branches, relative to what is now
NOW: Sides = ({}, {})


@dataclass(frozen=True, slots=True)
class UnknownLength:
    """A container of which nobody knows how many items it has, and why. Its items are samples.

    `is_several`: it stands for several containers, so that a change of it is one of any of them. `is_fresh`:
    of those only the one that was just made may be empty.
    """

    container: Any
    error: ProgramError
    may_be_empty: bool
    is_several: bool = False
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """A copy of the content of a list, a dictionary, a set, an object, a class or a scope."""

    items: Any
    unknown_length: UnknownLength | None = None


class Journal(Contents):
    """The content that objects had before they were changed. Scopes that began later are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.number = next(COUNTER)


@dataclass(slots=True)
class Branch:
    """A branch that was read and undone: how it ended, and the content of each object that it changed."""

    ending: Ending
    contents: Contents


@dataclass(slots=True)
class PendingExits:
    """The ways out of a loop or a function that were read so far: `break`, `continue` or `return`.

    `contents` are those of objects when the ways out were taken, merged. `journal` has the content that each
    object had then, if it was changed since.
    """

    value: Any = MISSING
    contents: Contents = field(default_factory=dict)
    journal: Journal = field(default_factory=Journal)
    is_taken: bool = False


class Branches:
    """The journals of changes, and the merging of branches. `builder` gets a step for each merged array."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self.builder = builder
        self.journals: list[Journal] = []
        self.unknown_lengths: dict[int, UnknownLength] = {}
        self.merged_values = 0
        self.alternatives: dict[int, tuple[Any, list[Any]]] = {}  # objects of which a branch chose one

    def will_change(self, changing: Any) -> None:
        """Record the content of an object that is about to change.

        If a branch chose it, or is to choose it, the others of the choice may change as well: `m = a if test
        else b` and `m.append(x)` leave a and b unknown.
        """
        self._record(changing)
        waiting, seen = [changing], {id(changing)}
        while waiting:
            each = waiting.pop()
            held, others = self.alternatives.pop(id(each), (None, []))
            for other in others if held is each else ():
                if id(other) not in seen:
                    seen.add(id(other))
                    waiting.append(other)
                    what = "the values of arrays decide which of two lists or objects a line changes"
                    self._lose(other, ProgramError(f"{what}; change each by its own name"))

    def forget(self, changed: Any, error: ProgramError) -> None:
        """Make unknown what a list, a dictionary, a set or an object holds. `error` says why."""
        self.will_change(changed)
        self._lose(changed, error)

    def _lose(self, changed: Any, error: ProgramError) -> None:
        self._record(changed)
        unknown = UnknownValue(error)
        if isinstance(changed, InstanceValue):
            changed.attributes, changed.lost = dict.fromkeys(changed.attributes, unknown), error
            return
        self.unknown_lengths[id(changed)] = UnknownLength(changed, error, may_be_empty=True)
        if isinstance(changed, list):
            changed[:] = [unknown]
        elif isinstance(changed, dict):
            changed.update(dict.fromkeys(changed, unknown))

    def _relate(self, merged: Any, a: Any, b: Any) -> Any:
        """Record that an object is one of two others: a change of one may be a change of another."""
        for each, others in ((merged, [a, b]), (a, [merged]), (b, [merged])):
            _, known = self.alternatives.get(id(each), (None, []))
            self.alternatives[id(each)] = (each, [*known, *others])
        return merged

    def is_within_branch_since(self, number: int) -> bool:
        """Return True if a branch that began after a number is being read."""
        return any(journal.number > number for journal in self.journals)

    def _record(self, changing: Any) -> None:
        for journal in self.journals:
            is_new = isinstance(changing, Scope) and changing.number > journal.number
            if not is_new and id(changing) not in journal:
                journal[id(changing)] = (changing, self.content_of(changing))

    def start(self) -> Journal:
        """Begin a branch. Return its journal."""
        journal = Journal()
        self.journals.append(journal)
        return journal

    def undo(self, journal: Journal, ending: Ending) -> Branch:
        """End a branch and undo what it changed."""
        self._drop(journal)
        ends = {key: (changed, self.content_of(changed)) for key, (changed, _) in journal.items()}
        for changed, before in journal.values():
            self._replace_content(changed, before)
        return Branch(ending, ends)

    def _drop(self, journal: Journal) -> None:
        self.journals = [each for each in self.journals if each is not journal]

    def content_of(self, changing: Any) -> Content:
        """Return a copy of the content of an object."""
        match changing:
            case Scope() | ClassValue():
                return Content(dict(changing.names))
            case InstanceValue() | DefinedFunction():
                return Content(dict(changing.attributes))
        return Content(changing.copy(), self.find_unknown_length(changing))

    def _replace_content(self, changed: Any, content: Content) -> None:
        self._record(changed)
        match changed:
            case Scope() | ClassValue():
                changed.names = dict(content.items)
                return
            case InstanceValue() | DefinedFunction():
                changed.attributes = dict(content.items)
                return
            case list():
                changed[:] = content.items
            case _:
                changed.clear()
                changed.update(content.items)
        if content.unknown_length is not None:
            self.unknown_lengths[id(changed)] = content.unknown_length
        else:
            self.unknown_lengths.pop(id(changed), None)

    def apply(self, contents: Contents) -> None:
        """Give objects the content that they had at the end of a branch."""
        for changed, content in contents.values():
            self._replace_content(changed, content)

    def merge(self, excerpt: Excerpt, why: str, first: Contents, second: Contents) -> None:
        """Give each object the content that it has after one of two branches.

        Each is relative to what is now. `why` says what decides which of them is taken.
        """
        merged = self._merge_sides(excerpt, why, (first, second))
        for changed, content in merged.values():
            self._replace_content(changed, content)

    def _merge_sides(self, excerpt: Excerpt, why: str, sides: Sides) -> Contents:
        """Return the contents of the objects that either side changes: what they are after one of the two."""
        merged: Contents = {}
        for key, (changed, _) in {**sides[0], **sides[1]}.items():
            first, second = (self._content_after(changed, side) for side in sides)
            merged[key] = (changed, self._merge_contents(excerpt, why, changed, first, second, sides))
        return merged

    def _content_after(self, changed: Any, side: Contents) -> Content:
        """Return the content of an object after a branch. One that the branch made has none elsewhere."""
        found: Content = side[id(changed)][1] if id(changed) in side else self.content_of(changed)
        return found

    def _merge_contents(
        self, excerpt: Excerpt, why: str, changed: Any, first: Content, second: Content, sides: Sides
    ) -> Content:
        """Merge two contents of an object. A name or a key that only one of them has is kept.

        Where it is missing, the program raises an error as soon as it uses it.
        """
        a, b = first.items, second.items
        lengths = [x for x in (first.unknown_length, second.unknown_length) if x is not None]
        if isinstance(changed, (list, dict, set)) and (
            a.keys() != b.keys() if isinstance(a, dict) else len(a) != len(b)
        ):
            lengths.append(self._unknown_length(changed, excerpt, why, not a or not b))
        may_be_empty = any(x.may_be_empty for x in lengths)
        is_several = any(x.is_several for x in lengths)
        unknown = replace(lengths[0], may_be_empty=may_be_empty, is_several=is_several) if lengths else None
        match a:
            case dict():
                joined = self._merge_keys(excerpt, why, a, b, sides)
                both = {joined.get(key, key): value for key, value in {**a, **b}.items()}
                for name in a.keys() & b.keys():
                    both[name] = self.merge_values(excerpt, why, a[name], b[name], sides)
                for name in a.keys() ^ b.keys() if isinstance(changed, InstanceValue) else ():
                    of_class = changed.of.find(name)
                    if of_class is not MISSING:
                        both[name] = self.merge_values(excerpt, why, both[name], of_class, sides)
                return Content(both, unknown)
            case list():
                pairs = zip(a, b, strict=False)
                common = [self.merge_values(excerpt, why, x, y, sides) for x, y in pairs]
                return Content([*common, *max(a, b, key=len)[len(common) :]], unknown)
        joined = self._merge_keys(excerpt, why, a, b, sides)
        return Content({joined.get(key, key) for key in a | b}, unknown)

    def _merge_keys(self, excerpt: Excerpt, why: str, a: Any, b: Any, sides: Sides) -> dict[Any, Any]:
        """Return the keys that stand for those that values decide in two containers, by themselves."""
        joined: dict[Any, Any] = {}
        for first in [key for key in a if isinstance(key, KeyOfValues)]:
            second = find_key_of_values(b, first)
            if second is not None:
                joined[first] = KeyOfValues(
                    self.merge_values(excerpt, why, first.value, second.value, sides)
                )
        return joined

    def _unknown_length(self, changed: Any, excerpt: Excerpt, why: str, may_be_empty: bool) -> UnknownLength:
        error = excerpt.error(f"how many items it has, {why}; fill it in either case")
        return UnknownLength(changed, error, may_be_empty)

    def mark_unknown_length(
        self, changed: Any, excerpt: Excerpt, why: str, may_be_empty: bool = False
    ) -> None:
        """Record that nobody knows how many items a list, a dictionary or a set has."""
        before = self.find_unknown_length(changed)
        now = self._unknown_length(changed, excerpt, why, may_be_empty)
        if before is not None:
            now = replace(before, may_be_empty=may_be_empty or before.may_be_empty, error=now.error)
        self.unknown_lengths[id(changed)] = now

    def stands_for_several(self, container: Any) -> bool:
        """Return True for a container that stands for several, of which the values of arrays choose one."""
        unknown = self.find_unknown_length(container)
        return unknown is not None and unknown.is_several

    def find_unknown_length(self, container: Any) -> UnknownLength | None:
        """Return why nobody knows how many items a container has, or None if it is known."""
        found = self.unknown_lengths.get(id(container))
        return found if found is not None and found.container is container else None

    def keep_unknown_length(self, made: Any, source: Any) -> None:
        """Record of a container that its length is as unknown as that of another, whose items it has."""
        self.set_unknown_length(made, self.join_lengths([source]))

    def may_be_empty(self, container: Any) -> bool:
        """Return True if a container has no items, or may have none."""
        unknown = self.find_unknown_length(container)
        return not container if unknown is None else unknown.may_be_empty

    def join_lengths(self, containers: Sequence[Any]) -> UnknownLength | None:
        """Return the unknown length of all items of containers together, or None if it is known."""
        lengths = (self.find_unknown_length(each) for each in containers)
        unknown = next((each for each in lengths if each is not None), None)
        if unknown is None:
            return None
        may_be_empty = all(map(self.may_be_empty, containers))
        return UnknownLength(unknown.container, unknown.error, may_be_empty)

    def set_unknown_length(self, container: Any, unknown: UnknownLength | None) -> None:
        """Give a container an unknown length, if it is one. What stands for several still does."""
        before = self.find_unknown_length(container)
        if unknown is None:
            return
        if before is not None and before.is_several:
            may_be_empty = before.may_be_empty or unknown.may_be_empty
            unknown = replace(before, may_be_empty=may_be_empty)
        self.unknown_lengths[id(container)] = replace(unknown, container=container)

    def note_filled(self, container: Any) -> None:
        """Record that a container has just got an item. Of several, it may be any of them."""
        unknown = self.find_unknown_length(container)
        if unknown is not None and unknown.may_be_empty and (unknown.is_fresh or not unknown.is_several):
            filled = replace(unknown, may_be_empty=False, is_fresh=False)
            self.unknown_lengths[id(container)] = filled

    def mark_as_several(self, container: Any, excerpt: Excerpt, why: str, others_may_be_empty: bool) -> None:
        """Record that a container stands for several, of which one is about to change."""
        is_empty = self.may_be_empty(container)
        unknown = self._unknown_length(container, excerpt, why, is_empty or others_may_be_empty)
        is_fresh = is_empty and not others_may_be_empty
        self.unknown_lengths[id(container)] = replace(unknown, is_several=True, is_fresh=is_fresh)

    def merge_items(self, excerpt: Excerpt, why: str, items: Sequence[Any]) -> Any:
        """Return a value that is one of several."""
        merged = items[0]
        for each in items[1:]:
            merged = self.merge_values(excerpt, why, merged, each)
        return merged

    def merge_values(self, excerpt: Excerpt, why: str, a: Any, b: Any, sides: Sides = NOW) -> Any:
        """Return a value that is one of two. Arrays and numbers become a step of one of two steps.

        A list holds what it does after its own branch, whose contents `sides` has.
        """
        if a is b or (type(a) is type(b) and _is_plain(a) and a == b):
            return a
        numbers = (bool, int, float, complex, Ref)
        match a, b:
            case tuple(), tuple() if len(a) == len(b) and getattr(a, "of", None) is getattr(b, "of", None):
                items = (self.merge_values(excerpt, why, x, y, sides) for x, y in zip(a, b, strict=True))
                return NamedTupleValue.make(a.of, items) if isinstance(a, NamedTupleValue) else tuple(items)
            case list(), list():
                return self._merge_held(excerpt, why, a, b, sides)
            case dict(), dict() if type(a) is type(b):
                return self._merge_held(excerpt, why, a, b, sides)
            case InstanceValue(), InstanceValue() if a.of is b.of:
                return self._merge_held(excerpt, why, a, b, sides)
            case (UnknownValue(one_of=()), _) | (_, UnknownValue(one_of=())):
                return a if isinstance(a, UnknownValue) and not a.one_of else b
            case (UnknownValue(), _) | (_, UnknownValue()):
                return self._merge_choices(excerpt, why, [*_choices(a), *_choices(b)], sides)
        if isinstance(a, numbers) and isinstance(b, numbers):
            self.merged_values += 1
            if self.merged_values > MAX_MERGED_VALUES:
                many = f"more than {MAX_MERGED_VALUES:,} values"
                raise excerpt.error(f"{many} that branches decide; take it apart")
            return self.builder.add_either(excerpt, (a, b), why)
        error = excerpt.error(f"what it is, {why}; give it a value of one sort in either case")
        return UnknownValue(error, one_of=(a, b))

    def _merge_held(self, excerpt: Excerpt, why: str, a: Any, b: Any, sides: Sides) -> Any:
        """Return a container or an object that is one of two. A change of it may be one of either."""
        first, second = self._content_after(a, sides[0]), self._content_after(b, sides[1])
        merged = self._merge_contents(excerpt, why, a, first, second, sides)
        if isinstance(a, InstanceValue):
            return self._relate(InstanceValue(a.of, merged.items, a.lost or b.lost), a, b)
        made: Any = a.copy() if type(a) is type(b) else []
        made.clear()
        (made.extend if isinstance(made, list) else made.update)(merged.items)
        if merged.unknown_length is not None:
            self.unknown_lengths[id(made)] = replace(merged.unknown_length, container=made)
        return self._relate(made, a, b)

    def _merge_choices(self, excerpt: Excerpt, why: str, choices: Sequence[Any], sides: Sides) -> Any:
        """Return a value that is one of several, some of which may be of the same sort."""
        sorts: list[Any] = []
        for each in choices:
            for i, other in enumerate(sorts):
                merged = self.merge_values(excerpt, why, other, each, sides)
                if not isinstance(merged, UnknownValue):
                    sorts[i] = merged
                    break
            else:
                sorts.append(each)
        if len(sorts) == 1:
            return sorts[0]
        error = excerpt.error(f"what it is, {why}; give it a value of one sort in either case")
        return UnknownValue(error, one_of=tuple(sorts))

    # -- ways out

    def add_exit(self, exits: PendingExits, branch: Branch, excerpt: Excerpt, why: str) -> None:
        """Record that a branch leaves a loop or a function, and go on as if it had not been taken."""
        if not exits.is_taken:
            exits.is_taken, exits.contents = True, dict(branch.contents)
            exits.value = branch.ending.value
        else:
            sides = self._relative_to_now(exits), branch.contents
            exits.contents = self._merge_sides(excerpt, why, sides)
            exits.value = self.merge_values(excerpt, why, exits.value, branch.ending.value, sides)
            self._drop(exits.journal)
        exits.journal = Journal()
        self.journals.append(exits.journal)

    def _relative_to_now(self, exits: PendingExits) -> Contents:
        """Return the contents at the ways out, of all objects that are otherwise now."""
        return {**exits.journal, **exits.contents}

    def close_exits(self, exits: PendingExits) -> Contents:
        """Return the contents at the ways out, relative to what is now."""
        self._drop(exits.journal)
        return self._relative_to_now(exits)


def _choices(value: Any) -> tuple[Any, ...]:
    """Return the values of which a value is one, or itself alone."""
    return value.one_of if isinstance(value, UnknownValue) else (value,)


def _is_plain(x: Any) -> bool:
    """Return True for a value that is equal to another only if nothing tells them apart."""
    return x is None or isinstance(x, (bool, int, float, complex, str, Ref)) or x is ...


def bound_names(nodes: list[ast.stmt]) -> set[str]:
    """Return the names that lines bind."""
    found: set[str] = set()
    for line in nodes:
        for node in ast.walk(line):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.ExceptHandler(name=str(name)):
                    found.add(name)
                case ast.alias(name=name, asname=other):
                    found.add(other or name.partition(".")[0])
    return found

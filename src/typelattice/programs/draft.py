"""A program in the making: steps are added to it, of operations on earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.engine.guests import INDICES
from typelattice.facts.libraries import library_of
from typelattice.facts.operations import Operation, OpError, operation
from typelattice.facts.range import Value
from typelattice.facts.suggest import clipped
from typelattice.operands.objects import operand
from typelattice.operands.operand import Operand, scalar
from typelattice.programs.axes import ShapeError
from typelattice.programs.inputs import described
from typelattice.programs.known import KnownSteps
from typelattice.programs.python_numbers import computed
from typelattice.programs.shapes import indexed_shape, result_shape
from typelattice.programs.site import Site
from typelattice.programs.step import (
    LONGEST,
    WRITES,
    AnyDType,
    Argument,
    Call,
    Cast,
    Created,
    DTypeOf,
    Index,
    Input,
    Item,
    Keywords,
    NamedDType,
    Number,
    Opaque,
    Ref,
    Shape,
)  # fmt: skip

# Libraries in which a Python number that is joined with arrays, or multiplied with them as a matrix, is an
# array, too, of the default dtype of its kind; in others it is weak.
NUMBERS_BECOME_ARRAYS = ("numpy", "dask", "torch", "mlx")
LONGEST_LIST = 48  # characters of the text of a list, which the source may have written in another way


class Draft(KnownSteps):
    """Adds steps: inputs and numbers, operations, casts, elements."""

    # -- what steps are made of

    def input(self, site: Site, given: object) -> Ref:
        """What comes from outside: an operand, a string that describes one, an array."""
        what, shape = described(given)
        owner = library_of(type(given).__module__.partition(".")[0])
        ref = self.add(
            Input(what, text=clipped(site.text, LONGEST), place=site.place, shape=shape, owner=owner)
        )
        value = what.value if isinstance(what, Operand) and what.tier == "scalar" else None
        if value is not None and isinstance(what, Operand) and not (what.value is True and given is bool):
            self.values[ref.step] = value
        return ref

    def number(self, site: Site, value: Value) -> Ref:
        """A Python number."""
        operand(value)  # which refuses one that is too wide
        shown = clipped(str(value), LONGEST)
        ref = self.add(Number(value, text=shown, place=site.place, shape=()))
        self.values[ref.step] = value
        return ref

    def ref(self, site: Site, x: Argument) -> Ref:
        """The step of an operand: itself, or a new one of a Python number, of a list of them, of a dtype."""
        if isinstance(x, Ref):
            return x
        if isinstance(x, (bool, int, float, complex)):
            return self.number(site, x)
        if isinstance(x, NamedDType):
            return self.add(Input(described(x.name)[0], text=x.name, place=site.place))
        if isinstance(x, tuple) and x:
            return self.array_of(self.site_of(site, x), x, None)
        raise site.refuse(f"{_shown(x)} takes no part in promotion; give an array or a number")

    def site_of(self, site: Site, x: Argument) -> Site:
        """The place of an operand that is no step by itself, and its text."""
        return Site(clipped(self.written(x), LONGEST_LIST), site.place, site.owner)

    def written(self, x: Argument) -> str:
        """The text of an operand: of a step, of a Python number, or of a list of them."""
        if isinstance(x, tuple):
            return f"[{', '.join(map(self.written, x))}]"
        return self.steps[x.step].text if isinstance(x, Ref) else str(x)

    # -- steps

    def operator(self, site: Site, name: str, operands: Sequence[Argument]) -> Argument:
        """What one of Python's operators makes; of Python numbers that are known the number."""
        value = None
        if all(self.is_scalar(x) for x in operands):
            value = self._number_of(name, [self.static(x) for x in operands])
            if value is not None and not any(isinstance(x, Ref) for x in operands):
                return value
        ref = self._call(site, operation(name), operands, (), (), operator=True)
        if value is not None:
            self.values[ref.step] = value
        return ref

    def _number_of(self, name: str, known: Sequence[Argument]) -> Value | None:
        """The number that Python's operator makes of Python numbers; None of anything else."""
        numbers = [operand(x) for x in known if isinstance(x, (bool, int, float, complex))]
        made = computed(name, numbers) if len(numbers) == len(known) else None
        return None if made is None else made.value

    def in_place(self, site: Site, name: str, x: Argument, y: Argument) -> Argument:
        """What stands in the place of x after `x *= y`, the operation of that name being `multiply`."""
        if self.is_scalar(x):
            return self.operator(site, name, (x, y))
        left, right = self.ref(site, x), self.ref(site, y)
        written = next(own for own, plain in WRITES.items() if plain == name)
        steps = (left.step, right.step)
        return self.add(Call(
            written, (left, right), (), steps, lists=lists_of((x, y), steps),
            text=clipped(site.text, LONGEST), place=site.place,
            shape=self.shape(left), owner=self.owner(site, steps),
        ))  # fmt: skip

    def put(self, site: Site, x: Argument, key: Argument, value: Argument) -> Ref:
        """What stands in the place of x after `x[key] = value`."""
        left, right = self.ref(site, x), self.ref(site, value)
        steps = (left.step, right.step)
        return self.add(
            Call(
                "setitem", (left, right), (("key", key),), steps, lists=lists_of((x, value), steps),
                text=clipped(site.text, LONGEST), place=site.place,
                shape=self.shape(left), owner=self.owner(site, steps),
            )
        )  # fmt: skip

    def call(
        self,
        site: Site,
        op: Operation,
        operands: Sequence[Argument],
        args: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] = {},
        dtype: AnyDType | None = None,
    ) -> Ref:
        """An operation, called by a function of a library's; `args` are what follows after its operands."""
        return self._call(site, op, operands, tuple(args), tuple(keywords.items()), dtype=dtype)

    def _call(
        self,
        site: Site,
        op: Operation,
        operands: Sequence[Argument],
        args: tuple[Argument, ...],
        keywords: Keywords,
        operator: bool = False,
        dtype: AnyDType | None = None,
    ) -> Ref:
        try:
            op.check(sum(x is not None for x in operands))
        except OpError as e:
            raise site.refuse(str(e)) from None
        operands = self.converted(site, op, operands)
        given = [x for x in operands if x is not None]
        taken = tuple([None if x is None else self.ref(site, x) for x in operands])
        steps = tuple([ref.step for ref in taken if ref is not None])
        try:
            shape = result_shape(op, [self.steps[i].shape for i in steps], args, dict(keywords))
        except ShapeError as e:
            raise site.refuse(f"{e}; give other shapes") from None
        whole: tuple[Argument, ...] = (taken, *args) if op.form == "several" else (*taken, *args)
        owner = self.owner(site, steps)
        text = clipped(site.text, LONGEST)
        return self.add(
            Call(
                op.name, whole, keywords, steps, operator, dtype, lists_of(given, steps),
                text=text, place=site.place, shape=shape, owner=owner,
            )
        )  # fmt: skip

    def converted(self, site: Site, op: Operation, operands: Sequence[Argument]) -> Sequence[Argument]:
        """The operands, of which the library makes arrays by a rule of its own, before the operation runs."""
        joined = op.form == "several" or op.name == "append" or op.of_class == "matmul"
        if not joined:
            return operands  # as nearly always
        arrays = [x for x in operands if isinstance(x, Ref) and not self.is_scalar(x)]
        library = self.owner(site, [x.step for x in arrays])
        if library in NUMBERS_BECOME_ARRAYS:
            return [
                self.array_of_number(self.site_of(site, x), x) if self.is_scalar(x) else x for x in operands
            ]
        return operands

    def cast(self, site: Site, x: Argument, to: AnyDType) -> Ref:
        """An explicit cast."""
        source = self.ref(site, x)
        shape = self.steps[source.step].shape
        owner = self.owner(site, (source.step,))
        return self.add(
            Cast(
                source.step, to, text=clipped(site.text, LONGEST), place=site.place, shape=shape, owner=owner
            )
        )

    def index(self, site: Site, x: Ref, key: Argument, lists: str = "") -> Ref:
        """Elements of an array; `lists` says how lists stand in the key, as of an Index."""
        key = self.static((key,) if lists == INDICES[0] else key)
        shapes = {
            k.step: self.shape(k) for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, Ref)
        }
        try:
            shape = indexed_shape(self.shape(x), key, shapes, bool(lists))
        except ShapeError as e:
            raise site.refuse(f"{e}; give fewer") from None
        owner = self.owner(site, (x.step,))
        return self.add(
            Index(
                x.step, key, lists,
                text=clipped(site.text, LONGEST), place=site.place, shape=shape, owner=owner,
            )
        )  # fmt: skip

    def item(self, site: Site, x: Ref) -> Ref:
        """An element of an array as a Python number."""
        text, owner = clipped(site.text, LONGEST), self.owner(site, (x.step,))
        return self.add(Item(x.step, text=text, place=site.place, shape=(), owner=owner))

    def created(
        self,
        site: Site,
        name: str,
        args: Sequence[Argument],
        keywords: Mapping[str, Argument],
        like: Operand | int,
        dtype: AnyDType | None,
        shape: Shape | None,
    ) -> Ref:
        """An array that is made of a shape, or of Python numbers."""
        made = Created(
            name, tuple(args), tuple(keywords.items()), like, dtype,
            text=clipped(site.text, LONGEST), place=site.place, shape=shape, owner=site.owner,
        )  # fmt: skip
        return self.add(made)

    def array_of_number(self, site: Site, x: Argument) -> Ref:
        """An array without dimensions of a Python number, of the default dtype of its kind."""
        ref = self.ref(site, x)
        return self.created(site, "asarray", (ref,), {}, ref.step, None, ())

    def array_of(self, site: Site, x: tuple[Argument, ...], dtype: AnyDType | None) -> Ref:
        """An array of a list: of Python numbers, or of arrays, which are stacked."""
        flat = [*_leaves(x)]
        if flat and all(isinstance(self.static(i), (bool, int, float, complex)) for i in flat):
            kinds = [operand(self.static(i)).kind for i in flat]
            kind = max(kinds, key=lambda k: k.rank)
            like = Operand(None, kind, True, "scalar") if kind.rank else scalar(kind)
            return self.created(site, "asarray", (self.static(x),), {}, like, dtype, _lengths(x))
        items = [self.ref(site, item) if isinstance(item, tuple) else item for item in x]
        stacked = self.call(site, operation("stack"), items)
        return stacked if dtype is None else self.cast(site, stacked, dtype)

    def opaque(
        self, site: Site, name: str, given: Operand | str, made_of: Sequence[int], shape: Shape | None
    ) -> Ref:
        """What no rule decides."""
        text = clipped(site.text, LONGEST)
        owner = self.owner(site, made_of)
        return self.add(
            Opaque(name, given, tuple(made_of), text=text, place=site.place, shape=shape, owner=owner)
        )


def lists_of(operands: Sequence[Argument], steps: Sequence[int]) -> tuple[int, ...]:
    """The steps of those operands that are written as lists."""
    if tuple not in map(type, operands):
        return ()  # as nearly always
    return tuple(i for x, i in zip(operands, steps, strict=True) if isinstance(x, tuple))


def _leaves(x: Argument) -> list[Argument]:
    return [leaf for item in x for leaf in _leaves(item)] if isinstance(x, tuple) else [x]


def _lengths(x: Argument) -> Shape:
    return (len(x), *_lengths(x[0])) if isinstance(x, tuple) and x else ()


def _shown(x: Argument) -> str:
    """An argument as an error names it."""
    match x:
        case DTypeOf() | NamedDType():
            return "a dtype"
        case tuple():
            return "an empty list"
    return "None" if x is None else f"{x!r}"

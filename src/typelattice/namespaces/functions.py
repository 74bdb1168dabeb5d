"""The functions of a namespace that promote, one builder a form: each asks the system, casts, and calls the library's own."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from typelattice.engine.answer import Promotion
from typelattice.facts.dtypes import Kind
from typelattice.facts.operations import OPERATIONS
from typelattice.namespaces.array import Array
from typelattice.namespaces.backend import LACKS, NamespaceError
from typelattice.namespaces.plan import Plan
from typelattice.namespaces.signatures import named

if TYPE_CHECKING:
    from typelattice.namespaces.space import Namespace

Function: TypeAlias = "Callable[..., Any]"
ACCUMULATING = ("sum", "prod", "trace", "cumulative_sum", "cumulative_prod")


def binary(space: Namespace, op: str) -> Function:
    """A function of two arrays, or of one and a Python scalar."""
    cls, planner, new = space.Array, space.planner, object.__new__
    plans: dict[tuple[object, object], Plan] = {}

    def function(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ is cls and x2.__class__ is cls:
            plan = plans.get((x1._standing, x2._standing))
            if plan is not None:
                try:
                    out = plan.compute(x1._data, x2._data)
                except LACKS as e:
                    raise space.lacking(plan.promotion, e) from e
                result = new(cls)
                result._data = out if plan.finish is None else plan.finish(out)
                result._standing = plan.standing
                return result
        return first(x1, x2)

    def first(x1: Any, x2: Any) -> Any:
        if x1.__class__ is not cls and x2.__class__ is not cls:
            x1, x2 = space.both(op, x1, x2)
        left, right = (None if x.__class__ is cls else space.number(op, x) for x in (x1, x2))
        value = right if left is None else left
        key = x1._standing if left is None else left.__class__, x2._standing if right is None else right.__class__
        plan = plans.get(key)
        if plan is None or not plan.holds(value):
            plan = planner.elementwise(op, op, space.operands(op, (x1, x2)))
        p = plan.promotion
        a = x1._data if left is None else planner.number(left, p, x2._data)
        b = x2._data if right is None else planner.number(right, p, x1._data)
        try:
            out = plan.compute(a, b)
        except LACKS as e:
            raise space.lacking(p, e) from e
        if plan.finish and out.dtype == plan.standing.native:
            plan = replace(plan, finish=None)
        if plan.holds(value) and not planner.by_value:
            plans[key] = plan
        return space.made(out if plan.finish is None else plan.finish(out), plan.standing)

    return named(function, op)


def unary(space: Namespace, op: str) -> Function:
    """A function of one array, whose other arguments take no part in promotion."""
    plans: dict[object, Plan] = {}
    planner = space.planner

    def function(x: Any, /, *args: Any, **options: Any) -> Any:
        x = space.array(op, x)
        plan = plans.get(x._standing)
        if plan is None:
            plan = planner.elementwise(op, op, (planner.operand(x._standing, x._data),))
            if not planner.by_value:
                plans[x._standing] = plan
        if args or options:
            return space.computed(op, plan.promotion, (x._data,), *space.bare(args), **space.bare(options))
        try:
            out = plan.compute(x._data)
            return space.wrap(out if plan.finish is None else plan.finish(out), plan.promotion.result, plan.promotion.weak)
        except LACKS as e:
            raise space.lacking(plan.promotion, e) from e

    return named(function, op)


def binary_with_options(space: Namespace, op: str) -> Function:
    """A function of two arrays with options, such as axes."""
    return named(lambda x1, x2, /, **options: space.call(op, (x1, x2), **options), op)


def reduction(space: Namespace, op: str) -> Function:
    """A function along axes; of some, `dtype` may ask for the dtype of the result."""
    backend, promote = space.backend, _kept(space, op)

    def function(x: Any, /, *, dtype: object = None, **options: Any) -> Any:
        x = space.array(op, x)
        if dtype is not None and op in ACCUMULATING:
            d = space.dtype(dtype)
            to = backend.native(d)
            return space.wrap(backend.function(op)(backend.cast(x._data, to), dtype=to, **space.bare(options)), d)
        if dtype is not None:
            raise NamespaceError(f"{op} takes no dtype; cast its result with astype")
        p = promote(x)
        if op in ACCUMULATING:
            options["dtype"] = backend.native(p.compute or p.result)
        return space.computed(op, p, (x._data,), **space.bare(options))

    return named(function, op)


def difference(space: Namespace, op: str) -> Function:
    """`diff`: what is put before and after promotes with what is subtracted."""

    def function(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
        given = {"": space.array(op, x), "prepend": prepend, "append": append}
        listed = {k: space.array(op, v) for k, v in given.items() if v is not None}
        met = space.planner.promote("concat", space.operands(op, list(listed.values()))) if len(listed) > 1 else None
        same = {k: space.wrap(space.backend.cast(v._data, space.backend.native(met.result)), met.result) if met else v
                for k, v in listed.items()}  # fmt: skip
        return space.call(op, (same.pop(""),), axis=axis, n=n, **same)

    return named(function, op)


def choice(space: Namespace, op: str) -> Function:
    """`where`: a condition, and two branches that promote."""

    def function(condition: Any, x1: Any, x2: Any, /) -> Any:
        mask = space.array(op, condition)
        if mask.dtype.kind is not Kind.BOOL:
            raise NamespaceError(f"the condition of {op} is {mask.dtype}; compare it with zero to make it bool")
        x1, x2 = space.both(op, x1, x2) if not isinstance(x1, Array) and not isinstance(x2, Array) else (x1, x2)
        p = space.planner.promote(op, space.operands(op, (x1, x2)))
        return space.computed(op, p, space.data(p, (x1, x2)), before=(mask._data,))

    return named(function, op)


def several(space: Namespace, op: str) -> Function:
    """A function of a list of arrays, which promote together."""

    def function(arrays: Sequence[Any], /, **options: Any) -> Any:
        if not isinstance(arrays, (list, tuple)):
            raise NamespaceError(f"{op} takes a list of arrays; write {op}([x, y])")
        listed = [space.array(op, x) for x in arrays]
        if not listed:
            raise NamespaceError(f"{op} of no arrays has no dtype; give one at least")
        p = space.planner.promote(op, space.operands(op, listed))
        to = space.backend.native(p.compute or p.result)
        cast = [space.backend.cast(x._data, to) for x in listed]
        return space.wrap(space.carried(p, space.backend.function(op), cast, **options), p.result, p.weak)

    return named(function, op)


def each(space: Namespace, op: str) -> Function:
    """A function of several arrays that keeps the dtype of each."""

    def function(*arrays: Any, **options: Any) -> Any:
        listed = [space.array(op, x) for x in arrays]
        made = space.backend.function(op)(*(x._data for x in listed), **options)
        return [x._like(out) for x, out in zip(listed, made, strict=True)]

    return named(function, op)


def clip(space: Namespace, op: str) -> Function:
    """`clip`: bounds, where they are given, promote with what is clipped."""

    def function(x: Any, /, min: Any = None, max: Any = None) -> Any:
        x = space.array(op, x)
        given = [b for b in (min, max) if b is not None]
        p = space.planner.promote(op, space.operands(op, (x, *given)))
        data = iter(space.data(p, (x, *given)))
        to = space.backend.native(p.compute or p.result)
        a, low, high = (space.backend.cast(next(data), to) if b is not None else None for b in (x, min, max))
        out = space.carried(p, space.backend.function(op), a, low, high)
        return space.wrap(space.backend.cast(out, space.backend.native(p.result)), p.result, p.weak)

    return named(function, op)


def parts(space: Namespace, op: str) -> Function:
    """A function with several results, each of the dtype that the library gives it once the operand is cast."""

    promote = _kept(space, op)

    def function(x: Any, /, *args: Any, **options: Any) -> Any:
        x = space.array(op, x)
        p = promote(x)
        to = space.backend.native(p.compute or p.result)
        library = space.backend.function(op)
        made = space.carried(p, library, space.backend.cast(x._data, to), *space.bare(args), **space.bare(options))
        if not isinstance(made, (tuple, list)):
            return space.own(made, p, None)
        of_class = OPERATIONS[op].of_class
        places = p.result if of_class == "position" else space.default(Kind.SIGNED) if of_class == "distinct" else None
        wrapped = [space.own(out, p, None if i == 0 and of_class == "distinct" else places) for i, out in enumerate(made)]
        return RESULTS[op](*wrapped) if op in RESULTS else tuple(wrapped)

    return named(function, op)


def indexed(space: Namespace, op: str) -> Function:
    """A function of an array and of indices into it."""

    promote = _kept(space, op)

    def function(x: Any, indices: Any, /, **options: Any) -> Any:
        x, at = space.array(op, x), space.array(op, indices)
        return space.computed(op, promote(x), (x._data,), at._data, **options)

    return named(function, op)


RESULTS: dict[str, Callable[..., tuple[Any, ...]]] = {
    op: namedtuple(f"{op}_result", fields)
    for op, fields in {
        "eigh": "eigenvalues eigenvectors", "qr": "Q R", "slogdet": "sign logabsdet", "svd": "U S Vh",
        "unique_all": "values indices inverse_indices counts", "unique_counts": "values counts",
        "unique_inverse": "values inverse_indices",
    }.items()
}  # fmt: skip


def _kept(space: Namespace, op: str) -> Callable[[Array], Promotion]:
    """The system's answer for one array, kept by its standing."""
    planner = space.planner
    known: dict[object, Promotion] = {}

    def promote(x: Array) -> Promotion:
        p = known.get(x._standing)
        if p is None:
            p = planner.promote(op, (planner.operand(x._standing, x._data),))
            if not planner.by_value:
                known[x._standing] = p
        return p

    return promote


FORMS: dict[tuple[str, int | None], Callable[[Namespace, str], Function]] = {  # by form, and the most operands
    ("elementwise", 1): unary, ("elementwise", 2): binary, ("elementwise", 3): clip,
    ("whole", 1): unary, ("whole", 2): binary_with_options,
    ("reduction", 1): reduction, ("along", 1): reduction, ("parts", 1): parts, ("each", 1): each,
    ("choice", 3): choice, ("several", None): several, ("indexed", 2): indexed,
}  # fmt: skip
OTHERS: dict[str, Callable[[Namespace, str], Function]] = {"diff": difference}

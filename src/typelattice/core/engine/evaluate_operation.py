"""Operations on operands: how they join, the dtype computed in, and the dtype of the result.

Each decision is added to those of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from typelattice.core.dtypes.dtypes import DType, Kind, Node, complex_of, real_part_dtype
from typelattice.core.engine.decisions import OutOfTargetRange, RefusalError
from typelattice.core.engine.evaluation import Evaluation
from typelattice.core.engine.find_loop import find_casting_dtypes, find_loop
from typelattice.core.engine.join_one_tier import find_entry_node
from typelattice.core.engine.join_tiers import join_tiers
from typelattice.core.engine.operand_checks import (
    check_each_operand,
    check_operation_refusals,
    check_right_value,
    dtype_of_pair,
    find_joining_places,
    find_pair_join,
    resolve_target,
)  # fmt: skip
from typelattice.core.engine.operation_join import (
    check_same_dtype,
    check_weak_result,
    join_operands,
    make_arrays,
)
from typelattice.core.engine.operation_question import OperationQuestion
from typelattice.core.engine.operation_rules import (
    INT_WITHOUT_AXIS_RESULT,
    KIND_BY_PYTHON_NUMBER_WORD,
    ComputedMember,
    OperationRules,
    check_operand_count,
    look_up,
    merge_entries,
)
from typelattice.core.engine.rule_enums import InPlaceRule, JoinRule, PairJoin, ScalarTarget, WeakResult
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.scalar_fit import ValueFit, fit_values
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import find_operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.core.engine.operation_rules import ResultRule

VALUE_REMEDY = "use a value within it, or a wider dtype"
OWN_NAME_REMEDY = "give the result a name of its own"
WEAK_RESULTS = (
    WeakResult.WEAK, WeakResult.WEAK_EVEN_IF_CAST, WeakResult.WEAK_IF_0D, WeakResult.DEFAULT_DTYPE_OR_ERROR,
)  # fmt: skip


@lru_cache(maxsize=1024)  # a table asks for the same few operations thousands of times
def find_operation_rules(rules: Rules, name: str) -> OperationRules:
    """Return the rules of a system for an operation. Raises OpError for an unknown operation."""
    return merge_entries(rules.find_operation(name), rules.ops)


def prepare_operation(
    rules: Rules, name: str, operands: tuple[Operand, ...]
) -> tuple[OperationRules, tuple[Operand, ...]]:
    """Return the rules of an operation, and those of its operands that promote.

    Raises OpError if the operation is unknown or does not take these operands.
    """
    operation = find_operation(name, rules.custom_operations)
    check_operand_count(operation, operands)
    return find_operation_rules(rules, operation.name), operands[operation.promoting_slice]


def evaluate_operation(question: OperationQuestion) -> Evaluation:
    """Evaluate an operation on operands. Raises RefusalError if the system refuses them."""
    check_each_operand(question)
    check_operation_refusals(question)
    if question.of_operation.writes:
        _check_dimensions_of_left(question)
    question = question.of(make_arrays(question))
    pair_join = find_pair_join(question.of_operation, question.operands)
    return _evaluate_unjoined(question, pair_join) or _evaluate_joined(question, pair_join)


def _evaluate_joined(question: OperationQuestion, pair_join: PairJoin | DType | None) -> Evaluation:
    """Evaluate an operation with operands that join, or that it casts to dtypes of its own."""
    rules, of_operation, operands = question.rules, question.of_operation, question.operands
    node: Node | None = None
    weak = is_product = False
    joining: Sequence[Operand] = operands
    dtypes = find_casting_dtypes(rules, of_operation, operands)
    if not dtypes:
        joining = operands if pair_join is None else operands[find_joining_places(pair_join)]
        # `x ** 2` becomes a product. Its exponent is no operand then: its value and weakness do not count.
        is_product = pair_join is PairJoin.LEFT_AS_PRODUCT
        node, dtype, weak = join_operands(question.of(joining))
        if len(joining) < len(operands):
            question.decide(question.nodes, node, "joins_of_pairs")
        if of_operation.joins is JoinRule.SAME_DTYPE:
            check_same_dtype(question.of(joining), dtype)
        dtypes = (dtype,)
    compute, result = _apply_rule(question, dtypes, is_product)
    if of_operation.writes or find_result_rule(of_operation, compute) == "left":
        result = left_dtype_after_write(question, result)
    scalar_dtype = (
        dtypes[0] if of_operation.computes_scalars is ScalarTarget.JOINED and len(dtypes) == 1 else compute
    )
    fits = () if is_product else tuple(fit_values(rules, operands, scalar_dtype, of_operation))
    _check_values(fits)
    _check_right_value(question, fits, compute)
    is_uncast = compute is dtypes[0]
    if is_product:  # a product is as weak as its left operand
        return Evaluation(node, compute, result, weak and is_uncast, fits)
    weak_rule = look_up(of_operation.weak_result_of, compute) or of_operation.weak_result
    if weak_rule is WeakResult.WEAK_EVEN_IF_CAST and not is_uncast:
        weak = True
    elif weak_rule is WeakResult.WEAK_IF_0D and any(o.tier == "array" for o in operands):
        weak = False
    elif weak:
        if weak_rule is WeakResult.DEFAULT_DTYPE_OR_ERROR:
            check_weak_result(question, result)
        are_all_weak = len(joining) == len(operands) or all(o.weak for o in operands)
        result, weak = _apply_weak_result(rules, weak_rule, result, are_all_weak, is_uncast)
    accumulator = _accumulator_dtype(rules, of_operation, compute)
    return Evaluation(
        node, compute, result, weak, fits, _python_number_kind(of_operation, compute, result), accumulator
    )


def _check_right_value(question: OperationQuestion, fits: Sequence[ValueFit], compute: DType) -> None:
    """Check the value of the operand on the right, after `fit` has wrapped it."""
    right = question.operands[-1]
    wrapped = next((f.becomes for f in fits[-1:] if f.value is right.value), None)
    check_right_value(question, right, right.value if wrapped is None else wrapped, compute)


def _evaluate_unjoined(
    question: OperationQuestion, pair_join: PairJoin | DType | None
) -> Evaluation | None:
    """Evaluate an operation if its operands need not join, or return None if they must."""
    of_operation, operands = question.of_operation, question.operands
    into = operands[0].dtype
    if of_operation.gives_into.casts_any and of_operation.gives == "left" and into is not None:
        return _evaluate_assignment(question, question.rules.dtype_of_new_array(into))
    if of_operation.joins is JoinRule.IF_POSSIBLE and not _operands_join(question.rules, operands):
        return _evaluate_separately(question)
    if pair_join is PairJoin.NEVER:
        return _evaluate_separately(question)
    if of_operation.accumulates_of_pairs and (
        paired := dtype_of_pair(of_operation.accumulates_of_pairs, operands)
    ):
        return _evaluate_unjoined_product(question, paired)
    if isinstance(pair_join, DType):
        return _evaluate_pair_at_dtype(question, pair_join)
    return None


def _evaluate_assignment(question: OperationQuestion, target: DType) -> Evaluation:
    """Evaluate an assignment that casts its value, and needs no dtype that holds both operands."""
    rules, of_operation, operands = question.rules, question.of_operation, question.operands
    for o in operands:
        find_entry_node(rules, o, question.decisions)
    dtypes = tuple(o.dtype for o in operands if o.dtype)
    if target not in of_operation.kernels:
        raise _refuse_dtypes(question, [target], of_operation.kernels.describe_missing(target), dtypes)
    target = _find_compute_dtype(rules, of_operation, (target,)) or target
    question.decide(dtypes, target)
    # A bool holds the truth of every number, so no number is out of its range.
    values = () if target.kind is Kind.BOOL else tuple(fit_values(rules, operands[1:], target, of_operation))
    _check_values(values)
    return Evaluation(None, target, target, operands[0].weak, values)


def _refuse_dtypes(
    question: OperationQuestion, nodes: Sequence[Node], refused_text: object,
    decided: Sequence[Node] | None = None, key: str = "kernels",
) -> RefusalError:  # fmt: skip
    """Return the refusal of dtypes in which the operation does not compute."""
    reason, remedy = f"{question.name} takes no {refused_text}", question.find_remedy(nodes)
    return question.make_refusal(reason, remedy, nodes if decided is None else decided, key)


def _operands_join(rules: Rules, operands: Sequence[Operand]) -> bool:
    """Return True if operands join, although the operation does not need the join."""
    try:
        join_tiers(rules, operands, [])
    except RefusalError:
        return False
    return True


def _evaluate_separately(question: OperationQuestion) -> Evaluation:
    """Evaluate an operation that handles each operand by itself, and gives a fixed dtype."""
    of_operation = question.of_operation
    for o in question.operands:
        find_entry_node(question.rules, o, question.decisions)
        if (o.dtype or o.kind) not in of_operation.kernels:
            missing = of_operation.kernels.describe_missing(o.dtype or o.kind)
            raise _refuse_dtypes(question, [o.node], missing)
    assert isinstance(of_operation.gives, (DType, Kind))
    result = resolve_target(question.rules, of_operation.gives)
    question.decide(question.nodes, result, "joins")
    if of_operation.writes:
        result = left_dtype_after_write(question, result)
    return Evaluation(None, None, result, False, ())


def _evaluate_pair_at_dtype(question: OperationQuestion, target: DType) -> Evaluation:
    """Evaluate an operation on a pair that the operation joins at a dtype, whatever the order says."""
    of_operation = question.of_operation
    for o in question.operands:
        find_entry_node(question.rules, o, question.decisions)
    question.decide(question.nodes, target, "joins_of_pairs")
    result = left_dtype_after_write(question, target) if of_operation.writes else target
    return Evaluation(None, target, result, False, (), _python_number_kind(of_operation, target, result))


def _evaluate_unjoined_product(question: OperationQuestion, accumulator: DType) -> Evaluation:
    """Evaluate a product of operands that keep their own dtypes, and that adds up in another."""
    for o in question.operands:
        find_entry_node(question.rules, o, question.decisions)
    result = dtype_of_pair(question.of_operation.gives_of_pairs, question.operands) or accumulator
    question.decide(question.nodes, result, "accumulates_of_pairs")
    return Evaluation(None, None, result, False, (), None, accumulator)


def _accumulator_dtype(rules: Rules, of_operation: OperationRules, compute: DType) -> DType | None:
    """Return the dtype in which an operation adds up, or None if the file does not state it."""
    target = look_up(of_operation.accumulates, compute)
    return resolve_target(rules, target) if target else None


def _check_values(fits: Sequence[ValueFit]) -> None:
    """Raise RefusalError for a value that is out of range, if the system raises for it."""
    for fit in fits:
        if fit.outcome == "raise":
            decision = OutOfTargetRange((fit.target,), None, fit.kind.python_name)
            reason = f"{fit.value} {fit.misfit}"
            raise RefusalError(reason, VALUE_REMEDY, decision)


def _apply_rule(
    question: OperationQuestion, dtypes: tuple[DType, ...], is_product: bool
) -> tuple[DType, DType]:
    """Return the dtype to compute in and the dtype of the result. `dtypes` are the join, or need a loop.

    A power with a constant exponent is computed as a product. If products have a kernel for one dtype of a
    kind, they have kernels for all.
    """
    rules, of_operation = question.rules, question.of_operation
    compute = _find_compute_dtype(rules, of_operation, dtypes)
    if compute is None:
        unsupported_dtype = next((d for d in dtypes if find_loop(rules, of_operation, (d,)) is None), None)
        described = " with ".join(map(str, dtypes)) if unsupported_dtype is None else unsupported_dtype
        raise _refuse_dtypes(question, dtypes, described, key="loops")
    if (compute.kind if is_product else compute) not in of_operation.kernels:
        raise _refuse_dtypes(question, dtypes, of_operation.kernels.describe_missing(compute))
    result = _result_dtype(rules, of_operation, dtypes[0] if len(dtypes) == 1 else compute, compute)
    if not question.decisions or dtypes != (compute,) or result is not compute:
        question.decide(dtypes, result)
    return compute, result


def _find_compute_dtype(
    rules: Rules, of_operation: OperationRules, dtypes: tuple[DType, ...]
) -> DType | None:
    """Return the dtype to compute in, by `computes` or the first fitting loop, or None if no loop fits."""
    mapped = {look_up(of_operation.computes, d) for d in dtypes}
    target = mapped.pop() if len(mapped) == 1 else None
    if target:
        return resolve_target(rules, target)
    return find_loop(rules, of_operation, dtypes) if of_operation.loops else dtypes[0]


def _result_dtype(rules: Rules, of_operation: OperationRules, joined: DType, compute: DType) -> DType:
    """Return the dtype of the result, before it is written into a left operand."""
    computed = _accumulator_dtype(rules, of_operation, compute) or compute
    match find_result_rule(of_operation, compute):
        case None | "left" | "last array":
            return computed
        case "joined":
            return joined
        case "real":
            return real_part_dtype(computed)
        case "complex":
            return complex_of(computed)
        case DType() | Kind() as target:
            return resolve_target(rules, target)
        case ComputedMember() as member:
            return member.family
        case word if word == INT_WITHOUT_AXIS_RESULT:
            return resolve_target(rules, Kind.SIGNED)
        case word:
            kind = KIND_BY_PYTHON_NUMBER_WORD[word]
            return computed if kind is None or kind is computed.kind else resolve_target(rules, kind)


def may_give_python_number(rules: Rules, name: str) -> bool:
    """Return True if the operation of this name may give a Python number."""
    op = find_operation_rules(rules, name)
    return any(given in KIND_BY_PYTHON_NUMBER_WORD for given in (op.gives, *op.gives_of.values()))


def _python_number_kind(of_operation: OperationRules, compute: DType, result: DType) -> Kind | None:
    """Return the kind of a result that is a Python number, or None for an array."""
    if find_result_rule(of_operation, compute) not in KIND_BY_PYTHON_NUMBER_WORD:
        return None
    return Kind.SIGNED if result.kind is Kind.UNSIGNED else result.kind


def find_result_rule(of_operation: OperationRules, compute: DType) -> ResultRule:
    """Return the part of `gives` for a result that was computed in this dtype."""
    return look_up(of_operation.gives_of, compute) or of_operation.gives


def _check_dimensions_of_left(question: OperationQuestion) -> None:
    """Raise RefusalError for writing an operand with dimensions into a 0-d array. No library does that.

    An operator that gives a new array writes nothing into the left operand.
    """
    left, *others = question.operands
    makes_new_array = question.of_operation.gives_into.makes_new_array
    if makes_new_array or left.tier != "0d" or all(o.tier != "array" for o in others):
        return
    reason = f"{question.name} would write what has dimensions into an array that has none"
    raise question.make_refusal(reason, OWN_NAME_REMEDY, question.nodes, "gives_into")


def left_dtype_after_write(question: OperationQuestion, result: DType) -> DType:
    """Return the dtype of the left operand after the result is written into it or replaces it."""
    left, gives_into = question.operands[0], question.of_operation.gives_into
    target = left.dtype if left.tier != "scalar" else None
    if target is None or target is result or gives_into is InPlaceRule.NEW_ARRAY:
        return result
    rounds = result.kind is Kind.FLOAT and target.kind.category < result.kind.category
    if gives_into is InPlaceRule.NEW_ARRAY_ROUNDED and not rounds:
        return result
    allowed = {
        InPlaceRule.NEW_ARRAY_ROUNDED: rounds,
        InPlaceRule.SAME_KIND_CAST: result.kind.position <= target.kind.position,
        InPlaceRule.NO_HIGHER_CATEGORY: result.kind.category <= target.kind.category,
        InPlaceRule.ANY_CAST: True,
    }
    if not allowed.get(gives_into):
        reason, remedy = f"{result} cannot be written into {target}", f"{OWN_NAME_REMEDY}, or cast it"
        raise question.make_refusal(reason, remedy, (result, target), "gives_into")
    question.decide((result, target), target)
    return target


def _apply_weak_result(
    rules: Rules, weak_rule: str, result: DType, are_all_weak: bool, is_uncast: bool
) -> tuple[DType, bool]:
    """Return the dtype of a weak result, and whether it stays weak.

    `weak_rule` is the word of the key `weak-result`. `is_uncast` is true if the operation computed in the
    joined dtype of its operands.
    """
    if weak_rule is WeakResult.DEFAULT_DTYPE:
        return rules.defaults.get(result.kind, result), True
    return result, are_all_weak and (
        weak_rule in WEAK_RESULTS or (weak_rule is WeakResult.WEAK_IF_NOT_CAST and is_uncast)
    )

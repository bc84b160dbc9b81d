"""From a checked syntax tree to functions that evaluate it in Kleene's logic."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Optional, Union

from doctor.model.rule import Value
from doctor.rulebook.expression import Outcome, Scope, Step
from doctor.rulebook.syntax import LOG_FUNCTIONS, dotted_name

Number = Union[int, float]

_COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SCALES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_UNITS = ("_bytes", "_seconds", "_ratio")
_TRUE, _FALSE = Outcome(True), Outcome(False)


def build(node: ast.expr) -> Step:
    """Return the function that evaluates a checked node."""
    name = dotted_name(node)
    if name is not None:
        return _named(name)
    if isinstance(node, ast.Constant):
        constant = Outcome(node.value)  # type: ignore[arg-type]
        return lambda _: constant
    if isinstance(node, ast.BoolOp):
        return _kleene([build(value) for value in node.values], decides=isinstance(node.op, ast.Or))
    if isinstance(node, ast.UnaryOp):
        return _negated(build(node.operand)) if isinstance(node.op, ast.Not) else _signed(node)
    if isinstance(node, ast.BinOp):
        return _joined(build(node.left), build(node.right), _calculation(type(node.op)))
    if isinstance(node, ast.IfExp):
        return _chosen(build(node.test), build(node.body), build(node.orelse))
    if isinstance(node, ast.Compare):
        return _comparison(node)
    assert isinstance(node, ast.Call)
    return _call(node)


def unit_of(node: ast.expr) -> str:
    """Return the suffix of the unit that an expression's value carries, or an empty text."""
    name = dotted_name(node)
    if name is not None:
        return next((unit for unit in _UNITS if name.endswith(unit)), "")
    if isinstance(node, ast.BinOp):
        left, right = unit_of(node.left), unit_of(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mod)):
            return left if left == right else ""
        return left if isinstance(node.right, ast.Constant) else right if isinstance(node.left, ast.Constant) else ""
    if isinstance(node, ast.IfExp):
        return unit_of(node.body)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in _SCALES:
            return "_bytes"
        if node.func.id == "field":
            named = node.args[1]
            text = named.value if isinstance(named, ast.Constant) else ""
            return next((unit for unit in _UNITS if str(text).endswith(unit)), "")
        return unit_of(node.args[0]) if node.func.id in ("min", "max", "abs", "round") else ""
    return ""


def _named(name: str) -> Step:
    unknown = Outcome(None, (name,))

    def evaluate(scope: Scope) -> Outcome:
        value = scope.name(name)
        return unknown if value is None else Outcome(value)

    return evaluate


def _kleene(steps: Sequence[Step], *, decides: bool) -> Step:
    """``and`` and ``or``: one part with the deciding truth settles it; otherwise any unknown part keeps it open."""

    def evaluate(scope: Scope) -> Outcome:
        missing: list[tuple[str, ...]] = []
        for step in steps:
            outcome = step(scope)
            if outcome.value is None:
                missing.append(outcome.missing)
            elif bool(outcome.value) is decides:
                return _TRUE if decides else _FALSE
        if missing:
            return Outcome(None, _union(missing))
        return _FALSE if decides else _TRUE

    return evaluate


def _negated(step: Step) -> Step:
    def evaluate(scope: Scope) -> Outcome:
        outcome = step(scope)
        return outcome if outcome.value is None else _FALSE if outcome.value else _TRUE

    return evaluate


def _signed(node: ast.UnaryOp) -> Step:
    sign = -1 if isinstance(node.op, ast.USub) else 1
    return _applied([build(node.operand)], lambda values: _calculate(operator.mul, values[0], sign))


def _chosen(test: Step, body: Step, other: Step) -> Step:
    def evaluate(scope: Scope) -> Outcome:
        outcome = test(scope)
        return outcome if outcome.value is None else body(scope) if outcome.value else other(scope)

    return evaluate


def _applied(steps: Sequence[Step], function: Callable[[list[Value]], Optional[Value]]) -> Step:
    """Apply a function to its arguments once all of them are known."""

    def evaluate(scope: Scope) -> Outcome:
        outcomes = [step(scope) for step in steps]
        values = [outcome.value for outcome in outcomes if outcome.value is not None]
        if len(values) < len(outcomes):
            return Outcome(None, _union([o.missing for o in outcomes if o.value is None]))
        return Outcome(function(values))

    return evaluate


def _joined(left: Step, right: Step, function: Callable[[Value, Value], Optional[Value]]) -> Step:
    return _applied([left, right], lambda values: function(values[0], values[1]))


def _comparison(node: ast.Compare) -> Step:
    operands = [build(node.left)]
    links: list[Step] = []
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, (ast.In, ast.NotIn)):
            assert isinstance(right, (ast.Tuple, ast.List))
            found = _membership(operands[-1], [ast.literal_eval(item) for item in right.elts])
            return found if isinstance(op, ast.In) else _negated(found)
        operands.append(build(right))
        links.append(_joined(operands[-2], operands[-1], _relation(_COMPARE[type(op)])))
    return links[0] if len(links) == 1 else _kleene(links, decides=False)


def _membership(step: Step, items: Sequence[Value]) -> Step:
    def contained(values: list[Value]) -> Optional[bool]:
        alike = [item for item in items if isinstance(item, str) == isinstance(values[0], str)]
        if _not_a_number(values[0]) or (items and not alike):
            return None
        return values[0] in alike

    return _applied([step], contained)


def _relation(compare: Callable[[Value, Value], bool]) -> Callable[[Value, Value], Optional[bool]]:
    def related(left: Value, right: Value) -> Optional[bool]:
        if isinstance(left, str) != isinstance(right, str) or _not_a_number(left) or _not_a_number(right):
            return None
        return compare(left, right)

    return related


def _calculation(kind: type[ast.operator]) -> Callable[[Value, Value], Optional[Value]]:
    function = _ARITHMETIC[kind]
    return lambda left, right: _calculate(function, left, right)


def _calculate(function: Callable[[Number, Number], Number], left: Value, right: Value) -> Optional[Number]:
    if isinstance(left, str) or isinstance(right, str):
        return None
    try:
        result = function(left, right)
    except (ZeroDivisionError, OverflowError):
        return None
    return None if _not_a_number(result) else result


def _call(node: ast.Call) -> Step:
    assert isinstance(node.func, ast.Name)
    function = node.func.id
    steps = [build(argument) for argument in node.args]
    if function in LOG_FUNCTIONS:
        return _asked(function, tuple(str(ast.literal_eval(argument)) for argument in node.args))
    if function == "has":
        return lambda scope: _FALSE if steps[0](scope).value is None else _TRUE
    if function in _SCALES:
        scale = _SCALES[function]
        return _applied(steps, lambda values: _calculate(operator.mul, values[0], scale))
    return _applied(steps, _PURE[function])


def _asked(function: str, args: tuple[str, ...]) -> Step:
    # What was missing is named as a reader would: the field of a signature, or the traceback.
    named = "traceback" if function == "in_trace" else f"{args[-1]} of {args[0]}" if function == "field" else args[0]
    unknown = Outcome(None, (named,))

    def evaluate(scope: Scope) -> Outcome:
        value = scope.call(function, args)
        return unknown if value is None else Outcome(value)

    return evaluate


def _alike(values: Sequence[Value]) -> bool:
    return len({isinstance(value, str) for value in values}) == 1 and not any(map(_not_a_number, values))


def _least(values: list[Value]) -> Optional[Value]:
    return min(values) if _alike(values) else None


def _most(values: list[Value]) -> Optional[Value]:
    return max(values) if _alike(values) else None


def _magnitude(values: list[Value]) -> Optional[Value]:
    return None if isinstance(values[0], str) else abs(values[0])


def _rounded(values: list[Value]) -> Optional[Value]:
    number, digits = values[0], values[1] if len(values) > 1 else 0
    if isinstance(number, str) or not isinstance(digits, int) or not -15 <= digits <= 15:
        return None
    if isinstance(number, float) and not math.isfinite(number):
        return None
    return round(number, digits) if digits else round(number)


def _matches(values: list[Value]) -> Optional[Value]:
    text, pattern = values
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    import re2

    try:
        return re2.search(pattern, text) is not None
    except re2.error:
        return None


def _not_a_number(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _union(names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in names for name in group))


_PURE: dict[str, Callable[[list[Value]], Optional[Value]]] = {
    "min": _least,
    "max": _most,
    "abs": _magnitude,
    "round": _rounded,
    "matches": _matches,
}

"""Conditions: Kleene's logic against a naive reference, the list of what was missing, and what is refused."""

from __future__ import annotations

import contextlib
from typing import Any, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widget import Fields

from doctor.model.rule import Value
from doctor.model.vocabulary import Truth
from doctor.rulebook.expression import compile_expression
from doctor.rulebook.syntax import ExpressionError

Tree = Union[str, int, tuple[Any, ...]]
NAMES = ("a", "b", "c.d", "e")


def trees() -> st.SearchStrategy[Tree]:
    leaves: st.SearchStrategy[Tree] = st.sampled_from(NAMES) | st.integers(-3, 3)
    return st.recursive(
        leaves,
        lambda inner: (
            st.tuples(st.sampled_from(("and", "or")), inner, inner)
            | st.tuples(st.just("not"), inner)
            | st.tuples(st.sampled_from(("<", "<=", "==", "!=", ">", ">=")), inner, inner)
            | st.tuples(st.sampled_from(("+", "-", "*", "/")), inner, inner)
            | st.tuples(st.just("chain"), inner, inner, inner)
            | st.tuples(st.just("if"), inner, inner, inner)
            | st.tuples(st.just("has"), inner)
        ),
        max_leaves=10,
    )


def write(tree: Tree) -> str:
    if not isinstance(tree, tuple):
        return str(tree)
    head, *parts = tree
    texts = [f"({write(part)})" for part in parts]
    if head in ("not", "has"):
        return f"{head} {texts[0]}" if head == "not" else f"has({write(parts[0])})"
    if head == "chain":
        return f"{texts[0]} < {texts[1]} < {texts[2]}"
    if head == "if":
        return f"{texts[1]} if {texts[0]} else {texts[2]}"
    return f"{texts[0]} {head} {texts[1]}"


def naive(tree: Tree, values: Fields) -> Optional[Value]:
    """Evaluate by the truth tables, with None for unknown."""
    if not isinstance(tree, tuple):
        return values.get(tree) if isinstance(tree, str) else tree
    head, *parts = tree
    got = [naive(part, values) for part in parts]
    if head == "has":
        return got[0] is not None
    if head == "not":
        return None if got[0] is None else not got[0]
    if head in ("and", "or"):
        truths = [None if value is None else bool(value) for value in got]
        decided = head == "or"
        return decided if decided in truths else None if None in truths else not decided
    if head == "if":
        return None if got[0] is None else got[1] if got[0] else got[2]
    if head == "chain":
        pair = [naive(("<", parts[0], parts[1]), values), naive(("<", parts[1], parts[2]), values)]
        return False if False in pair else None if None in pair else True
    return arithmetic(head, got[0], got[1])


def arithmetic(head: str, left: Any, right: Any) -> Optional[Value]:
    if left is None or right is None or isinstance(left, str) != isinstance(right, str):
        return None
    if head in ("+", "-", "*", "/") and isinstance(left, str):
        return None
    if head == "/" and right == 0:
        return None
    result: Value = eval(f"left {head} right", {}, {"left": left, "right": right})
    return result


VALUES = st.none() | st.integers(-3, 3) | st.booleans() | st.sampled_from(("x", "y"))
SCOPES = st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)).map(
    lambda found: Fields({name: value for name, value in found.items() if value is not None})
)


@settings(max_examples=400, deadline=None)
@given(trees(), SCOPES)
def test_values_are_those_of_the_truth_tables(tree: Tree, values: Fields) -> None:
    outcome = compile_expression(write(tree)).evaluate(values)
    assert outcome.value == naive(tree, values)
    assert (outcome.value is None) or outcome.missing == ()


@settings(max_examples=300, deadline=None)
@given(trees(), SCOPES, SCOPES)
def test_names_that_are_not_missing_cannot_decide(tree: Tree, values: Fields, others: Fields) -> None:
    expression = compile_expression(write(tree))
    outcome = expression.evaluate(values)
    assert set(outcome.missing) <= expression.names - values.keys()
    if outcome.value is None and "has" not in write(tree):
        filled = Fields({**others, **values})
        for name in outcome.missing:
            filled.pop(name, None)
        assert expression.evaluate(filled).value is None


@given(st.text(max_size=60))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        compile_expression(text).evaluate(Fields())


@pytest.mark.parametrize(
    ("text", "truth", "missing"),
    [
        ("signal.free > GiB(1) and a == 5", Truth.UNKNOWN, ("signal.free",)),
        ("signal.used > GiB(1) and a == 5", Truth.TRUE, ()),
        ("signal.free > GiB(1) and other or zero", Truth.UNKNOWN, ("signal.free", "other")),
        ("x > 1 and y > 1", Truth.UNKNOWN, ("x", "y")),
        ("x > 1 and a == 1", Truth.FALSE, ()),
        ("a / zero > 1", Truth.UNKNOWN, ()),
        ("text < 3", Truth.UNKNOWN, ()),
        ("text == 3", Truth.UNKNOWN, ()),
        ("1 < a < 6", Truth.TRUE, ()),
        (r"matches(text, '^x\.\w$')", Truth.TRUE, ()),
        ("matches(text, '(')", Truth.UNKNOWN, ()),
        ("text in ('x.y', 'z')", Truth.TRUE, ()),
        ("text in (1, 2)", Truth.UNKNOWN, ()),
        ("a not in (1, -5)", Truth.TRUE, ()),
        ("has(nothing)", Truth.FALSE, ()),
        ("min(a, 3) == 3 and max(a, 3) == 5 and abs(-a) == 5 and round(2.4) == 2", Truth.TRUE, ()),
        ("KiB(1) == 1024 and MiB(1) == 1048576", Truth.TRUE, ()),
        ("nan < 1 or nan >= 1", Truth.UNKNOWN, ()),
        ("huge / 3 > 1", Truth.UNKNOWN, ()),
        ("round(huge) > 1", Truth.TRUE, ()),
        ("seen('p/q')", Truth.TRUE, ()),
        ("field('p/q', 'used_bytes') > 1", Truth.UNKNOWN, ("used_bytes of p/q",)),
        ("in_trace('loss')", Truth.UNKNOWN, ("traceback",)),
    ],
)
def test_examples(text: str, truth: Truth, missing: tuple[str, ...]) -> None:
    scope = Fields({"a": 5, "zero": 0, "text": "x.y", "nan": float("nan"), "huge": 10**400, "seen(p/q)": True})
    scope["signal.used"] = 2**31
    outcome = compile_expression(text).evaluate(scope)
    assert (outcome.truth, outcome.missing) == (truth, missing)


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("a.b[1]", 1, "Subscript"),
        ("lambda: 1", 1, "Lambda"),
        ("1 + (lambda: 1)", 6, "Lambda"),
        ("x in y", 6, "list of constants"),
        ("a is None", 1, "has(x)"),
        ("'it' == 'is' and open('f')", 18, "no such function"),
        ("seen(a)", 1, "constant text"),
        ("has()", 1, "takes 1"),
        ("f'{a}'", 1, "JoinedStr"),
        ("a == None", 6, "only text, numbers"),
        ("a ** 9", 1, "BinOp"),
        ("a < ) + 1", 5, "unmatched"),
        ("-" * 900 + "1", 41, "nested deeper"),
        ("(" * 400 + "1" + ")" * 400, 201, "parentheses"),
        ("a + " * 200 + "a", 1, "nested deeper"),
        ("a" * 2000, 1, "longer"),
        ("a\x00", 1, "null"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_column(text: str, column: int, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert says in caught.value.message
    if says not in ("nested deeper", "parentheses"):
        assert caught.value.column == column


def test_names_and_calls_are_told() -> None:
    expression = compile_expression("signal.free_bytes - reserve > GiB(1) and field('x/y', 'z') == node.cpus")
    assert expression.names == {"signal.free_bytes", "reserve", "node.cpus"}
    assert {(call.function, call.arguments) for call in expression.calls} == {("GiB", (1,)), ("field", ("x/y", "z"))}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("signal.free_bytes", "_bytes"),
        ("a_bytes - b_bytes", "_bytes"),
        ("a_bytes / b_bytes", ""),
        ("a_bytes * 2", "_bytes"),
        ("2 * a_seconds", "_seconds"),
        ("min(a_ratio, 1)", "_ratio"),
        ("GiB(3)", "_bytes"),
        ("a_bytes - 1", ""),
    ],
)
def test_units_follow_the_arithmetic(text: str, unit: str) -> None:
    assert compile_expression(text).unit == unit

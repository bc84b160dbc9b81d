"""The grammar of conditions: text → a Python syntax tree of which every node is on a white list.

Nothing here evaluates. String constants are raw, as regular expressions want them: a backslash stands for itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Optional

import msgspec

from doctor.model.rule import Value

MAX_TEXT = 1_000
MAX_NODES = 300
MAX_DEPTH = 40

# Pure functions with the least and most arguments that they take.
PURE_FUNCTIONS: dict[str, tuple[int, int]] = {
    "has": (1, 1),
    "KiB": (1, 1),
    "MiB": (1, 1),
    "GiB": (1, 1),
    "min": (1, 20),
    "max": (1, 20),
    "abs": (1, 1),
    "round": (1, 2),
    "matches": (2, 2),
}
# Functions that only the log around the signal can answer.
LOG_FUNCTIONS: dict[str, tuple[int, int]] = {
    "seen": (1, 1),
    "seen_before": (1, 1),
    "count": (1, 1),
    "field": (2, 2),
    "ranks": (1, 1),
    "in_trace": (1, 1),
}
FUNCTIONS = {**PURE_FUNCTIONS, **LOG_FUNCTIONS}

ColumnOf = Callable[[ast.AST], int]

_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


class ExpressionError(Exception):
    """A condition that cannot be used. ``column`` is 1-based within its text."""

    def __init__(self, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.column = column

    def __str__(self) -> str:
        return f"column {self.column}: {self.message}"


class Call(msgspec.Struct, frozen=True):
    """One use of a function; arguments that are no constants are None."""

    function: str
    arguments: tuple[Optional[Value], ...]


def parse(text: str) -> ast.expr:
    """Return the checked syntax tree of a condition.

    Raises:
        ExpressionError: the text is no expression of this language.

    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"longer than {MAX_TEXT} characters")
    raw, shifts = _raw_strings(text.replace("\n", " "))
    indent = len(raw) - len(raw.lstrip())

    def column(offset: int) -> int:
        at = offset + indent
        return max(1, at - sum(shift < at for shift in shifts) + 1)

    try:
        tree = ast.parse(raw.lstrip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(error.msg or "no expression", column((error.offset or 1) - 1)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"cannot be read: {error}") from None
    _check(tree, lambda node: column(getattr(node, "col_offset", 0)))
    return tree


def dotted_name(node: ast.expr) -> Optional[str]:
    """Return ``a.b.c`` for a chain of attributes, or None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def names_in(tree: ast.expr) -> Iterator[str]:
    """Yield every dotted name that an expression reads."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        name = dotted_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if name is not None:
            yield name
        elif isinstance(node, ast.Call):
            stack += node.args
        else:
            stack += ast.iter_child_nodes(node)


def calls_in(tree: ast.expr) -> Iterator[Call]:
    """Yield every function call of an expression."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            constants = tuple(arg.value if isinstance(arg, ast.Constant) else None for arg in node.args)
            yield Call(node.func.id, constants)  # type: ignore[arg-type]


def _raw_strings(text: str) -> tuple[str, list[int]]:
    """Return the text with every plain string made a raw one, and where the letters went in."""
    out: list[str] = []
    shifts: list[int] = []
    quote = ""
    skip = False
    for at, char in enumerate(text):
        if quote:
            if skip:
                skip = False
            elif char == "\\":
                skip = True
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
            if at == 0 or not text[at - 1].isalpha():
                shifts.append(at + len(shifts))
                out.append("r")
        out.append(char)
    return "".join(out), shifts


def _check(tree: ast.expr, column: ColumnOf) -> None:
    stack: list[tuple[ast.expr, int]] = [(tree, 1)]
    seen = 0
    while stack:
        node, depth = stack.pop()
        seen += 1
        if seen > MAX_NODES:
            raise ExpressionError(f"more than {MAX_NODES} parts", column(node))
        if depth > MAX_DEPTH:
            raise ExpressionError(f"nested deeper than {MAX_DEPTH}", column(node))
        stack += [(child, depth + 1) for child in _children(node, column)]


def _children(node: ast.expr, column: ColumnOf) -> list[ast.expr]:
    """Return the operands of an allowed node."""
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, (str, int, float)):
            raise ExpressionError("only text, numbers, True and False can stand here", column(node))
        return []
    if isinstance(node, (ast.Name, ast.Attribute)):
        if dotted_name(node) is None:
            raise ExpressionError("only plain names have parts, as in signal.free_bytes", column(node))
        return []
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.UAdd)):
        return [node.operand]
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        # None as a branch says "unknown": a if c else None
        branches = [one for one in (node.body, node.orelse) if not _is_none(one)]
        return [node.test, *branches]
    if isinstance(node, ast.Compare):
        return _compared(node, column)
    if isinstance(node, ast.Call):
        return _arguments(node, column)
    raise ExpressionError(f"{type(node).__name__} is not part of this language", column(node))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compared(node: ast.Compare, column: ColumnOf) -> list[ast.expr]:
    operands = [node.left]
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, (ast.In, ast.NotIn)):
            if not isinstance(right, (ast.Tuple, ast.List)) or not all(_literal(item) for item in right.elts):
                raise ExpressionError("`in` needs a list of constants: x in ('a', 'b')", column(right))
            if len(node.ops) > 1:
                raise ExpressionError("`in` cannot be part of a chain of comparisons", column(node))
            continue
        if not isinstance(operator, _COMPARISONS):
            raise ExpressionError("`is` is not part of this language; has(x) asks whether x is known", column(node))
        operands.append(right)
    return operands


def _literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
        return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float))


def _arguments(node: ast.Call, column: ColumnOf) -> list[ast.expr]:
    function = node.func.id if isinstance(node.func, ast.Name) else ""
    if function not in FUNCTIONS:
        raise ExpressionError(f"no such function; there are {', '.join(FUNCTIONS)}", column(node))
    least, most = FUNCTIONS[function]
    if node.keywords or not least <= len(node.args) <= most or any(isinstance(a, ast.Starred) for a in node.args):
        wanted = str(least) if least == most else f"{least} to {most}"
        raise ExpressionError(f"{function}() takes {wanted} plain arguments", column(node))
    constant = all(isinstance(argument, ast.Constant) and isinstance(argument.value, str) for argument in node.args)
    if function in LOG_FUNCTIONS and not constant:
        raise ExpressionError(f"{function}() takes constant text", column(node))
    return list(node.args)

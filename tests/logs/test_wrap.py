"""Rows that a terminal, a logger with columns or a box broke."""

from __future__ import annotations

import random
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.line import Line, LineParser
from doctor.logs.wrap import hard_wrap_width, joined, unwrap

MESSAGE = (
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which "
    "1.32 GiB is free. Process 1234 has 77.81 GiB memory in use."
)


def parsed(text: str) -> list[Line]:
    parser = LineParser()
    return [line for number, row in enumerate(text.split("\n"), 1) for line in parser.parse(row.encode(), number)]


def terminal(text: str, width: int) -> str:
    return "\n".join(
        "\n".join(row[at : at + width] for at in range(0, max(1, len(row)), width)) for row in text.split("\n")
    )


@pytest.mark.parametrize("width", [60, 79, 80, 100])
def test_hard_wrap(width: int) -> None:
    assert joined(parsed(terminal(MESSAGE, width)))[0] == MESSAGE


@pytest.mark.parametrize("width", [50, 60, 79, 80, 100])
def test_word_wrap(width: int) -> None:
    assert MESSAGE in joined(parsed(textwrap.fill(MESSAGE, width)))


def test_prefix_stands_only_before_the_first_row() -> None:
    assert joined(parsed(terminal("[rank0]: " + MESSAGE, 60)))[0] == MESSAGE


def test_box() -> None:
    rows = "\n".join(f"│ {row.ljust(56)} │" for row in textwrap.wrap(MESSAGE, 56))
    assert joined(parsed(rows))[0] == MESSAGE


def test_columns_of_a_logger() -> None:
    first, *others = textwrap.wrap(MESSAGE, 50)
    rows = [f"[09/28/24 12:00:00] ERROR    {first.ljust(52)}train.py:123", *(" " * 29 + row for row in others)]
    assert joined(parsed("\n".join(rows)))[0] == MESSAGE


@pytest.mark.parametrize(
    "text",
    [
        "short line\nnext",
        MESSAGE,
        MESSAGE + "\n2026-11-30 03:12:44 next",
        MESSAGE + "\nTraceback (most recent call last):",
        MESSAGE + "\n[rank1]: other",
        MESSAGE + "\n",
        MESSAGE + "\nValueError: other",
        "A row of some forty characters, not more.\n" + MESSAGE,
    ],
)
def test_new_records_are_not_joined(text: str) -> None:
    assert joined(parsed(text)) == ()


def prose(seed: int) -> str:
    source = random.Random(seed)
    words = ["alpha", "beta_gamma", "torch.nn", "/usr/lib/python3/site-packages", "12345", "is", "the"]
    return "\n".join(" ".join(source.choices(words, k=source.randint(2, 40))) for _ in range(60))


@pytest.mark.parametrize("width", [60, 80, 120, 203])
def test_width_of_a_broken_text(width: int) -> None:
    assert hard_wrap_width(terminal(prose(3), width).encode()) == width


@pytest.mark.parametrize(
    "text",
    [
        prose(3),
        "\n".join(f"2026-11-30 03:12:44,{n:03d} INFO step {n:04d} loss 2.3456 and so on" for n in range(300)),
        "\n".join("-" * 80 if n % 3 == 0 else f"row {n}" for n in range(300)),
        "\n".join(f"│ {f'row {n * 977}'.ljust(76)} │" for n in range(300)),
        "\n".join(
            f"| {n:5d} | N/A  35C  P0   70W / 700W | {n * 31:6d}MiB / 81559MiB | 0%  Default |" for n in range(60)
        ),
        "",
        "x" * 5_000,
    ],
)
def test_ordinary_texts_have_no_width(text: str) -> None:
    assert hard_wrap_width(text.encode()) is None


def test_unwrap_gives_logical_lines_and_where_they_began() -> None:
    text = "first\n" + MESSAGE + '\n  File "x.py", line 1\nlast'
    data, starts = unwrap(terminal(text, 80).encode(), 80)
    assert data.decode() == text
    assert starts == [0, 1, 4, 5]


def test_rows_padded_to_the_width_of_the_terminal() -> None:
    rows = [row.ljust(80) for row in terminal(prose(3), 80).split("\n")]
    assert hard_wrap_width("\n".join(rows).encode()) == 80
    data, _starts = unwrap(
        "\n".join(row.ljust(80) for row in terminal("a\n" + MESSAGE + "\n  b", 80).split("\n")).encode(), 80
    )
    assert data.decode() == "a\n" + MESSAGE + "\n  b"


def test_unwrap_puts_back_a_blank_that_copying_dropped() -> None:
    row = "x" * 57 + " words of this row end"
    assert len(row) == 79
    data, starts = unwrap(f"{row}\nand go on\n".encode(), 80)
    assert data.decode() == f"{row} and go on\n"
    assert starts == [0, 2]


@given(st.binary(max_size=400), st.integers(40, 60))
def test_unwrap_loses_nothing_but_breaks(data: bytes, width: int) -> None:
    whole, starts = unwrap(data, width)
    assert len(starts) == whole.count(b"\n") + 1
    assert starts == sorted(starts)
    assert whole.translate(None, b"\n\r ") == data.translate(None, b"\n\r ")


@given(st.lists(st.text(max_size=120), min_size=1, max_size=8))
def test_any_rows_are_answered(rows: list[str]) -> None:
    for candidate in joined(parsed("\n".join(rows))):
        assert candidate
    hard_wrap_width("\n".join(rows).encode("utf-8", "replace"))

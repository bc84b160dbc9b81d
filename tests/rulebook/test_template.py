"""Sentences: what is unknown is left out, units are written as people read them, strangers' text cannot act."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from widget import Fields

from doctor.rulebook.quantity import format_value
from doctor.rulebook.template import TemplateError, parse_template, render, render_one

SCOPE = Fields(
    {
        "requested_bytes": 2512555868,
        "free_bytes": 512 << 20,
        "wait_seconds": 600.0,
        "used_ratio": 0.934,
        "gpu": 3,
        "loss": 1.23456789,
        "name": "a\x1b[31mb\nc\u202e",
        "flag": True,
    }
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It asked for {requested_bytes}.", "It asked for 2.34 GiB."),
        ("{free_bytes}", "512 MiB"),
        ("{requested_bytes - free_bytes}", "1.84 GiB"),
        ("{free_bytes / requested_bytes:percent}", "21.4 %"),
        ("after {wait_seconds}", "after 10 min"),
        ("{used_ratio}", "93.4 %"),
        ("GPU {gpu}, loss {loss}, {flag}", "GPU 3, loss 1.235, yes"),
        ("{loss:int} {gpu:bytes} {gpu:seconds} {gpu:text}", "1 3 bytes 3 s 3"),
        ('{{"stage": {gpu}}}', '{"stage": 3}'),
        ("{name}", "a [31mb c"),
        ("{'a:b}'}", "a:b}"),
        ("no holes", "no holes"),
    ],
)
def test_placeholders(text: str, shown: str) -> None:
    assert render_one(text, SCOPE) == shown


def test_a_sentence_with_something_unknown_is_left_out() -> None:
    assert render_one("{unknown}", SCOPE) is None
    assert render(["Always.", "Never {unknown}.", "GPU {gpu}."], SCOPE) == "Always. GPU 3."


@pytest.mark.parametrize(
    ("text", "column"), [("a {b", 3), ("a }", 3), ("{}", 1), ("{a:furlongs}", 1), ('{"stage": 3}', 1), ("{a {b}}", 1)]
)
def test_braces_that_are_no_placeholders_are_refused(text: str, column: int) -> None:
    with pytest.raises(TemplateError) as caught:
        parse_template(text)
    assert caught.value.column == column


@given(st.text())
def test_doubled_braces_give_the_text_back(text: str) -> None:
    assert render_one(text.replace("{", "{{").replace("}", "}}"), SCOPE) == text


@given(st.text())
def test_values_never_hold_control_characters(text: str) -> None:
    shown = format_value("name", text)
    assert len(shown) <= 400
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in "\u202e\u2066\u200f" for char in shown)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("x_bytes", 0, "0 bytes"),
        ("x_bytes", 1023, "1023 bytes"),
        ("x_bytes", 80 << 30, "80 GiB"),
        ("x_bytes", 85094039552, "79.25 GiB"),
        ("x_bytes", -(3 << 40), "-3 TiB"),
        ("x_bytes", 17179869184 << 30, "16384 PiB"),
        ("x_seconds", 0.5, "0.5 s"),
        ("x_seconds", 0.004, "4 ms"),
        ("x_seconds", 90, "90 s"),
        ("x_seconds", 600.041, "10 min"),
        ("x_seconds", 9000, "2.5 h"),
        ("x_seconds", 432000, "5 days"),
        ("x_ratio", 0.93, "93 %"),
        ("x_ratio", 12.5, "1250 %"),
        ("x_bytes", float("nan"), "nan"),
        ("x", 123456789, "123456789"),
        ("x", 0.000123456, "0.0001235"),
    ],
)
def test_quantities(name: str, value: float, shown: str) -> None:
    assert format_value(name, value) == shown

"""From a hit to captures with units."""

from __future__ import annotations

import pickle

import pytest
from knowledge import OOM, TIMEOUT, TWO_LINES, signature

from doctor.logs.matcher import Matcher, signature_fields
from doctor.logs.unit import convert
from doctor.model.unit import field_name

OOM_LINE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity of 79.15 GiB "
    "of which 1.02 GiB is free."
)
OOM_FIELDS = {"device": "cuda", "requested_bytes": 2684354560, "gpu": 3, "capacity_bytes": round(79.15 * (1 << 30))}


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        ("bytes", "2.50 GiB", 2684354560),
        ("bytes", "17179869184 GiB", 17179869184 << 30),
        ("bytes", "2 MB", 2 << 20),
        ("bytes", "12345", 12345),
        ("bytes", "12345 bytes", 12345),
        ("bytes", "1,024 KiB", 1 << 20),
        ("bytes", "many", None),
        ("kib", "8", 8192),
        ("mib", "1.5", 1572864),
        ("gib", "2", 2 << 30),
        ("seconds", "600", 600.0),
        ("milliseconds", "600000", 600.0),
        ("minutes", "10", 600.0),
        ("percent", "45.5%", 0.455),
        ("index", "7", 7),
        ("count", "1e400", None),
        ("number", "-1.5e-3", -0.0015),
        ("number", "x", None),
        ("text", " nccl ", "nccl"),
    ],
)
def test_units(unit: str, text: str, value: object) -> None:
    assert convert(unit, text) == value


def test_field_names() -> None:
    assert field_name("requested", "mib") == "requested_bytes"
    assert field_name("requested_bytes", "bytes") == "requested_bytes"
    assert field_name("limit", "milliseconds") == "limit_seconds"
    assert field_name("gpu", "index") == "gpu"


def test_captures_become_fields() -> None:
    assert signature_fields(OOM, OOM_LINE) == OOM_FIELDS
    assert signature_fields(OOM, "all is well") is None


@pytest.mark.parametrize("prefix", ["", "[rank3]: ", "2024-05-01 12:00:00,123 - ERROR - "])
def test_a_text_takes_the_route_of_a_line(prefix: str) -> None:
    assert Matcher([OOM, TIMEOUT]).match_text(prefix + OOM_LINE) == [(OOM.id, OOM_FIELDS)]


def test_a_near_miss_does_not_match() -> None:
    assert Matcher([OOM]).match_text("CUDA out of memory. Tried to allocate too much") == []


def test_following_lines_of_the_same_writer() -> None:
    text = "Root Cause (first observed failure):\n[0]:\n  time      : 2024-05-01_12:00:00\n  host      : node7\n"
    assert Matcher([TWO_LINES]).match_text(text) == [(TWO_LINES.id, {"when": "2024-05-01_12:00:00", "host": "node7"})]


def test_a_gate_shared_by_signatures_serves_both() -> None:
    one = signature("a/one", ("shared gate", "gate (?P<n>\\d+)"), captures={"n": "count"})
    two = signature("a/two", ("shared gate", "shared"))
    assert sorted(Matcher([one, two]).match_text("shared gate 5")) == [("a/one", {"n": 5}), ("a/two", {})]


def test_two_wordings_on_one_line_count_once() -> None:
    both = signature("a/both", ("alpha beta", "alpha"), ("gamma delta", "gamma"))
    assert Matcher([both]).match_text("alpha beta gamma delta alpha beta") == [("a/both", {})]


def test_a_matcher_goes_to_other_processes() -> None:
    copy = pickle.loads(pickle.dumps(Matcher([OOM], [("torch", b"torch")])))
    assert copy.match_text(OOM_LINE) == [(OOM.id, OOM_FIELDS)]
    assert b"torch" in copy.gates()

"""The scan document: its schema, its numbers and its order."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest

from doctor.model import diagnosis
from doctor.model.diagnosis import ScanReport
from doctor.report.json import json_of, schema_of

SCHEMA: dict[str, Any] = json.loads(schema_of("scan"))


def refuse(token: str) -> None:
    raise AssertionError(f"{token} is no JSON")


@pytest.mark.parametrize("case", ["oom", "nan", "unknown", "warned", "healthy"])
def test_documents_hold_to_the_schema(case: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(case)
    document = json.loads(json_of(report), parse_constant=refuse)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)
    assert document["schema"] == "llm-doctor/scan/1"
    assert msgspec.convert(document, ScanReport) == report


def test_the_schema_refuses_what_is_none() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": "llm-doctor/scan/1", "verdict": "perfect"}, SCHEMA)


def test_the_schema_names_every_field_of_the_structs() -> None:
    for name, definition in {**SCHEMA["$defs"], "ScanReport": SCHEMA}.items():
        if "properties" in definition:
            fields = [field.name for field in msgspec.structs.fields(getattr(diagnosis, name))]
            assert list(definition["properties"]) == fields
            assert definition["required"] == fields


def test_keys_stand_as_documented(oom: ScanReport) -> None:
    document = json.loads(json_of(oom))
    assert list(document) == ["schema", "verdict", "diagnoses", "next_steps", "scanned"]
    root = document["diagnoses"][0]
    assert root["role"] == "root"
    assert root["severity"] == "fatal"
    assert root["confidence"] == "likely"
    assert root["evidence"][0]["fields"] == {"gpu": 3, "requested_bytes": 2147483648}
    assert root["missing"][0]["why"] == "not_probed"
    assert root["remedies"][2]["risk"] == "disruptive"


def test_numbers_that_json_cannot_say_are_null(oom: ScanReport) -> None:
    root = msgspec.structs.replace(
        oom.diagnoses[0], facts={"loss": float("nan"), "norm": float("inf"), "n": 1, "requested_bytes": 1 << 64}
    )
    text = json_of(msgspec.structs.replace(oom, diagnoses=(root,)))
    document = json.loads(text, parse_constant=refuse)
    assert document["diagnoses"][0]["facts"] == {"loss": None, "n": 1, "norm": None, "requested_bytes": 1 << 64}


def test_the_order_of_facts_does_not_matter(oom: ScanReport) -> None:
    def ordered(facts: dict[str, int]) -> str:
        return json_of(
            msgspec.structs.replace(oom, diagnoses=(msgspec.structs.replace(oom.diagnoses[0], facts=facts),))
        )

    assert ordered({"a": 1, "b": 2}) == ordered({"b": 2, "a": 1})


def test_unseen_characters_and_half_characters_survive_as_escapes(oom: ScanReport) -> None:
    root = msgspec.structs.replace(oom.diagnoses[0], title="a\u202eb\x9b\ud800", because="naïve 显存")
    text = json_of(msgspec.structs.replace(oom, diagnoses=(root,)))
    assert "\u202e" not in text
    assert "\x9b" not in text
    assert json.loads(text)["diagnoses"][0]["title"] == "a\u202eb\x9b\ufffd"
    assert "naïve 显存" in text


def test_one_line_form(healthy: ScanReport) -> None:
    text = json_of(healthy, indent=0)
    assert text.count("\n") == 1
    assert json.loads(text) == json.loads(json_of(healthy))

"""One test for each shipped rule file: lint finds no error in it."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from doctor.exam.scan import make_matcher
from doctor.rulebook.lint.run import lint_layers
from doctor.rulebook.source import read_layer, shipped_folder

FOLDER = shipped_folder() or Path()
LAYER = read_layer(FOLDER, shipped=True)


@functools.cache
def errors() -> dict[str, list[str]]:
    """Lint everything once; return the errors by file."""
    clean_folder = FOLDER.parent / "fixtures" / "clean"
    clean = [(str(path), path.read_text(errors="replace")) for path in sorted(clean_folder.rglob("*.log"))]
    languages = sorted({file.relative.split("/")[1] for file in LAYER.files if file.relative.startswith("locale/")})
    found: dict[str, list[str]] = {}
    faults = lint_layers([LAYER], lambda book: make_matcher(book).match_text, clean)
    for language in languages:
        faults += lint_layers([LAYER], languages=[language])
    for fault in faults:
        if fault.level == "error":
            found.setdefault(fault.file, []).append(str(fault))
    return found


@pytest.mark.parametrize("file", [file.shown for file in LAYER.files], ids=[file.relative for file in LAYER.files])
def test_rule_file(file: str) -> None:
    found = errors().get(file)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_no_error_stands_outside_of_a_rule_file() -> None:
    files = {file.shown for file in LAYER.files}
    assert not [fault for file, faults in errors().items() if file not in files for fault in faults]

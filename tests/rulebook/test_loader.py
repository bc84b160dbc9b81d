"""Loading: faults with their exact places, layers that override, translations, ids."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from widget import CAUSE, SIGNATURE, TREE, write_rules

from doctor.model.vocabulary import Confidence
from doctor.rulebook.book import Rulebook
from doctor.rulebook.document import MAX_BYTES, read_document
from doctor.rulebook.fault import RuleFaults
from doctor.rulebook.loader import compile_layers, load_rulebook
from doctor.rulebook.source import RulesNotFoundError, languages_of, read_layer, read_layers, shipped_folder


def compiled(folder: Path, *languages: str) -> Rulebook:
    return compile_layers([read_layer(folder)], languages)


def faults_of(folder: Path, *languages: str) -> list[str]:
    with pytest.raises(RuleFaults) as caught:
        compiled(folder, *languages)
    return [str(fault).replace(f"{folder}/", "") for fault in caught.value.faults]


def test_a_whole_folder_loads(tmp_path: Path) -> None:
    book = compiled(write_rules(tmp_path))
    assert list(book.signatures) == ["widget/refused"]
    assert book.signatures["widget/refused"].origin == str(tmp_path / "signatures/widget/refused.yaml")
    assert book.trees["widget"].nodes["again"].otherwise.confidence is Confidence.POSSIBLE  # type: ignore[union-attr]
    assert book.causes["widget.demand"].because[0] == "Every step takes one."
    assert book.gates() == ["widget store refused"]


def test_all_faults_come_at_once_each_with_its_place(tmp_path: Path) -> None:
    broken = SIGNATURE.replace("role: initiating", "role: initiator").replace("severity: fatal", "sevrity: fatal")
    write_rules(
        tmp_path,
        {
            "signatures/widget/refused.yaml": broken.replace("    regex: '", "    lines: two\n    regex: '"),
            "trees/widget.yaml": TREE.replace("    unknown: again\n", ""),
            "causes/widget/demand.yaml": CAUSE.replace("    risk: safe", "    risk: no"),
        },
    )
    assert faults_of(tmp_path) == [
        "causes/widget/demand.yaml:9:5: 'no' is none of read_only, safe, disruptive, destructive",
        "causes/widget/demand.yaml:9:11: no is a boolean to some YAML readers; quote it, or write true or false",
        "signatures/widget/refused.yaml:1:1: severity is missing",
        "signatures/widget/refused.yaml:2:1: 'initiator' is none of initiating, cascade, wrapper, teardown, advice, "
        "harmless",
        "signatures/widget/refused.yaml:3:1: no such key: sevrity; did you mean severity?",
        "signatures/widget/refused.yaml:8:5: expected `int`, got `str`",
        "trees/widget.yaml:5:3: unknown is missing",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("title: a\ntitle: b\n", "f.yaml:2:1: the key title stands here twice"),
        ("a: {on: 1}\n", "f.yaml:1:5: the key on is a boolean to some YAML readers; quote it"),
        ("a: &x [1]\nb: *x\n", "f.yaml:1:4: anchors and aliases are not taken; write the text out"),
        (
            "a: !!python/object:os.system x\n",
            "f.yaml:1:4: tags are not taken: tag:yaml.org,2002:python/object:os.system",
        ),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document in one file"),
        ("a: [1\nb: 2\n", "f.yaml:2:2: not YAML: "),
        ("? [a]\n: b\n", "f.yaml:1:3: a key must be plain text"),
        ("a: " + "[" * 30 + "]" * 30, "f.yaml:1:23: nested deeper than 20"),
        ("", "f.yaml:1:1: an empty file, or no mapping"),
        ("just text\n", "f.yaml:1:1: an empty file, or no mapping"),
    ],
)
def test_what_the_reader_refuses(text: str, fault: str) -> None:
    _, faults = read_document("f.yaml", text.encode())
    assert str(faults[0]).startswith(fault)


def test_size_encoding_and_deep_nesting_are_bounded() -> None:
    assert "larger than" in str(read_document("f", b"#" * (MAX_BYTES + 1))[1][0])
    assert str(read_document("f", b"a: 1\nb: \xff\n")[1][0]) == "f:2:1: not UTF-8 text"
    assert "nesting" in str(read_document("f", b"a: " + b"[" * 200_000)[1][0])


@given(st.binary(max_size=300) | st.text(alphabet="ab:-[]{}'\"&*!|>#%@,? \n\t", max_size=120).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    document, faults = read_document("f.yaml", content)
    assert document is not None or faults
    assert all(fault.line >= 1 and fault.column >= 1 for fault in faults)


def test_scalars_are_what_they_look_like() -> None:
    document, faults = read_document(
        "f", b"a: 1\nb: 1.5\nc: '1'\nd: 010\ne: true\nf: 1:30\ng: 2024-01-02\nh: 0x1f\ni: ~\n"
    )
    assert document is not None
    assert not faults
    assert document.data == {
        "a": 1, "b": 1.5, "c": "1", "d": 10.0, "e": True, "f": "1:30", "g": "2024-01-02", "h": "0x1f", "i": None,
    }  # fmt: skip


def test_two_rules_with_one_id_name_both_files(tmp_path: Path) -> None:
    write_rules(tmp_path, {"causes/widget/demand.yml": CAUSE, "causes/other/name.yaml": "id: widget.demand\n" + CAUSE})
    found = faults_of(tmp_path)
    assert found == [
        "causes/widget/demand.yaml:1:1: widget.demand is already defined by causes/other/name.yaml",
        "causes/widget/demand.yml:1:1: widget.demand is already defined by causes/other/name.yaml",
    ]


@pytest.mark.parametrize(
    ("relative", "says"),
    [
        ("signatures/refused.yaml", "the file must stand at signatures/<family>/<name>.yaml"),
        ("signatures/Widget/refused.yaml", "'Widget/refused' is no id"),
        ("trees/deep/widget.yaml", "the file must stand at trees/<name>.yaml"),
        ("signature/widget/refused.yaml", "stands in none of signatures/, trees/, causes/"),
    ],
)
def test_files_out_of_place(tmp_path: Path, relative: str, says: str) -> None:
    write_rules(tmp_path, {relative: SIGNATURE})
    assert any(fault.startswith(f"{relative}:1:1: {says}") for fault in faults_of(tmp_path))


@pytest.mark.parametrize(
    ("relative", "text", "fault"),
    [
        (
            "signatures/widget/refused.yaml",
            SIGNATURE.replace("opens: widget", "opens: gadget"),
            ":10:1: there is no tree gadget",
        ),
        (
            "signatures/widget/refused.yaml",
            SIGNATURE.replace(r"(?P<device>\d+)'", "(?P<device>'"),
            ":8:5: not an RE2 regex",
        ),
        (
            "signatures/widget/refused.yaml",
            SIGNATURE.replace("gate: widget store refused", "gate: abc"),
            ":7:5: a gate has",
        ),
        (
            "trees/widget.yaml",
            TREE.replace("else: again", "else: large"),
            ":5:3: the walk may never end: large lead in a circle",
        ),
        ("trees/widget.yaml", TREE.replace("start: large", "start: small"), ":2:1: there is no node small"),
        ("trees/widget.yaml", TREE.replace("GiB(1)", "GiB(1"), ":7:5: column 17 of 'half_bytes > GiB(1': "),
        (
            "causes/widget/demand.yaml",
            CAUSE.replace("{requested_bytes}", "{requested_bytes"),
            ":5:5: column 14 of the text",
        ),
        (
            "causes/widget/demand.yaml",
            CAUSE.replace("{{", "{").replace("}}", "}"),
            ":8:5: column 16 of the text: no such form",
        ),
    ],
)
def test_a_users_rule_that_would_fail_later_is_refused_on_loading(
    tmp_path: Path, relative: str, text: str, fault: str
) -> None:
    found = faults_of(write_rules(tmp_path, {relative: text}))
    assert any(one.startswith(relative + fault) for one in found), found


def test_a_users_folder_adds_and_overrides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_rules(tmp_path / "first")
    second = write_rules(
        tmp_path / "second",
        {
            "causes/widget/demand.yaml": CAUSE.replace("Every step takes one.", "Mine."),
            "causes/unknown/exception.yaml": CAUSE.replace(
                "It asked for {requested_bytes} on device {device}.", "My own."
            ),
        },
        whole=False,
    )
    monkeypatch.setenv("LLM_DOCTOR_RULES", str(first))
    book = load_rulebook(extra=[second], cache=None)
    assert book.causes["widget.demand"].because[0] == "Mine."
    assert book.causes["unknown.exception"].because[1] == "My own."
    assert book.signatures["widget/refused"].opens == "widget"
    assert len(book.signatures) > 1


def test_the_catalogue_of_a_user_is_asked_first(tmp_path: Path) -> None:
    one = "- {stage: load, where: [a]}\n- {stage: save, where: [b]}\n"
    base = write_rules(tmp_path / "base", {"catalogue/stages.yaml": one})
    mine = write_rules(tmp_path / "mine", {"catalogue/stages.yaml": "- {stage: save, where: [c]}\n"}, whole=False)
    book = compile_layers([read_layer(base), read_layer(mine)])
    assert [(rule.stage, rule.where) for rule in book.stages] == [("save", ("c",)), ("load", ("a",))]


def test_a_translation_changes_texts_and_nothing_else(tmp_path: Path) -> None:
    write_rules(
        tmp_path,
        {
            "locale/zh/trees/widget.yaml": "title: 谁占用了部件？\nnodes: {again: {ask: 主机知道吗？}}\n",
            "locale/zh/causes/widget/demand.yaml": "because: [每步一个。, 二。]\nremedies: [{do: 少要。}]\n",
        },
    )
    book = compiled(tmp_path, *languages_of("zh_CN.UTF-8"))
    assert book.trees["widget"].title == "谁占用了部件？"
    assert (book.trees["widget"].nodes["again"].ask, book.trees["widget"].nodes["large"].ask[:7]) == (
        "主机知道吗？",
        "Is half",
    )
    assert book.causes["widget.demand"].remedies[0].do == "少要。"
    assert book.causes["widget.demand"].remedies[0].run.startswith("widget --less")
    assert compiled(tmp_path).trees["widget"].title == "Who holds the widgets?"
    assert compiled(tmp_path, "fr").trees["widget"].title == "Who holds the widgets?"


def test_a_translation_that_does_not_fit_is_a_fault(tmp_path: Path) -> None:
    write_rules(
        tmp_path,
        {
            "locale/zh/trees/widget.yaml": "start: again\nnodes:\n  other: {ask: 主机知道吗？}\n",
            "locale/zh/causes/widget/demand.yaml": "because: [一]\n",
            "locale/zh/causes/widget/gone.yaml": "title: 一\n",
        },
    )
    assert faults_of(tmp_path, "zh") == [
        "locale/zh/causes/widget/demand.yaml:1:1: because needs 2 entries, one for each of the rule's",
        "locale/zh/causes/widget/gone.yaml:1:1: translates causes/widget/gone.yaml, which is not there",
        "locale/zh/trees/widget.yaml:1:1: start is no text and cannot be translated",
        "locale/zh/trees/widget.yaml:3:3: the tree has no node other",
    ]


def test_a_named_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RulesNotFoundError, match="no such folder"):
        read_layers([tmp_path / "gone"])


def test_names_of_languages() -> None:
    assert languages_of("zh_CN.UTF-8") == ("zh_CN", "zh")
    assert languages_of("de-AT") == ("de_AT", "de")
    assert languages_of("") == languages_of("C.UTF-8") == languages_of("../..") == ()


def test_rules_are_read_from_a_zip_on_the_import_path(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    shipped = shipped_folder()
    assert shipped is not None
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        for path in (root / "doctor").rglob("*.py"):
            packed.write(path, path.relative_to(root))
        for path in shipped.rglob("*.yaml"):
            packed.write(path, Path("doctor/rules") / path.relative_to(shipped))
    code = "from doctor.rulebook.loader import load_rulebook; print(len(load_rulebook(cache=None).signatures))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "packed.zip")}
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path, check=True
    )
    assert said.stdout.strip() == str(len(load_rulebook(cache=None).signatures))

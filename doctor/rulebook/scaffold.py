"""New rule files to fill in: whole, commented, and refused by lint until every marked text is one's own."""

from __future__ import annotations

from pathlib import Path

TO_FILL_IN = "FILL IN"

SIGNATURE = """\
# A signature says that certain text appeared in a log, and nothing more.
title: FILL IN what the line says, in plain words
role: initiating        # initiating | cascade | wrapper | teardown | advice | harmless
severity: error         # fatal (the job ends) | error | warning | info
emitter: FILL IN the program and source file that print this, and their versions
says_not: FILL IN what one might wrongly conclude from this line
patterns:               # one entry for each wording
  # gate: literal text that every match holds, five characters or more, as rare in healthy logs as possible.
  # regex: RE2 syntax (no look-around), searched in the message without its prefixes. Capture every number and name.
  - gate: 'widget store refused'
    regex: 'widget store refused (?P<requested>[\\d.]+ [KMGT]iB) on device (?P<device>\\d+)'
captures:               # bytes kib mib gib seconds milliseconds minutes percent index count number text
  requested: bytes      # becomes the field requested_bytes
  device: index
# opens: <tree>         # the questions that find the cause; or
# cause: <family.name>  # where this line alone settles it, with
# confidence: likely    # certain | likely | possible; with neither, trees may ask whether the line was seen
examples:
  - line: 'FILL IN a line in the true format: widget store refused 2.00 GiB on device 3'
    captures: {requested: 2147483648, device: 3}
near_misses:            # at least one line that looks alike and must not match
  - why: FILL IN why this line is something else
    line: 'widget store ready'
references: []
"""

TREE = """\
# A tree holds the questions between a signal and its cause. Signatures lead here with `opens: NAME`.
title: FILL IN the question that the whole tree answers?
start: first
let: {}                 # values computed once: {shortfall_bytes: signal.requested_bytes - signal.free_bytes}
nodes:
  first:
    ask: FILL IN one question?
    why: FILL IN why it is asked
    when: stage == 'load'           # names: signal.<field>, stage, framework, exception; seen('<signature>') and others
    then: {cause: unknown.exception, confidence: likely}
    else: {cause: unknown.exception, confidence: possible}
    unknown: {cause: unknown.exception, confidence: possible}   # every node says what ignorance does
references: []
"""

CAUSE = """\
# A cause says what is wrong, why, what mends it and how one sees that it is mended.
title: FILL IN what is wrong, as a plain statement
severity: error         # fatal | error | warning | info
because:                # a sentence whose {placeholders} are unknown is left out, so keep sentences short;
                        # {say: …, when: condition} says it only where the condition is true
  - FILL IN the mechanism, without placeholders.
  - The last stage seen was {stage}.
remedies:               # best first; double the braces of JSON and shell text
  - do: FILL IN one imperative sentence.
    run: FILL IN the very command
    risk: safe          # read_only | safe | disruptive | destructive
verify: FILL IN what one sees when it is mended.
references: []
"""

KINDS = {"signature": ("signatures", SIGNATURE), "tree": ("trees", TREE), "cause": ("causes", CAUSE)}


class ScaffoldError(Exception):
    """The new file cannot be made, in one sentence."""


def write_scaffold(kind: str, name: str, folder: Path) -> Path:
    """Write the file of a new rule below a folder of rules and return its path.

    Raises:
        ScaffoldError: the name does not fit the kind, or the file is there already.

    """
    from doctor.rulebook.compilation import ID_FORMS

    group, text = KINDS[kind]
    if not ID_FORMS[group].match(name):
        form = {"signature": "family/name", "tree": "name", "cause": "family.name"}[kind]
        raise ScaffoldError(f"{name!r} is no name for a {kind}; write {form} in small letters, digits and dashes")
    path = folder / group / (name.replace(".", "/", 1) if kind == "cause" else name)
    path = path.with_name(path.name + ".yaml")
    if path.exists() or path.with_suffix(".yml").exists():
        raise ScaffoldError(f"{path} is there already and stays as it is")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ScaffoldError(f"{path}: {error.strerror}") from None
    return path

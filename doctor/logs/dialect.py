"""The prefixes that launchers, collectors and logging libraries put before a message.

Each dialect matches one prefix at the beginning of what is left of a line and says what it tells. Dialects are
conservative: a prefix that would eat a part of a message is worse than none. Named groups carry the meaning: ``id``
(keeps writers apart), ``rank``, ``local``, ``node``, ``pid``, ``time``, ``level``.
"""

from __future__ import annotations

import re
from typing import Optional

from doctor.logs import stamp

LEVELS = r"DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|SUCCESS"
_LEVEL_OF_LETTER = {
    "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL", "C": "CRITICAL", "D": "DEBUG", "V": "DEBUG", "N": "NOTICE",
}  # fmt: skip
_SYSLOG_LEVELS = ("CRITICAL", "CRITICAL", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")
_SOURCE = r"[\w./<>\\-]{1,160}:\d{1,6}"
# A logger's name, as far as it cannot be taken for a word of the message.
_MODULE = r"(?:root|[\w/-]{0,60}[._:][\w./:<>-]{1,120})"
_FUNCTION_SOURCE = r"[\w./<>-]{1,120}(?:\.py)?:\d{1,6}(?::[\w<>.]{1,80})?"
# What programs number in their own messages; no writer's name begins so.
_COUNTED = r"(?i:epoch|step|iter|batch|layer|stage|fold|run|trial|round|chunk|sample)"


class Dialect:
    """One prefix grammar; ``after_record`` ones hold only behind a time or a level."""

    __slots__ = ("after_record", "match", "name")

    def __init__(self, name: str, pattern: str, *, after_record: bool = False) -> None:
        self.name = name
        self.match = re.compile(pattern).match
        self.after_record = after_record


_BRACKET = (
    Dialect("torch_rank", r"\[(?P<id>rank(?P<rank>\d{1,6}))\]: ?"),
    Dialect("torchrun", rf"\[(?P<id>(?!rank\d|{_COUNTED})[A-Za-z][A-Za-z_.-]{{0,30}}(?P<local>\d{{1,4}}))\]: ?"),
    Dialect("torch_glog", rf"\[(?P<letter>[IWEFV])(?P<time>\d{{3,4}} {stamp.CLOCK})(?: +\d+)? {_SOURCE}\] ?"),
    Dialect("nemo", rf"\[NeMo (?P<letter>[DIWECF]) (?P<time>{stamp.ISO}) [^\]\s]{{1,120}}\] ?"),
    Dialect(
        "bracket_time",
        rf"\[(?P<time>{stamp.ISO}|{stamp.US}|{stamp.ASCTIME}|{stamp.DAY_MONTH}|{stamp.CLOCK})"
        r"(?P<who>(?: (?:DP|TP|PP|EP|CP|ATTN_TP|ATTN_DP|MOE_EP|MOE_TP)\d{1,5}){1,6})?\](?:-\[[\w .:]{1,80}\]:?)? ?",
    ),
    Dialect(
        "huggingface", rf"\[(?P<level>{LEVELS})\|[^\]\n]{{1,120}}\] ?(?P<time>{stamp.ISO})?[^>\n]{{0,120}}? ?>> ?"
    ),
    Dialect("sagemaker", r"\[1,mpirank:(?P<rank>\d{1,6}),(?P<node>[\w.-]{1,60})\]<(?:stdout|stderr)>: ?"),
    Dialect("mpi_tag", r"\[(?P<id>\d{1,6},(?P<rank>\d{1,6}))\]<(?:stdout|stderr|stddiag)>: ?"),
    Dialect("ucx", r"\[(?P<time>\d{10}\.\d{6})\] +\[(?P<node>[\w.-]{1,80}):(?P<pid>\d{1,8}) *(?::\d+)?\] +"),
    Dialect(
        "mpi_process",
        r"\[(?P<id>(?P<node>[A-Za-z][\w.-]{0,80}):(?P<pid>\d{3,8}))\] ?"
        r"(?=\*\*\* |\[ ?\d+\] |Signal|Failing at|mca_|pml_|btl_|PMIX|ORTE|OPAL|\d+ more process)",
    ),
    Dialect("component", r"\[[a-z][\w-]{0,20}\] (?=\d{4}-\d\d-\d\d \d\d:)"),
    Dialect("kubectl", r"\[(?P<id>(?:pod|job)/[\w./-]{1,200})\] ?"),
    Dialect("dmesg", r"\[ {0,8}(?P<uptime>\d{1,9}\.\d{6})\](?:\[ *[TC]\d+\])? "),
    Dialect("bracket_level", rf"\[(?P<level>{LEVELS})\] ?", after_record=True),
    Dialect("bracket_source", rf"\[(?!PID:|RANK:|Rank:){_FUNCTION_SOURCE}\] ?", after_record=True),
    Dialect("bracket_pid", r"\[PID: ?(?P<pid>\d{1,8})\] ?", after_record=True),
    Dialect("bracket_rank", r"\[R(?:ANK|ank)[ :](?P<rank>\d{1,6})\](?! Watchdog| Some NCCL| To avoid| Process) ?",
            after_record=True),
)  # fmt: skip
_ROUND = (
    Dialect(
        "process",
        r"(?P<id>\((?P<who>[A-Za-z_][^()\n]{0,100}?(?:\([^()\n]{0,100}\)[^()\n]{0,40}?)?)? ?pid=(?P<pid>\d{1,8})"
        r"(?:, ip=(?P<node>[^)\s]{1,60}))?\)) ?",
    ),
    Dialect("raylet", r"(?P<id>\((?:raylet|autoscaler|gcs_server)(?:, ip=(?P<node>[^)\s]{1,60}))?\)) ?"),
)
_DIGIT = (
    Dialect("cri", rf"(?P<time>{stamp.ISO}) (?:stdout|stderr) [FP] ?"),
    Dialect(
        "journal",
        rf"(?P<time>{stamp.ISO}) (?P<id>(?P<node>[\w.-]{{1,80}}) [\w./@-]{{1,60}}\[(?P<pid>\d{{1,8}})\]): ",
    ),
    Dialect("tensorflow", rf"(?P<time>{stamp.ISO}): (?P<letter>[IWEF]) {_SOURCE}\] ?"),
    Dialect("fastchat", rf"(?P<time>{stamp.ISO}) \| (?P<level>{LEVELS}) *\| [\w./]{{1,60}} \| "),
    Dialect("loguru", rf"(?P<time>{stamp.ISO}) \| (?P<level>{LEVELS}) *\| [^\n]{{1,160}}? - "),
    Dialect(
        "logging_dash",
        rf"(?P<time>{stamp.ISO}|{stamp.US}) ?- (?:[\w./<>:-]{{1,120}} - ){{0,3}}?(?P<level>{LEVELS}) ?- "
        rf"(?:{_MODULE} - )?",
    ),
    Dialect("nccl", r"(?P<id>(?P<node>[\w.-]{1,80}):(?P<pid>\d{1,8})):\d{1,8} \[(?P<local>-?\d{1,3})\] ?"),
    Dialect("llama_cpp", r"\d{1,4}\.\d\d\.\d{3}\.\d{3} (?P<letter>[IWED]) "),
    Dialect(
        "plain_time",
        rf"(?P<time>{stamp.ISO}|{stamp.DAY_MONTH}|{stamp.US}|\d\d:\d\d:\d\d[.,]\d{{3,6}})(?:: (?=\S)| |$)",
    ),
)  # fmt: skip
_WORD = (
    Dialect("vllm", rf"(?P<level>{LEVELS}) +(?P<time>{stamp.DAY_MONTH}|{stamp.ISO})(?:[.,]\d+)? +\[?{_SOURCE}\] ?"),
    Dialect("glog", rf"(?P<letter>[IWEFV])(?P<time>\d{{4}} {stamp.CLOCK}) +(?P<pid>\d{{1,20}}) {_SOURCE}\] ?"),
    Dialect("nccl", r"(?P<id>(?P<node>[\w.-]{1,80}):(?P<pid>\d{1,8})):\d{1,8} \[(?P<local>-?\d{1,3})\] ?"),
    Dialect("logging_basic", rf"(?P<level>{LEVELS}):[A-Za-z_][\w.]{{0,120}}:"),
    Dialect("uvicorn", rf"(?P<level>{LEVELS}): {{4,8}}(?=\S)"),
    Dialect(
        "syslog",
        rf"(?P<time>{stamp.SYSLOG}) (?P<id>(?P<node>[\w.-]{{1,80}}) [\w./@()-]{{1,60}}(?:\[(?P<pid>\d{{1,8}})\])?): ?",
    ),
    Dialect("asctime", rf"(?P<time>{stamp.ASCTIME})(?=\[)"),
    Dialect("compose", rf"(?P<id>(?!{_COUNTED})[A-Za-z][\w.-]{{0,80}}[-_]\d{{1,4}}) {{1,60}}\| "),
    Dialect(
        "journal_node",
        r"(?P<id>(?P<node>[A-Za-z][\w.-]{0,60}) (?:python|kernel|systemd)[\w.]{0,10}\[(?P<pid>\d{1,8})\]): ",
    ),
    Dialect(
        "record_level", rf"(?P<level>{LEVELS})(?: ?[|:-] ?| +)(?:\[?{_FUNCTION_SOURCE}\]? ?[:|-]? )?", after_record=True
    ),
)  # fmt: skip
_OTHER = (
    Dialect("priority", r"<(?P<priority>\d{1,3})>(?=\[|[A-Z0-9 ])"),
    Dialect("record_dash", rf"- (?:[\w./:-]{{1,120}} - )?(?P<level>{LEVELS}) - ", after_record=True),
    Dialect("record_bar", rf"\| (?P<level>{LEVELS}) *\| (?:[^\n|]{{1,160}}? - )?", after_record=True),
    Dialect("quote", r"> (?=  |> |Traceback \(|[\w.]{1,80}(?:Error|Exception)\b|[\[(])"),
    Dialect("fence", r"```(?:(?:bash|sh|shell|text|txt|log|console|python|py|plaintext)\b)? ?"),
    Dialect("shifted_time", rf" +(?=\[{stamp.ISO}\])"),
)
RICH = Dialect(
    "rich",
    rf"(?:\[?(?P<time>{stamp.US}|{stamp.ISO}|\d\d:\d\d:\d\d-\d{{6}}|{stamp.CLOCK})\]?| {{10,24}})"
    rf" *(?:(?P<level>{LEVELS})  {{1,5}}|CRITICAL )",
)
# Number or host and a colon: told from an ordinary "word: " only by what follows or by habit.
SRUN = Dialect("srun", r" {0,5}(?P<id>(?P<rank>\d{1,6})):(?: |$)")
HOST = Dialect(
    "pdsh", r"(?P<id>(?P<node>(?:\d{1,3}\.){3}\d{1,3}|[A-Za-z][A-Za-z0-9.-]{0,60}\d[A-Za-z0-9.-]{0,60})):(?: |$)"
)


def candidates(first: str) -> tuple[Dialect, ...]:
    """Return the dialects that can begin with a character."""
    if first == "[":
        return _BRACKET
    if first == "(":
        return _ROUND
    if "0" <= first <= "9":
        return _DIGIT
    return _WORD if first.isalpha() else _OTHER


def level(groups: dict[str, Optional[str]]) -> str:
    """Return the severity word that a prefix names, or an empty string."""
    word = groups.get("level")
    if word:
        return "WARNING" if word == "WARN" else word
    letter = groups.get("letter")
    if letter:
        return _LEVEL_OF_LETTER.get(letter, "")
    priority = groups.get("priority")
    return _SYSLOG_LEVELS[int(priority) & 7] if priority else ""


_NUMBERED = re.compile(r"rank=(\d{1,6})")
_TENSOR = re.compile(r"(?:^|_| )TP(\d{1,4})(?:$| )")
_OTHER_AXIS = re.compile(r"(?:^|[_ ])(?:DP|PP|CP)[1-9]")


def rank_of(who: Optional[str]) -> Optional[int]:
    """Return the rank that an actor's name tells: explicit, or tensor parallelism being the only split."""
    if not who:
        return None
    found = _NUMBERED.search(who)
    if found is None and not _OTHER_AXIS.search(who):
        found = _TENSOR.search(who) or re.search(r"_TP(\d{1,4})", who)
    return int(found[1]) if found else None

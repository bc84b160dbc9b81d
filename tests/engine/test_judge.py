"""The judgement: which event is the root, what only follows, what merely warns."""

from __future__ import annotations

from doctor.engine.judge import judge
from doctor.model.log import ExceptionBlock, Frame, LogFile, Occurrence, Speaker
from doctor.model.rule import Cause, Leaf, Node, Pattern, RemedyRule, Setting, Signature, Tree
from doctor.model.vocabulary import Confidence, Place, Role, Severity, Verdict, Why
from doctor.rulebook.book import FrameworkRule, Rulebook, StageRule


def signature(
    name: str, role: Role = Role.INITIATING, severity: Severity = Severity.FATAL, **more: object
) -> Signature:
    return Signature(
        id=name,
        title=name,
        role=role,
        severity=severity,
        emitter="a test",
        says_not="anything",
        patterns=(Pattern(gate=name, regex=name),),
        **more,  # type: ignore[arg-type]
    )


def cause(name: str, *, because: tuple[str, ...] = ("It broke.",), remedies: tuple[RemedyRule, ...] = ()) -> Cause:
    return Cause(
        id=name,
        title=f"{name} happened",
        severity=Severity.FATAL,
        because=because,
        remedies=remedies or (RemedyRule(do="Mend it."),),
        verify="It runs.",
    )


MEMORY_TREE = Tree(
    id="memory",
    title="Who holds the memory?",
    start="other",
    let={"left_bytes": "signal.capacity_bytes - signal.free_bytes - signal.mine_bytes"},
    nodes={
        "other": Node(
            ask="Does another process hold memory?",
            when="left_bytes > GiB(1)",
            how="nvidia-smi",
            then=Leaf("memory.other", Confidence.LIKELY),
            otherwise="stage",
            unknown="stage",
        ),
        "stage": Node(
            ask="Did it happen while loading?",
            when="stage == 'load'",
            then=Leaf("memory.weights"),
            otherwise=Leaf("memory.demand"),
            unknown=Leaf("memory.demand", Confidence.POSSIBLE),
        ),
    },
)


def book() -> Rulebook:
    signatures = [
        signature("memory/oom", opens="memory"),
        signature("memory/retry", severity=Severity.WARNING, cause="memory.demand"),
        signature("disk/full", cause="disk.full"),
        signature("job/child-failed", Role.WRAPPER, cause="job.child"),
        signature("net/peer", Role.CASCADE, cause="net.peer"),
        signature("hint", Role.ADVICE),
        signature("memory/retried", Role.HARMLESS, Severity.INFO, recovers=("memory/oom",)),
    ]
    remedy = RemedyRule(
        do="Use less on {framework}.",
        set="GENERAL=1",
        by_framework={"vllm": Setting(run="vllm serve --max-model-len 4096")},
    )
    causes = [
        cause("memory.other", because=("{left_bytes} is held elsewhere.", "Rank {rank} asked.", "Memory is shared.")),
        cause("memory.demand", remedies=(remedy, RemedyRule(do="Anyway."))),
        cause("memory.weights"),
        cause("disk.full"),
        cause("job.child"),
        cause("net.peer"),
        cause("unknown.exception"),
        cause("unknown.fatal-line"),
    ]
    return Rulebook(
        signatures={s.id: s for s in signatures},
        trees={"memory": MEMORY_TREE},
        causes={c.id: c for c in causes},
        stages=(StageRule("load", ("load_model",)),),
        frameworks=(FrameworkRule("vllm", ("vllm/engine",)),),
    )


def seen(name: str, line: int, *, rank: int | None = None, file: str = "a.log", **more: object) -> Occurrence:
    speaker = Speaker(stream=f"rank{rank}" if rank is not None else "", rank=rank)
    fields = {key: value for key, value in more.items() if key not in ("exception", "run", "time")}
    rest = {key: value for key, value in more.items() if key in ("exception", "run", "time")}
    return Occurrence(signature=name, file=file, line=line, text=name, speaker=speaker, fields=fields, **rest)  # type: ignore[arg-type]


def raised(index: int, line: int, kind: str = "ValueError", **more: object) -> ExceptionBlock:
    frames = more.pop("frames", ())
    return ExceptionBlock(
        index=index,
        file="a.log",
        first_line=line - 3,
        line=line,
        type=kind,
        message="boom",
        frames=frames,
        **more,  # type: ignore[arg-type]
    )


def log(*occurrences: Occurrence, **more: object) -> LogFile:
    path = occurrences[0].file if occurrences else "a.log"
    return LogFile(path=path, lines=1000, occurrences=list(occurrences), **more)  # type: ignore[arg-type]


def test_numbers_decide_and_unknown_sentences_are_left_out() -> None:
    gib = 1 << 30
    oom = seen("memory/oom", 7, capacity_bytes=24 * gib, free_bytes=gib, mine_bytes=2 * gib)
    judgement = judge([log(oom)], book())
    root = judgement.diagnoses[0]
    assert (root.id, root.role, root.confidence) == ("memory.other", Place.ROOT, Confidence.LIKELY)
    assert root.because == "21 GiB is held elsewhere. Memory is shared."
    assert root.facts["left_bytes"] == 21 * gib
    assert [step.answer for step in root.path] == ["yes"]
    assert judgement.verdict is Verdict.FAILED


def test_what_is_not_known_is_said_with_the_way_to_know_it() -> None:
    root = judge([log(seen("memory/oom", 7))], book()).diagnoses[0]
    assert root.id == "memory.demand"
    assert root.confidence is Confidence.POSSIBLE
    assert {(m.fact, m.why, m.how) for m in root.missing} >= {("capacity_bytes", Why.NOT_IN_LOG, "nvidia-smi")}


def test_the_stage_comes_from_the_innermost_known_frame() -> None:
    gib = 1 << 30
    block = raised(0, 7, "OutOfMemoryError", frames=(Frame("x.py", 3, "load_model", "x.to(d)"), Frame("y.py", 1, "f")))
    oom = seen("memory/oom", 7, capacity_bytes=8 * gib, free_bytes=gib, mine_bytes=7 * gib, exception=0)
    root = judge([log(oom, exceptions=[block])], book()).diagnoses[0]
    assert root.id == "memory.weights"
    assert root.facts["stage"] == "load"


def test_a_remedy_speaks_the_language_of_the_framework_seen() -> None:
    plain = judge([log(seen("memory/oom", 7))], book()).diagnoses[0]
    assert [r.do for r in plain.remedies] == ["Anyway."], "a remedy that names an unknown framework is dropped"
    served = judge([log(seen("memory/oom", 7), frameworks={"vllm": 1})], book()).diagnoses[0]
    assert (served.remedies[0].do, served.remedies[0].run) == ("Use less on vllm.", "vllm serve --max-model-len 4096")


def test_many_ranks_are_one_diagnosis() -> None:
    occurrences = [seen("disk/full", 10 + rank, rank=rank) for rank in range(512)]
    judgement = judge([log(*occurrences, counts={"disk/full": 512})], book())
    assert [d.id for d in judgement.diagnoses] == ["disk.full"]
    assert judgement.diagnoses[0].evidence[0].count == 512
    assert judgement.diagnoses[0].facts["rank"] == 0


def test_wrappers_and_cascades_follow_and_never_lead() -> None:
    judgement = judge([log(seen("net/peer", 3), seen("disk/full", 5), seen("job/child-failed", 9))], book())
    root, *rest = judgement.diagnoses
    assert root.id == "disk.full"
    assert root.consequences == ("net.peer",)
    assert [(d.id, d.role, d.remedies) for d in rest] == [("net.peer", Place.CONSEQUENCE, ())]


def test_a_wrapper_alone_is_the_answer() -> None:
    judgement = judge([log(seen("job/child-failed", 9))], book())
    assert (judgement.diagnoses[0].id, judgement.diagnoses[0].role) == ("job.child", Place.ROOT)


def test_an_unknown_exception_is_found_and_placed() -> None:
    judgement = judge([log(exceptions=[raised(0, 40, speaker=Speaker(stream="rank3", rank=3))])], book())
    root = judgement.diagnoses[0]
    assert (root.id, root.evidence[0].line, root.evidence[0].rank) == ("unknown.exception", 40, 3)


def test_the_first_exception_of_a_chain_is_the_root() -> None:
    chain = [raised(0, 10, "KeyError"), raised(1, 20, "RuntimeError", chained_to=0)]
    root = judge([log(exceptions=chain)], book()).diagnoses[0]
    assert [e.line for e in root.evidence] == [10, 20]
    assert root.facts["exception"] == "KeyError"


def test_a_known_signal_explains_the_whole_chain() -> None:
    chain = [raised(0, 10, "KeyError"), raised(1, 20, "RuntimeError", chained_to=0)]
    judgement = judge([log(seen("disk/full", 20, exception=1), exceptions=chain)], book())
    assert [d.id for d in judgement.diagnoses] == ["disk.full"]


def test_an_unknown_exception_yields_to_a_known_signal_of_the_same_writer() -> None:
    judgement = judge([log(seen("disk/full", 90), exceptions=[raised(0, 40)])], book())
    assert judgement.diagnoses[0].id == "disk.full"


def test_an_unknown_exception_of_another_rank_that_came_first_is_the_root() -> None:
    stray = raised(0, 40, speaker=Speaker(stream="rank3", rank=3))
    judgement = judge([log(seen("disk/full", 90, rank=1), exceptions=[stray])], book())
    assert judgement.diagnoses[0].id == "unknown.exception"


def test_what_the_job_outlived_only_warns() -> None:
    alive = list(range(50, 90))
    judgement = judge([log(exceptions=[raised(0, 40)], alive_lines=alive)], book())
    assert judgement.verdict is Verdict.WARNINGS
    assert judgement.diagnoses[0].role is Place.WARNING
    later = judge([log(seen("disk/full", 95), exceptions=[raised(0, 40)], alive_lines=alive)], book())
    assert next((d.id, d.role) for d in later.diagnoses) == ("disk.full", Place.ROOT)


def test_what_the_log_says_to_be_got_over_only_warns() -> None:
    retried = judge([log(seen("memory/oom", 5), seen("memory/retried", 6))], book())
    assert (retried.verdict, retried.diagnoses[0].role) == (Verdict.WARNINGS, Place.WARNING)
    again = judge([log(seen("memory/oom", 5), seen("memory/retried", 6), seen("memory/oom", 9))], book())
    assert again.verdict is Verdict.FAILED
    assert again.diagnoses[0].evidence[0].line == 9


def test_the_last_run_of_a_log_counts() -> None:
    judgement = judge([log(seen("memory/oom", 5), seen("disk/full", 50, run=1), runs=2)], book())
    assert judgement.diagnoses[0].id == "disk.full"


def test_files_are_ordered_by_their_stamps() -> None:
    late = log(seen("disk/full", 2, file="a.log", time=200.0))
    early = log(seen("memory/oom", 9, file="b.log", time=100.0))
    assert judge([late, early], book()).diagnoses[0].id == "memory.demand"


def test_warnings_and_hints_do_not_fail_a_job() -> None:
    judgement = judge([log(seen("memory/retry", 3), seen("hint", 4))], book())
    assert judgement.verdict is Verdict.WARNINGS
    assert [d.role for d in judgement.diagnoses] == [Place.WARNING]


def test_nothing_found_is_healthy() -> None:
    assert judge([log()], book()).verdict is Verdict.HEALTHY

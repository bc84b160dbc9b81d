"""Where one run of a job ends in a log and the next begins: launchers' banners and elastic restarts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple, Optional

from doctor.logs.line import Line


class Banner(NamedTuple):
    """A line that a launcher prints when it starts a job; ``restart`` where it says that it starts it again."""

    gate: bytes
    restart: bool = False


BANNERS: tuple[Banner, ...] = (
    # torch/distributed/elastic/agent/server/api.py, 1.9 to 2.14
    Banner(b"attempts left; will restart worker group", restart=True),
    # torch/distributed/run.py (and launch.py), 1.4 to 2.14, with more than one process a node
    Banner(b"Setting OMP_NUM_THREADS environment variable for each process to be"),
    # deepspeed/launcher/launch.py
    Banner(b"WORLD INFO DICT: "),
    # accelerate/commands/launch.py
    Banner(b"The following values were not passed to `accelerate launch`"),
    # lightning/fabric/utilities/distributed.py; older: pytorch_lightning ddp plugins
    Banner(b"nitializing distributed: GLOBAL_RANK: 0, "),
    # megatron/training/arguments.py, rank 0 only
    Banner(b"using world size: "),
    # vllm/entrypoints/openai/api_server.py and its launcher, 0.2 to 0.14
    Banner(b"vLLM API server version "),
)

_APART_LINES = 2000
_APART_SECONDS = 120.0


class Sighting(NamedTuple):
    """A banner seen: which, where, by whom and when."""

    line: int
    banner: int
    stream: str
    time: Optional[float]


def sighting(line: Line, banner: int) -> Sighting:
    """Return the sighting of a banner on a line."""
    return Sighting(line.number, banner, line.speaker.stream, line.time)


def boundaries(sightings: Sequence[Sighting], failures: Sequence[int]) -> list[int]:
    """Return the lines on which a new run begins, the first run left out.

    ``failures`` are the lines of exceptions. Banners that several ranks or nodes print at one start are one start: a
    banner begins a new run only where the same writer printed it in this run before, and either something failed
    in between or it is far away in lines and in time.
    """
    begins: list[int] = []
    this_run: set[tuple[int, str]] = set()
    last: dict[int, Sighting] = {}
    last_same: dict[tuple[int, str], Sighting] = {}
    for each in sightings:
        key = (each.banner, each.stream)
        before, same = last.get(each.banner), last_same.get(key)
        again = BANNERS[each.banner].restart or key in this_run
        if again and (before is None or _far(before, each) or (same is not None and _failed(same, each, failures))):
            begins.append(each.line)
            this_run.clear()
        this_run.add(key)
        last[each.banner] = last_same[key] = each
    return begins


def _failed(before: Sighting, now: Sighting, failures: Sequence[int]) -> bool:
    return bisect_left(failures, now.line) > bisect_left(failures, before.line)


def _far(before: Sighting, now: Sighting) -> bool:
    if before.time is not None and now.time is not None and now.time - before.time <= _APART_SECONDS:
        return False
    return now.line - before.line > _APART_LINES

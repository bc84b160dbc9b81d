"""What the program was doing, and under which framework, as its stack frames and banners tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import re2

from doctor.model.log import ExceptionBlock, Frame, LogFile
from doctor.rulebook.book import FrameworkRule, StageRule


def frame_text(frame: Frame) -> str:
    """Return a frame in the form that stage rules and ``in_trace`` match: ``file:function: code``."""
    return f"{frame.file}:{frame.function}: {frame.code}"


def read_stage(chain: Sequence[ExceptionBlock], rules: Sequence[StageRule]) -> Optional[str]:
    """Return the stage of the innermost frame that a rule knows, or None."""
    compiled = [(rule.stage, [re2.compile(where) for where in rule.where]) for rule in rules] if chain else []
    for block in chain:
        for frame in reversed(block.frames):
            text = frame_text(frame)
            for stage, patterns in compiled:
                if any(pattern.search(text) for pattern in patterns):
                    return stage
    return None


def read_framework(log: LogFile, chain: Sequence[ExceptionBlock], rules: Sequence[FrameworkRule]) -> Optional[str]:
    """Return the most specific framework that the stack frames show, else that the whole log shows."""
    frames = "\n".join(frame_text(frame) for block in chain for frame in block.frames)
    for rule in rules:
        if any(literal in frames for literal in rule.literals):
            return rule.framework
    return next((rule.framework for rule in rules if rule.framework in log.frameworks), None)


# Frames of installed packages and of the interpreter: where the user's own code is not.
_FOREIGN = ("site-packages/", "dist-packages/", "/lib/python3", "<frozen ", "\\lib\\python", "<string>")


def own_frame(chain: Sequence[ExceptionBlock]) -> Optional[Frame]:
    """Return the innermost frame of the user's own code, of the first exception that has one."""
    for block in chain:
        for frame in reversed(block.frames):
            if not any(mark in frame.file for mark in _FOREIGN):
                return frame
    return None

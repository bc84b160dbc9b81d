"""Tracebacks as other makers print them: this Python itself, Rich, IPython and notebooks."""

from __future__ import annotations

import concurrent.futures
import io
import sys
import traceback

import pytest

from doctor.logs.exception import ExceptionReader
from doctor.logs.line import LineParser
from doctor.model.log import ExceptionBlock


def read(text: str) -> list[ExceptionBlock]:
    parser = LineParser()
    rows = enumerate(text.split("\n"), 1)
    lines = [line for number, row in rows for line in parser.parse(row.encode(), number)]
    start = next(n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line.text)
    return ExceptionReader().read(lines[start:])


def places(block: ExceptionBlock) -> list[tuple[str, int, str, str]]:
    return [(frame.file, frame.line, frame.function, frame.code) for frame in block.frames]


def fail() -> None:
    try:
        {}["a"]
    except KeyError as cause:
        raise ValueError("bad\nsecond\n\tthird") from cause


def formatted() -> str:
    try:
        fail()
    except ValueError:
        return traceback.format_exc()
    raise AssertionError


def test_chain_as_this_python_prints_it() -> None:
    first, second = read(formatted())
    assert (first.type, first.message, first.chained_to) == ("KeyError", "'a'", None)
    assert (second.type, second.message, second.chained_to) == ("ValueError", "bad\nsecond\n\tthird", 0)
    assert second.frames[-1].code == 'raise ValueError("bad\\nsecond\\n\\tthird") from cause'


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("show_locals", [False, True])
def test_boxes_as_rich_draws_them(width: int, show_locals: bool) -> None:
    from rich.console import Console

    out = io.StringIO()
    try:
        fail()
    except ValueError:
        Console(file=out, width=width).print_exception(show_locals=show_locals)
    first, second = read(out.getvalue())
    assert (first.type, second.type, second.chained_to) == ("KeyError", "ValueError", 0)
    assert [(frame.function, frame.code) for frame in first.frames] == [("fail", '{}["a"]')]
    assert second.frames[-1].function == "fail"
    assert second.frames[-1].code.startswith("raise ValueError(")


def test_box_of_plain_characters() -> None:
    rows = ["/usr/lib/module.py:1773 in _call_impl", "", "  1771 |   |   # x", "> 1773 |   |   return f(x)", "  1774 |"]
    (block,) = read(
        f"+{' Traceback (most recent call last) ':-^50}+\n"
        + "\n".join(f"| {row.ljust(48)} |" for row in rows)
        + f"\n+{'-' * 50}+\nValueError: x"
    )
    assert (block.type, places(block)) == ("ValueError", [("/usr/lib/module.py", 1773, "_call_impl", "return f(x)")])


def test_remote_process_as_this_python_prints_it() -> None:
    out = io.StringIO()
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        try:
            pool.submit(int, "x").result()
        except ValueError:
            traceback.print_exc(file=out)
    first, second = read(out.getvalue())
    assert (first.type, second.type, second.chained_to) == ("ValueError", "ValueError", 0)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with 3.11")
def test_group_as_this_python_prints_it() -> None:
    group = getattr(__builtins__, "ExceptionGroup", None) or __builtins__["ExceptionGroup"]  # type: ignore[index]
    try:
        raise group("two", [ValueError(1), TypeError("x")])
    except group:
        blocks = read(traceback.format_exc())
    assert [block.type for block in blocks] == ["ExceptionGroup", "ValueError", "TypeError"]
    assert blocks[0].message == "two (2 sub-exceptions)"


def test_syntax_error() -> None:
    try:
        compile("x = = 2", "foo.py", "exec")
    except SyntaxError:
        (block,) = read(traceback.format_exc())
    assert block.type == "SyntaxError"
    assert block.frames[-1].file == "foo.py"


def test_ipython() -> None:
    (block,) = read(
        "-----------------------------\n"
        "OutOfMemoryError                          Traceback (most recent call last)\n"
        "<ipython-input-3-abc> in <cell line: 1>()\n----> 1 trainer.train()\n\n3 frames\n"
        "/usr/lib/transformers/trainer.py in train(self, resume)\n"
        "   1660             x\n-> 1662         return loop(\n\n"
        "File /opt/module.py:1501, in Module._call_impl(self, *args)\n   1496 # c\n-> 1501     return f(*args)\n"
        "Cell In[3], line 2\n      1 a = 1\n----> 2 foo()\n\nOutOfMemoryError: CUDA out of memory."
    )
    assert (block.type, block.message) == ("OutOfMemoryError", "CUDA out of memory.")
    assert places(block) == [
        ("<ipython-input-3-abc>", 1, "<cell line: 1>", "trainer.train()"),
        ("/usr/lib/transformers/trainer.py", 1662, "train", "return loop("),
        ("/opt/module.py", 1501, "Module._call_impl", "return f(*args)"),
        ("Cell In[3]", 2, "", "foo()"),
    ]


def test_notebook_copied_with_links() -> None:
    (block,) = read(
        "OutOfMemoryError                          Traceback (most recent call last)\n"
        "[<ipython-input-7-3d>](https://localhost:8080/#) in <cell line: 1>()\n----> 1 trainer.train()\n\n13 frames\n"
        "[/usr/lib/operations.py](https://localhost:8080/#) in _convert(tensor)\n"
        "    779 \n--> 781     return tensor.float()\n"
        "File [~/x/sft_trainer.py:361](https://vscode-remote/x.py:361), in SFTTrainer.train(self)\n"
        "    [358](https://vscode-remote/x.py:358) if x\n--> [361](https://vscode-remote/x.py:361) output = f()\n\n"
        "OutOfMemoryError: CUDA out of memory."
    )
    assert places(block) == [
        ("<ipython-input-7-3d>", 1, "<cell line: 1>", "trainer.train()"),
        ("/usr/lib/operations.py", 781, "_convert", "return tensor.float()"),
        ("~/x/sft_trainer.py", 361, "SFTTrainer.train", "output = f()"),
    ]


def test_box_with_a_cell_and_a_function_on_the_next_row() -> None:
    rows = ["in <cell line: 2>:2", "", "/usr/lib/transformers/text_generation.py:201 in", "__call__", "",
            "   198 │   │   # x", " ❱ 201 │   │   return super()", "   202 │"]  # fmt: skip
    (block,) = read(
        "╭─ Traceback (most recent call last) ─────────────────────────╮\n"
        + "\n".join(f"│ {row.ljust(59)} │" for row in rows)
        + "\n╰─────────────────────────────────────────────────────────────╯\nRuntimeError: x"
    )
    assert block.type == "RuntimeError"
    assert [(frame.function, frame.line) for frame in block.frames] == [("<cell line: 2>", 2), ("__call__", 201)]
    assert block.frames[1].code == "return super()"

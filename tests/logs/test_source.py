"""What a person names, and every kind of file that it may be."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading
from pathlib import Path

import pytest
import zstandard
from knowledge import OOM

from doctor.logs.limit import Limits
from doctor.logs.matcher import Matcher
from doctor.logs.reader import read_log
from doctor.logs.source import Source, expand
from doctor.model.log import LogFile

LINE = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
TEXT = "starting\n" * 1000 + LINE + "bye\n" * 1000
MATCHER = Matcher([OOM])


def read(path: Path, limits: Limits | None = None) -> LogFile:
    return read_log(Source(path=str(path), size_bytes=path.stat().st_size), MATCHER, limits or Limits())


def check(log: LogFile) -> None:
    assert log.failure == ""
    assert [(each.line, each.fields["requested_bytes"]) for each in log.occurrences] == [(1001, 2 << 30)]
    assert log.lines == 2001


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, bz2.compress, lzma.compress, lambda data: zstandard.ZstdCompressor().compress(data)],
    ids=["plain", "gz", "bz2", "xz", "zst"],
)
def test_compression_is_found_by_content(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(pack(TEXT.encode()))  # type: ignore[operator]
    check(read(path))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_frames_follow_one_another(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "train.log"
    half = len(TEXT) // 3
    path.write_bytes(pack(TEXT[:half].encode()) + pack(TEXT[half:].encode()))  # type: ignore[operator]
    check(read(path))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, lambda data: zstandard.ZstdCompressor().compress(data)])
def test_a_stream_cut_short_yields_what_there_is(tmp_path: Path, pack: object) -> None:
    noise = "".join(f"{i * 7919 % 100_003} {i * 104_729 % 9973}\n" for i in range(200_000))
    packed = pack((LINE + noise).encode())  # type: ignore[operator]
    path = tmp_path / "train.log"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    log = read(path)
    assert len(log.occurrences) == 1
    assert log.lines > 1000
    assert [hit.what for hit in log.limits] == ["cut"]


def test_damage_is_told(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT.encode() * 50))
    packed[len(packed) // 2 :] = bytes(len(packed) - len(packed) // 2)
    path = tmp_path / "train.log.gz"
    path.write_bytes(bytes(packed))
    assert [hit.what for hit in read(path).limits] == ["cut"]


def test_a_bomb_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xz"
    path.write_bytes(lzma.compress(b"a\n" * (48 << 20), preset=1))
    limits = Limits(output_bytes=8 << 20)
    log = read(path, limits)
    assert log.lines <= (9 << 20) // 2
    assert "Only the first 8 MiB" in log.limits[0].text
    log = read(path, Limits(ratio_free_bytes=4 << 20, output_ratio=100))
    assert "100 fold" in log.limits[0].text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_wide_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(TEXT.encode(encoding))
    check(read(path))


def test_a_fifo(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(TEXT.encode()))
    writer.start()
    sources, failures = expand([str(path)])
    assert not failures
    check(read_log(sources[0], MATCHER))
    writer.join()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(200), "ELF"),
        (b"\x80\x04\x95" + bytes(200), "pickle"),
        ((200).to_bytes(8, "little") + b'{"__metadata__":{}}' + b" " * 200, "safetensors"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "PNG"),
        (b"PK\x03\x04" + bytes(200), "zip"),
        (bytes(range(256)) * 20, "binary"),
    ],
)
def test_what_is_no_log_is_refused_by_name(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "file.log"
    path.write_bytes(content)
    assert what in read(path).failure


def test_a_tar_in_a_gz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "logs.tar.gz"
    path.write_bytes(gzip.compress(b"train.log".ljust(257, b"\0") + b"ustar\0" + bytes(1000)))
    assert "tar archive" in read(path).failure


def test_a_log_behind_a_hole_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rotated.log"
    with path.open("wb") as file:
        file.truncate(3 << 20)
        file.seek(3 << 20)
        file.write(TEXT.encode())
    log = read(path)
    assert log.failure == ""
    assert [each.line for each in log.occurrences] == [1001]


def test_an_empty_log(tmp_path: Path) -> None:
    path = tmp_path / "empty.log"
    path.touch()
    log = read(path)
    assert (log.lines, log.occurrences, log.failure) == (0, [], "")


def test_expanding_folders(tmp_path: Path) -> None:
    for name in ("rank1.log", "rank0.log", "sub/rank2.log", ".git/HEAD", "train.py", "model.safetensors"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n")
    (tmp_path / "library.log").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    sources, failures = expand([str(tmp_path)])
    names = [str(Path(each.path).relative_to(tmp_path)) for each in sources]
    assert names == ["rank0.log", "rank1.log", "sub/rank2.log"]
    assert [Path(each.path).name for each in failures] == ["dangling"]


def test_expanding_globs_and_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x")
    (tmp_path / "b.log").write_text("x")
    sources, failures = expand([str(tmp_path / "*.log"), str(tmp_path / "a.log"), "-", "-"])
    assert [Path(each.path).name for each in sources] == ["a.log", "b.log", "-"]
    assert failures == []
    (tmp_path / "none").mkdir()
    sources, failures = expand([str(tmp_path / "*.txt"), str(tmp_path / "missing"), str(tmp_path / "none"), "nul\0l"])
    assert sources == []
    assert [failure.text for failure in failures][:3] == [
        "No file matches this pattern.",
        "No such file or folder.",
        "This folder holds no log.",
    ]
    assert len(failures) == 4


def test_what_may_not_be_read_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "gone.log"
    assert read_log(Source(path=str(path)), MATCHER).failure == "No such file or folder."
    assert "folder" in read_log(Source(path=str(tmp_path)), MATCHER).failure

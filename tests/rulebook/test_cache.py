"""The cache of compiled books: whole or nothing, whatever happens to its files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from widget import CAUSE, write_rules

from doctor.rulebook.book import Rulebook
from doctor.rulebook.cache import Cache, default_folder, digest_of
from doctor.rulebook.loader import compile_layers, load_rulebook
from doctor.rulebook.source import Layer, read_layer

DIGEST = "ab" * 20
ROOT = Path(__file__).parents[2]


@pytest.fixture
def book(tmp_path: Path) -> Rulebook:
    return compile_layers([read_layer(write_rules(tmp_path / "rules"))])


@pytest.fixture
def stored(tmp_path: Path, book: Rulebook) -> Path:
    Cache(tmp_path / "cache").write(DIGEST, book)
    return next((tmp_path / "cache").glob("book-*"))


def test_a_book_comes_back_whole(tmp_path: Path, stored: Path, book: Rulebook) -> None:
    assert Cache(tmp_path / "cache").read(DIGEST) == book
    assert not list((tmp_path / "cache").glob(".book-*"))
    assert Cache(tmp_path / "cache").read("cd" * 20) is None


def test_any_flipped_byte_is_noticed(tmp_path: Path, stored: Path) -> None:
    content = stored.read_bytes()
    cache = Cache(tmp_path / "cache")
    for at in [*range(80), *range(80, len(content), 7), len(content) - 1]:
        stored.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert cache.read(DIGEST) is None, at
    for damaged in (b"", content[:10], content[: len(content) // 2], content[:-1], content + b"\0"):
        stored.write_bytes(damaged)
        assert cache.read(DIGEST) is None


def test_a_book_of_another_digest_is_not_taken(tmp_path: Path, stored: Path) -> None:
    stored.rename(stored.with_name(f"book-{'cd' * 20}.msgpack"))
    assert Cache(tmp_path / "cache").read("cd" * 20) is None


def test_files_that_others_can_write_are_not_trusted(tmp_path: Path, stored: Path, book: Rulebook) -> None:
    cache = Cache(tmp_path / "cache")
    stored.chmod(0o666)
    assert cache.read(DIGEST) is None
    stored.chmod(0o600)
    assert cache.read(DIGEST) == book
    link = stored.rename(tmp_path / "elsewhere")
    stored.symlink_to(link)
    assert cache.read(DIGEST) is None
    stored.unlink()
    os.mkfifo(stored)
    assert cache.read(DIGEST) is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_owner_is_not_trusted(tmp_path: Path, stored: Path) -> None:
    os.chown(stored, 12345, 12345)
    assert Cache(tmp_path / "cache").read(DIGEST) is None


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path, book: Rulebook) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    cache = Cache(blocker / "cache")
    cache.write(DIGEST, book)
    assert cache.read(DIGEST) is None
    assert Cache(None).read(DIGEST) is None


def test_old_books_are_dropped(tmp_path: Path, book: Rulebook) -> None:
    cache = Cache(tmp_path / "cache")
    for number in range(9):
        cache.write(f"{number:040x}", book)
    assert len(list((tmp_path / "cache").glob("book-*"))) == 6
    assert cache.read(f"{8:040x}") == book


def test_the_digest_follows_content_place_language_and_layer(tmp_path: Path) -> None:
    one = read_layer(write_rules(tmp_path / "one"))
    two = read_layer(write_rules(tmp_path / "two", {"causes/widget/demand.yaml": CAUSE + "\n"}))
    digests = [
        digest_of(layers, languages)
        for layers, languages in (
            ([one], ()),
            ([two], ()),
            ([one, two], ()),
            ([two, one], ()),
            ([one], ("zh",)),
            ([], ()),
        )
    ]
    assert len(set(digests)) == len(digests)
    split = Layer("x", one.files[:1]), Layer("y", one.files[1:])
    assert digest_of(split, ()) != digest_of([one], ())


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "llm-doctor"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_folder() == tmp_path / "home" / ".cache" / "llm-doctor"


LOAD = """
import sys
from pathlib import Path
from doctor.rulebook.loader import load_rulebook
sizes = {len(load_rulebook(cache=Path(sys.argv[1])).signatures) for _ in range(int(sys.argv[2]))}
print(sizes, "yaml" in sys.modules)
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", LOAD, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_two_processes_at_once_and_no_yaml_on_a_hit(tmp_path: Path) -> None:
    both = [start(str(tmp_path / "cache"), "5"), start(str(tmp_path / "cache"), "5")]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    expected = len(load_rulebook(cache=None).signatures)
    assert all(text.startswith(f"{{{expected}}}") for text in said)
    assert start(str(tmp_path / "cache"), "1").communicate(timeout=120)[0].strip() == f"{{{expected}}} False"

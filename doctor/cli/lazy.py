"""A group of commands that imports a command only when it is called."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple, Optional

import click


class Entry(NamedTuple):
    """Where a command is defined, as ``module:attribute``, and its line in the group's help."""

    target: str
    summary: str


class Interrupted(Exception):  # noqa: N818 - no fault
    """The user stopped a command from the keyboard."""


class LazyGroup(click.Group):
    """A click group over a table of entries. Its own help imports none of them."""

    def __init__(self, *args: Any, entries: dict[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        """Import and return one command, or None where the table has no such name."""
        del ctx
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, attribute = entry.target.split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would answer Ctrl-C with a line of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.entries.items()])

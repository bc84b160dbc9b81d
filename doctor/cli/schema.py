"""``llm-doctor schema``: what programs that read our documents may rely on."""

from __future__ import annotations

import click

from doctor.report.console import emit_data
from doctor.report.exit_code import ExitCode


@click.command()
@click.argument("document", type=click.Choice(("scan",)))
def schema(document: str) -> int:
    """Print the JSON Schema of a document."""
    from doctor.report.json import schema_of

    emit_data(schema_of(document))
    return ExitCode.OK

"""`gpusearch doctor`: what the installation has, what it lacks, and what to install."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Check the environment: packages, GPU, kenlm, compiler, cache, cores and memory.

    Ends with exit code 1 where something is missing that decoding needs.
    """
    from gpusearch.environment import examine

    complete = True
    for finding in examine():
        complete = complete and finding.state != "missing"
        if as_json:
            typer.echo(json.dumps(finding.as_dict(), ensure_ascii=False))
            continue
        typer.echo(f"{finding.state:9}{finding.name:14}{finding.detail}")
        if finding.state != "ok" and finding.advice:
            indent = " " * 23
            typer.echo(textwrap.fill(finding.advice, 100, initial_indent=indent, subsequent_indent=indent))
    if not complete:
        raise typer.Exit(1)

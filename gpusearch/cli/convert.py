"""`gpusearch convert`: configurations of Moses and Docent, both ways."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """Forms of a configuration."""

    TOML = "model.toml"
    MOSES = "moses.ini"
    DOCENT = "docent.xml"


def command(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="moses.ini, docent.xml or model.toml, by content.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where not given: standard output.")] = None,
    to: Annotated[Form, typer.Option(help="What to write.")] = Form.TOML,
    ignore: Annotated[bool, typer.Option("--ignore", help="Leave out what is not there, with a warning.")] = False,
) -> None:
    """Turn a configuration of Moses or Docent into a model.toml, or a model.toml into one of theirs.

    What the other side lacks is an error that names it and its line; with --ignore it is left out.
    """
    from gpusearch.config import load_config, to_toml
    from gpusearch.config.foreign.docent import read_docent
    from gpusearch.config.foreign.moses import read_moses
    from gpusearch.config.foreign.write_docent import to_docent
    from gpusearch.config.foreign.write_moses import to_moses
    from gpusearch.errors import InputError
    from gpusearch.io.files import check_outputs, replaced

    if str(source) == "-":
        raise InputError("no configuration on standard input", expected="a file, for its paths are relative to it")
    check_outputs([output], [source])
    form = _recognise(source)
    if form == Form.MOSES:
        config = read_moses(source, ignore=ignore)
    elif form == Form.DOCENT:
        config = read_docent(source, ignore=ignore)
    else:
        config = load_config(source)
    if to == Form.MOSES:
        text = to_moses(config, path=source, ignore=ignore)
    elif to == Form.DOCENT:
        text = to_docent(config, path=source, ignore=ignore)
    else:
        text = to_toml(config, folder=output.parent if output else None)
    if output is None:
        sys.stdout.write(text)
        return
    with replaced(output) as stream:
        stream.write(text.encode())


def _recognise(path: Path) -> Form:
    """What a file is: XML begins with ``<``; TOML is called so or has ``[[phrase_table]]``, as no `moses.ini` has."""
    from gpusearch.io.files import read_lines

    lines = [line.strip() for line in read_lines(path)]
    text = next((line for line in lines if line and not line.startswith("#")), "")
    if text.startswith("<"):
        return Form.DOCENT
    return Form.TOML if path.suffix == ".toml" or any(line.startswith("[[") for line in lines) else Form.MOSES

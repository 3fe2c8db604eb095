"""`gpusearch train-lsa`: the word space of a semantic document language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpusearch.cli.options import DocIds, Overrides, Quiet, check_has_use

if TYPE_CHECKING:
    from gpusearch.io.corpus import Corpus
    from gpusearch.text.processor import TextProcessor


def command(
    documents: Annotated[
        Path, typer.Argument(metavar="DOCUMENTS", help="Documents in the target language, in any form.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The space (npz).")],
    docids: DocIds = None,
    held_out: Annotated[
        Path | None,
        typer.Option(metavar="DOCUMENTS", help="Documents for the histogram; every tenth one where not given."),
    ] = None,
    held_out_docids: Annotated[Path | None, typer.Option(metavar="FILE", help="Document id of each of its lines.")] = (
        None
    ),
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="The text is raw, and is to be tokenised as this model's target; else blanks separate tokens.",
        ),
    ] = None,
    dimensions: Annotated[int, typer.Option(min=1, max=100, help="Of the space.")] = 30,
    history: Annotated[int, typer.Option(min=1, max=100, help="Words of the space that a word depends on.")] = 30,
    min_documents: Annotated[int, typer.Option(min=1, help="Words of the space are in so many documents.")] = 2,
    stop_words: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One a line. Where not given: the most widespread words.")
    ] = None,
    stop_share: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of tokens that are stop words; 0.6 where not given.")
    ] = None,
    unknown_probability: Annotated[float, typer.Option(help="Of a word that the training text lacks.")] = 1e-6,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Words are looked up in lower case.")] = False,
    overrides: Overrides = None,
    quiet: Quiet = False,
) -> None:
    """Train the space of a semantic document language model (Hardmeier et al. 2012) by latent semantic analysis."""
    from gpusearch.config import load_config
    from gpusearch.errors import InputError
    from gpusearch.features.semantic import save_space
    from gpusearch.io.documents import read_documents
    from gpusearch.io.files import check_outputs, read_lines
    from gpusearch.text import make_processor
    from gpusearch.text.processor import BlankProcessor
    from gpusearch.train.lsa import LsaSettings, train_lsa

    check_has_use("--held-out-docids", held_out_docids is not None, held_out is not None, "--held-out")
    check_has_use("--stop-share", stop_share is not None, stop_words is None, "no --stop-words")
    check_has_use("--set", bool(overrides), config is not None, "--config")
    if not 0 < unknown_probability <= 1:
        found = f"{unknown_probability:g}"
        raise InputError("no probability of unknown words", found=found, expected="above 0, at most 1")
    check_outputs([output], [documents, docids, held_out, held_out_docids, config, stop_words])
    processor = (
        BlankProcessor() if config is None else make_processor(load_config(config, overrides or []).text, "target")
    )
    training = _tokens(read_documents(documents, docids=docids), processor)
    kept = None if held_out is None else _tokens(read_documents(held_out, docids=held_out_docids), processor)
    listed = None if stop_words is None else [*read_lines(stop_words)]
    settings = LsaSettings(
        dimensions=dimensions,
        history=history,
        min_documents=min_documents,
        stop_share=LsaSettings.stop_share if stop_share is None else stop_share,
        unknown=unknown_probability,
        lowercase=lowercase,
    )
    space = train_lsa(training, kept, listed, settings)
    save_space(space, output)
    if not quiet:
        found = f"{len(training):,} documents; {len(space.content):,} words in {dimensions} dimensions"
        typer.echo(f"{found}; {len(space.stop):,} stop words", err=True)


def _tokens(corpus: Corpus, processor: TextProcessor) -> list[list[str]]:
    """All tokens of each document."""
    return [
        [token for segment in document.segments for token in processor.to_tokens(segment.source)]
        for document in corpus.documents
    ]

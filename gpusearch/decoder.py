"""A model that is loaded and translates documents: what the command `decode` and Python callers share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpusearch.config import Config, load_config, with_search
from gpusearch.errors import InputError
from gpusearch.features.load import with_features
from gpusearch.io.candidates import Candidate
from gpusearch.io.corpus import Corpus, Document, Segment
from gpusearch.model.model import Model, load_model
from gpusearch.prepared import Prepared, check_translated, prepare
from gpusearch.search.judged import served
from gpusearch.search.result import SearchResult, Status
from gpusearch.search.run import search_documents
from gpusearch.search.saved import Given, given_from_trace
from gpusearch.search.saved import load as load_saved
from gpusearch.search.signature import candidates_fingerprint, signature
from gpusearch.search.translation import SentenceTranslation
from gpusearch.text import make_processor
from gpusearch.text.fingerprint import fingerprint
from gpusearch.timing import Timer

Documents = Corpus | Sequence[Sequence[str]]
"""A corpus, or documents as lists of raw source segments."""


@dataclass
class Decoded:
    """Documents with their translations."""

    corpus: Corpus
    texts: list[list[str]]
    """``texts[document][segment]``: raw text."""
    result: SearchResult
    signature: str
    method: str
    """``search``, ``gibbs`` or ``beam``."""
    n_best_texts: list[list[list[str]]]
    """``n_best_texts[document][n][segment]``: raw text of the translations asked for with `n_best`."""
    sentence_n_best_texts: list[list[list[str]]] = field(default_factory=list)
    """``[document][segment][n]``: those of the beam by itself."""

    @property
    def score(self) -> float:
        """Sum over all documents, nats."""
        return sum(document.best.score for document in self.result.documents)


class Decoder:
    """A model with its settings, ready to translate.

    >>> import gpusearch
    >>> decoder = gpusearch.load("tests/data/tiny/model.toml")
    >>> decoded = decoder.decode([["la maison bleue", "une maison"]], chains=8)
    >>> decoded.texts
    [['the blue house', 'a house']]
    """

    def __init__(self, config: Config, *, timer: Timer | None = None) -> None:
        self.config = config
        self.timer = timer or Timer()
        with self.timer.measure("load"):
            self.source = make_processor(config.text, "source")
            self.target = make_processor(config.text, "target")
            self._text_fingerprint = fingerprint(config.text)
            self.model: Model = with_features(load_model(config), config)

    def prepare(self, corpus: Corpus, candidates: Sequence[Candidate] = ()) -> Prepared:
        """Source tokens, and the translations that the input gives or forbids.

        Raises:
            InputError: mark-up, constraints or candidates that mean nothing; nothing that could translate a word.
        """
        prepared = prepare(corpus, self.config.text, self.source, self.target, candidates, self.config.candidates)
        if not self.config.phrase_table:
            check_translated(prepared, corpus)
        return prepared

    def tokens(self, corpus: Corpus) -> list[list[list[str]]]:
        """Source tokens: ``[document][segment]``."""
        return self.prepare(corpus).tokens

    def decode(
        self,
        documents: Documents,
        *,
        candidates: Sequence[Candidate] = (),
        n_best: int = 0,
        list_size: int = 0,
        distinct: bool = False,
        keep_chains: bool = False,
        trace: bool = False,
        lattices: bool = False,
        status: Status | None = None,
        **settings: Any,
    ) -> Decoded:
        """Translate documents.

        Args:
            documents: a corpus, or lists of raw source segments.
            candidates: translations of whole segments by other systems; `[candidates]` weighs their scores.
            n_best: how many of the chains' final states to describe as well (``method = "beam"``: of the best
                derivations of each sentence).
            list_size: how many derivations of each sentence to list.
            distinct: of different words, in either.
            keep_chains: keep all chains' phrases, as `gpusearch.search.saved.save` writes them.
            trace: write down all chains' scores at powers of two of the steps.
            lattices: keep the search graphs of ``method = "beam"``.
            status: told about progress.
            settings: keys of the `[search]` group for this call, e.g. ``chains=64, steps_per_word=200``.

        Raises:
            InputError: unknown settings or values; documents that cannot be translated.
        """
        corpus = documents if isinstance(documents, Corpus) else _corpus(documents)
        config = served(self.model, with_search(self.config, settings))
        if settings.get("initial_file") is not None and config.search.initial not in ("file", "saved"):
            found = f"initial = {config.search.initial}"
            raise InputError("initial_file would have no effect", found=found, expected="initial = file or saved")
        with self.timer.measure("text"):
            prepared = self.prepare(corpus, candidates)
        tokens = prepared.tokens
        ids = [document.id for document in corpus.documents]
        given = self.first_translations(config, tokens)
        shaping = {
            "start": given.fingerprint() if given else None,
            "candidates": candidates_fingerprint(candidates, config.candidates.weights),
            "text": self._text_fingerprint,
        }
        result = search_documents(
            self.model,
            config,
            tokens,
            ids,
            given=given,
            constraints=prepared.constraints,
            n_best_size=n_best,
            list_size=list_size,
            distinct=distinct,
            keep_chains=keep_chains,
            trace=trace,
            lattices=lattices,
            timer=self.timer,
            status=status,
        )
        with self.timer.measure("output"):
            texts = [self.texts(prepared, d, found.best.sentences) for d, found in enumerate(result.documents)]
            n_best_texts = [
                [self.texts(prepared, d, one.sentences) for one in found.n_best]
                for d, found in enumerate(result.documents)
            ]
            sentence_n_best_texts = [
                [
                    [self._text(prepared, (d, s), one.words) for one in several]
                    for s, several in enumerate(found.sentence_n_best)
                ]
                for d, found in enumerate(result.documents)
            ]
        run = signature(config, self.model, result, shaping)
        return Decoded(corpus, texts, result, run, config.search.method, n_best_texts, sentence_n_best_texts)

    def texts(self, prepared: Prepared, document: int, sentences: Sequence[SentenceTranslation]) -> list[str]:
        """Raw text of a document's translation, a segment each."""
        return [self._text(prepared, (document, s), sentence.words) for s, sentence in enumerate(sentences)]

    def _text(self, prepared: Prepared, place: tuple[int, int], words: Sequence[str]) -> str:
        """Raw text of a segment's translation: as it was given, where it was given as a whole."""
        written = prepared.written.get(place, {}).get(tuple(words))
        return self.target.to_text(words, prepared.plain[place[0]][place[1]]) if written is None else written

    def first_translations(self, config: Config, tokens: list[list[list[str]]]) -> Given | None:
        """Those of ``initial = "file"`` or ``"saved"``, for documents of source tokens; else None.

        Raises:
            InputError: a file that is missing, or is of other documents.
        """
        file = config.search.initial_file
        if file is None or config.search.initial not in ("file", "saved"):
            return None
        if config.search.initial == "file":
            return given_from_trace(file, tokens)
        return load_saved(file, tokens, config.search.chains)


def _corpus(documents: Iterable[Sequence[str]]) -> Corpus:
    lists = []
    for document in documents:
        texts = [document] if isinstance(document, str) else [*document]
        if isinstance(document, str) or not all(isinstance(text, str) for text in texts):
            raise InputError(
                "no document", found=repr(document), expected="documents as lists of raw segments: [['a text']]"
            )
        lists.append(Document(None, [Segment(text) for text in texts]))
    return Corpus(lists, "text")


def load(path: str | Path = "model.toml", overrides: Sequence[str] = (), *, timer: Timer | None = None) -> Decoder:
    """Load a model: a TOML file as `gpusearch train` writes it.

    Args:
        path: the file; its paths are relative to it.
        overrides: ``group.key=value``, as the option --set of all commands.

    Raises:
        InputError: a file that is missing or faulty.
    """
    return Decoder(load_config(path, overrides), timer=timer)

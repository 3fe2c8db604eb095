"""Back-off language models: read from ARPA, kept as an automaton, asked in batches. Values are natural logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusearch.cores import usable_cores
from gpusearch.errors import InputError
from gpusearch.io.arpa import Arpa, read_arpa
from gpusearch.io.compiled import Bundle, through_cache
from gpusearch.io.sequences import Sequences, Vocabulary
from gpusearch.kernels import records
from gpusearch.kernels.language_model import bound_phrases_cpu, score_rows_cpu
from gpusearch.kernels.records import Language
from gpusearch.model.automaton import UNIT, build_automaton, set_extremes

# What KenLM takes for a model that does not say how likely an unknown word is.
LOG10_OF_MISSING_UNKNOWN = -100.0
# Raised whenever the arrays of an automaton come to mean something else.
LAYOUT = 1


class PhraseBounds(NamedTuple):
    """What a language model says about options O before their context is known; 2^-20 nat."""

    word_bound: NDArray[np.int32]
    """[T] for each word the greatest value (least: negative weight) given the words of its option before it."""
    estimate: NDArray[np.int64]
    """[O] value of the option's words with nothing on their left, as Moses estimates options."""
    open: NDArray[np.int32]
    """[O] state behind the option where words on its left may still reach into it, else -1."""


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A back-off language model as an automaton in a hash table.

    Attributes:
        vocabulary: words by id; a word that it lacks counts as `unknown`.
        language: the record that kernels read, this model alone in it, with weight 1.
        unknown: id of <unk>.
        largest_value: no value of a word, and no bound, is further from 0 than this: 2^-20 nat.
        sign: 1 where `language` holds upper bounds of values, -1 where it holds lower ones.
    """

    vocabulary: Vocabulary
    language: Language
    unknown: int
    largest_value: int
    sign: int = 1

    @classmethod
    def from_arpa(cls, source: Arpa | str | Path, *, weight: float = 1.0, cache: bool = True) -> LanguageModel:
        """The model of an ARPA file, or of one that was read.

        As KenLM does, a model without <unk> gives unknown words a probability of 10^-100, and <UNK> serves as <unk>.

        Args:
            source: a file (plain, .gz, .bz2, .xz; orders 1 to 9) or the n-grams.
            weight: what values will be multiplied with: bounds are upper ones, or lower ones where it is negative.
            cache: keep the automaton beside the file and use it (see :mod:`gpusearch.io.compiled`).

        Raises:
            InputError: a file that cannot be read (see `read_arpa`), a model without <s> or </s>, figures out of range.
        """
        sign = -1 if weight < 0 else 1
        if isinstance(source, Arpa):
            model = _from_bundle(_compile(source, None))
        elif cache:
            model = through_cache(
                source,
                "automaton",
                {"layout": LAYOUT},
                lambda: _compile(read_arpa(source, cache=False), source),
                _from_bundle,
            )
        else:
            model = _from_bundle(_compile(read_arpa(source, cache=False), source))
        return model if sign == 1 else model.with_lower_bounds()

    def with_lower_bounds(self) -> LanguageModel:
        """The model with lower bounds of values, as a negative weight needs them; shares all but the bounds."""
        language = self.language._replace(extreme=self.language.extreme.copy(), state=self.language.state.copy())
        set_extremes(language, -1)
        return LanguageModel(self.vocabulary, language, self.unknown, self.largest_value, -1)

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return int(self.language.info[0, records.LM_ORDER])

    @property
    def begin(self) -> int:
        """Id of <s>."""
        return int(self.vocabulary.find(["<s>"])[0])

    @property
    def end(self) -> int:
        """Id of </s>."""
        return int(self.language.info[0, records.LM_END])

    def index(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Ids of words, int32[n]; those that the model does not know get the id of <unk>."""
        ids = self.vocabulary.find(words)
        return np.where(ids < 0, np.int32(self.unknown), ids)

    def score(
        self, ids: ArrayLike, lengths: ArrayLike, *, bos: bool = True, eos: bool = True, threads: int | None = None
    ) -> NDArray[np.float64]:
        """ln P of sentences, float64 (N,).

        Args:
            ids: word ids, (N, W), what is behind a sentence's length is not looked at; see `index`.
            lengths: words of each sentence, (N,).
            bos: the sentences begin with <s> as context (of no score itself); else nothing is known on their left.
            eos: </s> counts as a last word.
            threads: how many to use; by default as many as there are cores.

        Raises:
            ValueError: shapes that do not fit, lengths above W, ids outside the vocabulary.
        """
        return self._score(ids, lengths, bos, eos, threads).sum(axis=1, dtype=np.int64) / UNIT

    def score_texts(
        self, texts: Sequence[Sequence[str]], *, eos: bool = True, threads: int | None = None
    ) -> NDArray[np.float64]:
        """`score` of texts as words."""
        lengths = np.array([len(text) for text in texts], np.int64)
        ids = np.zeros((len(texts), int(lengths.max(initial=0))), np.int32)
        ids[np.arange(ids.shape[1]) < lengths[:, None]] = self.index([word for text in texts for word in text])
        return self.score(ids, lengths, eos=eos, threads=threads)

    def score_words(
        self, ids: ArrayLike, lengths: ArrayLike, *, bos: bool = True, eos: bool = True, threads: int | None = None
    ) -> NDArray[np.float64]:
        """ln P of each word in its context, float64 (N, W + 1): </s> stands behind the last word; 0 is padding.

        The arguments are those of `score`.
        """
        return self._score(ids, lengths, bos, eos, threads) / UNIT

    def _score(
        self, ids: ArrayLike, lengths: ArrayLike, bos: bool, eos: bool, threads: int | None
    ) -> NDArray[np.int32]:
        words, count = self._checked(ids, lengths)
        values = np.zeros((len(words), words.shape[1] + 1), np.int32)

        def score_part(first: int, last: int) -> None:
            score_rows_cpu(self.language, 0, words, count, int(bos), int(eos), first, last, values)

        _in_parts(score_part, len(words), threads)
        return values

    def _checked(self, ids: ArrayLike, lengths: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        words = np.ascontiguousarray(ids, np.int32)
        count = np.ascontiguousarray(lengths, np.int64)
        if words.ndim != 2 or count.shape != words.shape[:1]:
            raise ValueError(f"ids of shape {words.shape}, lengths of shape {count.shape}, expected (N, W) and (N,)")
        if count.size and (count.min() < 0 or count.max() > words.shape[1]):
            raise ValueError(f"lengths from {count.min()} to {count.max()} in rows of {words.shape[1]} words")
        self._check_ids(words[np.arange(words.shape[1]) < count[:, None]])
        return words, count

    def _check_ids(self, ids: NDArray[np.int32]) -> None:
        if ids.size and (ids.min() < 0 or ids.max() >= len(self.vocabulary)):
            raise ValueError(f"word ids from {ids.min()} to {ids.max()} in a vocabulary of {len(self.vocabulary)}")

    def phrase_bounds(
        self, words: NDArray[np.int32], offsets: NDArray[np.int64], *, threads: int | None = None
    ) -> PhraseBounds:
        """Bounds and estimates of options that have the words ``words[offsets[o]:offsets[o + 1]]``."""
        words, offsets = np.ascontiguousarray(words, np.int32), np.ascontiguousarray(offsets, np.int64)
        self._check_ids(words)
        options = len(offsets) - 1
        bounds = PhraseBounds(np.zeros(len(words), np.int32), np.zeros(options, np.int64), np.zeros(options, np.int32))

        def bound_part(first: int, last: int) -> None:
            bound_phrases_cpu(self.language, 0, offsets, words, first, last, *bounds)

        _in_parts(bound_part, options, threads)
        return bounds


def _in_parts(work: Any, count: int, threads: int | None) -> None:
    """Run ``work(first, last)`` over ``range(count)``; kernels release the GIL."""
    threads = max(1, min(threads or usable_cores(), count // 1024))
    if threads == 1:
        work(0, count)
        return
    borders = [count * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, *part) for part in pairwise(borders)]:
            done.result()


def _compile(arpa: Arpa, path: str | Path | None) -> Bundle:
    """The arrays of a model with upper bounds."""
    words = list(arpa.vocabulary)
    for word in ("<s>", "</s>"):
        if word not in arpa.vocabulary:
            raise InputError(
                f"the language model has no {word}",
                path=path,
                expected=f"{word} among its unigrams",
                hint="it was not trained on sentences: train it with sentence borders",
            )
    ids, probabilities, backoffs = list(arpa.ids), list(arpa.log10_probability), list(arpa.log10_backoff)
    unknown = next((word for word in ("<unk>", "<UNK>") if word in arpa.vocabulary), None)
    if unknown is None:
        unknown = "<unk>"
        words.append(unknown)
        ids[0] = np.arange(len(words), dtype=np.int32)[:, None]
        probabilities[0] = np.append(probabilities[0], np.float32(LOG10_OF_MISSING_UNKNOWN))
        backoffs[0] = np.append(backoffs[0], np.float32(0))
    vocabulary = Vocabulary.from_words(words)
    unknown_id, begin, end = vocabulary.find([unknown, "<s>", "</s>"]).tolist()
    automaton = build_automaton(len(words), ids, probabilities, backoffs, begin=begin, end=end)
    return Bundle(
        {**automaton.language._asdict(), **vocabulary.sequences.arrays("vocabulary")},
        {"unknown": unknown_id, "largest_value": automaton.largest_value},
    )


def _from_bundle(bundle: Bundle) -> LanguageModel:
    # Compiled kernels take arrays that can be written to; those from a file cannot.
    arrays = [bundle.arrays[name] for name in Language._fields]
    language = Language(*(array if array.flags.writeable else array.copy() for array in arrays))
    info = language.info
    if info.shape != (1, records.LM_INFO) or len(language.slot) != (
        info[0, records.LM_VOCABULARY] + records.LM_GROUP_SLOTS * info[0, records.LM_GROUPS]
    ):
        raise ValueError("arrays of a language model that do not fit together")
    vocabulary = Vocabulary(Sequences.from_arrays(bundle.arrays, "vocabulary"))
    return LanguageModel(vocabulary, language, bundle.attributes["unknown"], bundle.attributes["largest_value"])


def join_language_models(models: Sequence[LanguageModel], weights: Sequence[int]) -> Language:
    """One record of several models, for kernels; a single model's large arrays are shared, not copied.

    Args:
        models: at least one, each with bounds for the sign of its weight.
        weights: of each, in units of 2^-20.

    Raises:
        ValueError: bounds of the wrong sign.
    """
    for model, weight in zip(models, weights, strict=True):
        if weight and (weight > 0) != (model.sign > 0):
            raise ValueError(f"bounds of sign {model.sign} with a weight of {weight / UNIT:g}")
    info = np.concatenate([model.language.info for model in models])
    info[:, records.LM_WEIGHT] = weights
    fields = [Language._fields.index(name) for name in ("slot", "tag", "state")]
    for field, column in zip(
        fields, (records.LM_FIRST_SLOT, records.LM_FIRST_GROUP, records.LM_FIRST_STATE), strict=True
    ):
        sizes = [len(model.language[field]) for model in models]
        info[:, column] = np.cumsum([0, *sizes[:-1]])
    if len(models) == 1:
        return models[0].language._replace(info=info)
    arrays = zip(*(model.language[1:] for model in models), strict=True)
    return Language(info, *(np.concatenate(parts) for parts in arrays))


def on_device(language: Language, device: Any) -> Language:
    """The record as torch tensors on a device; on the CPU they share the memory of the arrays."""
    import torch

    return Language(*(torch.from_numpy(array).to(device) for array in language))

"""Sweeps as a policy and as the last step of a search: certificates that hold, and translations that are no worse."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpusearch
from gpusearch.cli.decoded import report, tally_table
from gpusearch.errors import InputError
from gpusearch.kernels import reference
from gpusearch.kernels.reference_neighbours import neighbours
from gpusearch.kernels.target import exact
from gpusearch.model.problem import Batch, build_problem
from gpusearch.search.enumeration import derivations
from gpusearch.search.run import search_settings
from gpusearch.search.translation import SentenceTranslation
from tests.tiny import copy_tiny

DOCUMENTS = [["la maison bleue", "une maison", ""], ["une petite maison bleue"]]


@pytest.mark.parametrize("settings", [{"policy": "sweep", "chains": 2}, {"chains": 1, "steps_per_word": 1}])
def test_certified_translations_have_no_better_neighbour(tmp_path: Path, settings: dict[str, object]) -> None:
    """One full evaluation for each neighbour, and as many of them as the certificate says."""
    decoder = gpusearch.load(copy_tiny(tmp_path))
    decoded = decoder.decode(DOCUMENTS, final_sweep=True, **settings)
    tokens = [[sentence.split() for sentence in document] for document in DOCUMENTS]
    for document, found in zip(tokens, decoded.result.documents, strict=True):
        batch = build_problem(decoder.model, [document], search=decoder.config.search, units="sentence")
        problem, search = exact(batch.problem), exact(search_settings(decoder.config, decoder.model, batch))
        certified = iter(found.neighbours.tolist())
        for number, sentence in enumerate(document):
            if not sentence:
                continue
            phrases = _options(batch, number, found.best.sentences[number])
            score = reference.full(problem, search, [phrases]).score
            around = [reference.full(problem, search, [n]).score for n in neighbours(problem, search, number, phrases)]
            assert max(around) == score
            assert next(certified) == len(around) - 1
        assert next(certified, None) is None


def test_short_sentences_end_in_their_best_derivation(tmp_path: Path) -> None:
    """Of sentences whose neighbourhood holds every derivation, by enumeration."""
    decoder = gpusearch.load(copy_tiny(tmp_path))
    for sentence in ("maison bleue", "une maison", "la maison bleue"):
        decoded = decoder.decode([[sentence]], policy="sweep", chains=1)
        batch = build_problem(decoder.model, [[sentence.split()]], search=decoder.config.search, units="sentence")
        search = search_settings(decoder.config, decoder.model, batch)
        best = max(score for score, _ in derivations(batch.problem, search, 0))
        assert decoded.score == pytest.approx(best / 2**40, abs=1e-4)


def test_the_final_sweep_makes_no_translation_worse(tmp_path: Path) -> None:
    decoder = gpusearch.load(copy_tiny(tmp_path))
    settings = {"chains": 1, "steps_per_word": 2}
    before, after = decoder.decode(DOCUMENTS, **settings), decoder.decode(DOCUMENTS, **settings, final_sweep=True)
    assert after.score >= before.score
    assert not any(found.neighbours.any() for found in before.result.documents)
    assert all((found.neighbours > 0).all() for found in after.result.documents)
    assert "final_sweep:True" in after.signature


def test_a_certificate_names_its_neighbourhood_and_its_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decoder = gpusearch.load(copy_tiny(tmp_path))
    decoded = decoder.decode(DOCUMENTS, chains=1, steps_per_word=2, final_sweep=True)
    report(decoded, "")
    (line,) = [row for row in capsys.readouterr().err.split("\n") if row.startswith("local optima: ")]
    size = sum(int(found.neighbours.sum()) for found in decoded.result.documents)
    assert f"3 of 3 units, none of whose {size:,} neighbours scores higher" in line
    assert "(blocks of up to 3 phrases and 7 source words cut anew, exchanges of neighbouring blocks, swaps of" in line
    report(decoder.decode(DOCUMENTS, chains=1, steps_per_word=2), "")
    assert "local optima" not in capsys.readouterr().err


def test_the_table_of_steps_names_groups_of_neighbours(tmp_path: Path) -> None:
    decoder = gpusearch.load(copy_tiny(tmp_path))
    table = tally_table(decoder.decode(DOCUMENTS, policy="sweep", chains=1)).split("\n")
    assert [row.split()[0] for row in table[1:]] == ["blocks", "exchanges", "swaps", "insertions", "all"]
    table = tally_table(decoder.decode(DOCUMENTS, chains=1)).split("\n")
    assert [row.split()[0] for row in table[1:]] == ["change", "swap", "resegment", "all"]


def test_docent_does_not_sweep(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="hill climbing"):
        gpusearch.load(copy_tiny(tmp_path), ["search.compat=docent", "search.policy=sweep"])


def _options(batch: Batch, number: int, sentence: SentenceTranslation) -> list[int]:
    """The options of a sentence that is described by its spans and words."""
    found = []
    for phrase in sentence.phrases:
        same = [
            option
            for option in range(len(batch.options))
            if batch.options.span_of(option) == (phrase.start, phrase.stop)
            and tuple(batch.options.target(option)) == phrase.words
            and batch.options.sentence(option) == number
        ]
        found.append(same[0])
    return found

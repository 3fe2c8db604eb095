"""The experiments of configs/arun2010, run small: what they write, and what must hold of it whatever the model."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import gpusearch
from configs.arun2010 import decoding, divergence, experiment, starts
from configs.arun2010.divergence import Translations
from configs.experiment import TestSet
from gpusearch.candidates.draws import Draws
from gpusearch.errors import InputError
from gpusearch.mbr.decide import Settings
from gpusearch.mbr.named import make_utility
from gpusearch.search.enumeration import enumerate_derivations
from tests.experiments import TEXTS, check_figure, rows_of, tables_of, write_test_set
from tests.tiny import TINY

SENTENCES = [line.split() for line in TEXTS["fr"].split("\n") if line]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A command line for the tiny model and three documents."""
    folder = write_test_set(tmp_path / "toy")
    return [str(folder), "-c", str(TINY), "-o", str(tmp_path / "out")]


def test_looks_are_powers_of_two_and_the_end() -> None:
    assert experiment.looks(1) == [1]
    assert experiment.looks(8) == [1, 2, 4, 8]
    assert experiment.looks(11) == [1, 2, 4, 8, 11]


def test_the_first_segments_of_documents_are_taken(arguments: list[str], tmp_path: Path) -> None:
    """Of each document, or of all of a split together."""
    decoder = gpusearch.load(TINY)
    folder = write_test_set(tmp_path / "toy", "dev")
    parser = experiment.make_parser("", chains=1, iterations=2, burn_in=0)
    references = TEXTS["en"].split("\n")
    given = parser.parse_args([*arguments, "--segments", "1"])
    assert TestSet(decoder, folder, given).references == [references[0], references[2], references[4]]
    given = parser.parse_args([*arguments, "--segments", "1", "--documents", "1"])
    dev = TestSet(decoder, folder, given, split="dev", segments=3)
    assert dev.references == references[:3] and dev.ids == ["a", "b"]


class TestDecoding:
    """Table I."""

    QUICK = ("--chains", "2", "--iterations", "30", "--burn-in", "5")

    def test_table(self, arguments: list[str], tmp_path: Path) -> None:
        """Differences are those of the BLEU scores, and lie within their intervals; the same samples give the same
        files."""
        out = tmp_path / "out"
        decoding.main([*arguments, *self.QUICK, "--scale", "1"])
        text = (out / "decoding.md").read_text(encoding="utf-8")
        assert "toy: 3 documents, 5 segments, 21 source tokens. Scale 1; 50 samples a segment: 2 chains" in text
        assert "nrefs:1|case:mixed|eff:no|tok:13a" in text.replace("nrefs:1|bs:1000|", "nrefs:1|")
        (table,) = tables_of(out / "decoding.md")
        assert [row[0] for row in table] == [decoding.BEAM_NAME, *decoding.RULES]
        assert table[0][2:] == [""] * 4
        for row in rows_of(out / "decoding.csv"):
            bleu, difference, low, high = (float(row[name]) for name in ("BLEU", "difference", "low", "high"))
            beam = float(rows_of(out / "decoding.csv")[0]["BLEU"])
            assert difference == pytest.approx(bleu - beam) and low <= difference <= high
        check_figure(out / "decoding.svg", "toy", *decoding.RULES)
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        decoding.main([*arguments, *self.QUICK, "--scale", "1"])
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before

    def test_cold_chains_decide_as_the_beam(self, arguments: list[str], tmp_path: Path) -> None:
        """Where the scale leaves all mass to the best derivation; where it is flat, they do not."""
        unlike = {}
        for scale in ("1000", "0.01"):
            decoding.main([*arguments, *self.QUICK, "--scale", scale])
            (table,) = tables_of(tmp_path / "out/decoding.md")
            unlike[scale] = [row[5] for row in table[1:]]
        assert unlike["1000"] == ["0"] * 3
        assert all(int(count) > 0 for count in unlike["0.01"])

    def test_the_scale_that_is_best_on_dev_is_taken(self, arguments: list[str], tmp_path: Path) -> None:
        write_test_set(tmp_path / "toy", "dev")
        decoding.main([*arguments, *self.QUICK, "--scale", "0.01", "1000", "0.1", "--tune", "4"])
        text = (tmp_path / "out/decoding.md").read_text(encoding="utf-8")
        tried, table = tables_of(tmp_path / "out/decoding.md")
        assert text.startswith("BLEU on the first 4 segments of dev of toy. Scale 1000 is taken.\n")
        assert [row[0] for row in tried] == ["0.01", "1000", "0.1"]
        assert max(tried, key=lambda row: float(row[-1]))[0] == "1000"
        assert "Scale 1000; 50 samples" in text and len(table) == 4
        assert [row["split"] for row in rows_of(tmp_path / "out/decoding.csv")] == ["dev"] * 9 + ["test"] * 4

    def test_rules_differ(self) -> None:
        """Most frequent derivation, most frequent translation, and the one that is most like all, worked by hand."""
        texts = ["a b c d e f"] * 3 + ["p q r s t u"] * 4 + ["a b c d e g"] * 2 + ["a b c d e h"] * 2
        derivations = np.array([0] * 3 + [1, 1, 2, 2] + [3, 3, 4, 4])
        draws = Draws(texts, np.zeros(len(texts)), derivations)
        chosen, count = decoding._decide(draws, make_utility(["bleu-add"]), 0, Settings())
        assert chosen == ["a b c d e f", "p q r s t u", "a b c d e f"] and count == 4


class TestDivergence:
    """Figure 6."""

    def test_it_falls_as_that_of_independent_draws(self, arguments: list[str], tmp_path: Path) -> None:
        divergence.main([*arguments, "--scale", "1", "--iterations", "1024", "--derivations", "200"])
        text = (tmp_path / "out/divergence.md").read_text(encoding="utf-8")
        (table,) = tables_of(tmp_path / "out/divergence.md")
        assert [row[0] for row in table] == [f"{1 << power:,}" for power in range(11)]
        for row in table:
            mean, low, high = map(float, row[1:4])
            assert low <= mean <= high
        first, *_, last = ([float(cell) for cell in row[1:]] for row in table)
        assert last[0] < first[0] / 20
        assert 0.5 * last[4] < last[3] < 2 * last[4], "of independent draws, by simulation and by formula"
        assert last[0] < 3 * last[3], "chains are not much worse"
        rows = rows_of(tmp_path / "out/divergence.csv")
        assert len(rows) == 2 * 8 * 11 and all(float(row["KL"]) >= 0 for row in rows)
        assert {row["run"] for row in rows} == {str(run) for run in range(1, 9)}
        check_figure(tmp_path / "out/divergence.svg", "toy", "iterations", "independent draws")
        assert text.startswith("toy: “") and "table limit" in text

    def test_it_does_not_fall_to_another_distribution(self) -> None:
        """Draws at one scale stay away from the distribution at another."""
        model = gpusearch.load(TINY).model
        found = enumerate_derivations(model, [SENTENCES[0]], 1000)
        translations = Translations.of(found, 1.0)
        probability = np.exp(translations.log_probability)
        draws = np.random.default_rng(1).choice(len(probability), size=1 << 14, p=probability)
        (right,) = translations.divergences(draws, [len(draws)])
        (wrong,) = Translations.of(found, 1.5).divergences(draws, [len(draws)])
        assert right < 0.01 < 5 * right < wrong

    def test_values_by_hand(self) -> None:
        found = Translations({}, np.log([0.5, 0.25, 0.25]))
        two, four = found.divergences(np.array([1, 1, 0, 2]), [2, 4])
        assert two == pytest.approx(np.log(4))
        assert four == pytest.approx(0.25 * np.log(0.5) + 0.5 * np.log(2) + 0.25 * np.log(1))

    def test_derivations_of_equal_words_are_one_translation(self) -> None:
        model = gpusearch.load(TINY).model
        found = enumerate_derivations(model, [["une", "maison"]], 1000)
        translations = Translations.of(found, 0.7)
        texts: dict[str, float] = {}
        target = found.batch.options.target
        for options, share in zip(found.states[0], found.posterior(0, 0.7), strict=True):
            text = " ".join(word for option in options for word in target(option))
            texts[text] = texts.get(text, 0.0) + share
        assert len(texts) < len(found.states[0])
        assert np.exp(translations.log_probability).tolist() == pytest.approx(list(texts.values()))

    def test_the_longest_sentence_that_has_few_derivations_is_taken(
        self, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        decoder = gpusearch.load(TINY)
        chosen = {most: divergence.longest(decoder.model, decoder.config, SENTENCES, most) for most in (2, 6, 100)}
        for most, sentence in chosen.items():
            few = [s for s in SENTENCES if self._fits(s, most)]
            assert sentence == max(few, key=len)
        assert len({len(sentence) for sentence in chosen.values()}) > 1
        assert len(divergence.longest(decoder.model, decoder.config, SENTENCES, 100, 20)) < len(chosen[100])
        with pytest.raises(InputError, match="no sentence has so few derivations"):
            divergence.longest(decoder.model, decoder.config, SENTENCES, 0)
        quick = ["--iterations", "4", "--chains", "2", "--scale", "1"]
        divergence.main([*arguments[1:], *quick, "--sentence", "une maison"])
        assert "sentence: “une maison”." in (tmp_path / "out/divergence.md").read_text(encoding="utf-8")
        for wrong in (arguments[1:], [*arguments, "--sentence", "une maison"]):
            with pytest.raises(SystemExit):
                divergence.main([*wrong, *quick])
            assert "give folders, or --sentence" in capsys.readouterr().err
        for no_metric in (divergence.main, starts.main):
            with pytest.raises(SystemExit):
                no_metric([*arguments, "--lowercase"])
            assert "unrecognized arguments: --lowercase" in capsys.readouterr().err

    @staticmethod
    def _fits(sentence: list[str], most: int) -> bool:
        try:
            enumerate_derivations(gpusearch.load(TINY).model, [sentence], most)
        except InputError:
            return False
        return True


class TestStarts:
    """Figure 7."""

    def test_starts_are_in_order_and_are_forgotten(self, arguments: list[str], tmp_path: Path) -> None:
        """What the beam finds is never below what it finds under more constraints; a chain's best score never falls,
        and is never below that of its most frequent derivation; in the end all starts come to the beam's score."""
        quick = ("--iterations", "264", "--burn-in", "8", "--scale", "5")
        starts.main([*arguments, *quick, "--chains", "2"])
        rows = rows_of(tmp_path / "out/starts.csv")
        curves: dict[tuple[str, str], dict[int, float]] = {}
        for row in rows:
            curves.setdefault((row["start"], row["kind"]), {})[int(row[starts.SAMPLES])] = float(row["score"])
        assert [name for name, kind in curves if kind == "best"] == ["full", "mono", "nolm", "zero"]
        begin = {name: curves[name, "best"][0] for name in ("full", "mono", "nolm", "zero")}
        assert begin["full"] >= begin["mono"] >= begin["nolm"] and begin["mono"] > begin["zero"]
        beam = gpusearch.load(TINY).decode([[line for line in TEXTS["fr"].split("\n") if line]], method="beam")
        assert begin["full"] == pytest.approx(beam.score / 5)
        for name in begin:
            frequent, best = curves[name, "most frequent"], curves[name, "best"]
            assert list(frequent) == list(best) == [0, *experiment.looks(256)]
            assert frequent[0] == best[0]
            behind = list(best.values())[1:]
            assert all(later >= earlier for earlier, later in pairwise(behind))
            assert all(best[size] >= frequent[size] for size in best)
            assert best[256] == pytest.approx(begin["full"], abs=1e-4)
        assert f"the beam's: {begin['full']:.3f}." in (tmp_path / "out/starts.md").read_text(encoding="utf-8")
        check_figure(tmp_path / "out/starts.svg", "toy: best", "toy: most frequent", "nolm", "beam")

    def test_scores_by_hand(self) -> None:
        """Chain 0 visits a, b, b, a (scores 1, 2); chain 1 c all the time (score 4): of equally frequent ones the best
        counts."""
        a, b, c = [0, -1], [1, -1], [1, 0]
        rows, score = np.array([[a, c], [b, c], [b, c], [a, c]], np.int32), np.array([[1.0, 2.0, 2.0, 1.0], [4.0] * 4])
        found = starts.scores_so_far(rows, score, [1, 2, 3, 4])
        assert found.tolist() == [[2.5, 3.0, 3.0, 3.0], [2.5, 3.0, 3.0, 3.0]]
        rows, score = np.array([[b, b], [a, a], [a, a]], np.int32), np.array([[2.0, 1.0, 1.0], [2.0, 1.0, 1.0]])
        found = starts.scores_so_far(rows, score, [1, 2, 3])
        assert found.tolist() == [[2.0, 2.0, 1.0], [2.0, 2.0, 2.0]]

"""Tags that are nested over a document: conflicts worked by hand, and those that kernels keep beside them."""

from __future__ import annotations

import pytest

from gpusearch.features.well_formedness import WellFormedness
from tests.features.documents import document
from tests.features.walks import walk


@pytest.mark.parametrize(
    ("sentences", "conflicts"),
    [
        (["[a] x [b] y [/b] [/a]"], 0),
        (["[a] x", "", "y", "z [/a]"], 0),  # across sentences
        (["[a] [a] [/a] [/a] [a] [/a]"], 0),
        (["[/a]"], 1),  # closes nothing
        (["[a]"], 1),  # nothing closes it
        (["[/a] [a]"], 2),  # the order counts, also from one sentence to the next
        (["[/a]", "[a]"], 2),
        (["[a] [b] [/a] [/b]"], 2),  # [/a] is passed over, [/b] closes [b], [a] stays open
        (["[a] [b] [/a]"], 3),  # [b] stands in the way of [/a], and both stay open
        (["[a] [/b] [/a]"], 1),
        (["[a] [/b]", "[/b] [/a]"], 2),
        (["[] [/] [ ] a] [a /a"], 0),  # no tags
        (["[A] [/a]"], 2),
        ([], 0),
    ],
)
def test_well_formedness(sentences: list[str], conflicts: int) -> None:
    """The conflicts of tags that are nested: worked by hand."""
    assert WellFormedness().value(document(*(f"s = {words}" if words else "" for words in sentences))) == -conflicts


def test_what_kernels_keep_is_the_value_of_the_text() -> None:
    """Tags that the model does not know are copied, and move with the words around them."""
    texts = (("[b] la [i] [/i] [/b]", "", "[b] bleue", "[/b]"), ("[] [/i]",))
    settings = ["features.tags={use='well-formedness', weights=-9}"]
    values = [(*kept, *of_text) for kept, of_text in walk(settings, 12, 15, texts)]
    assert all(kept == of_text for kept, of_text in values)
    assert {kept for kept, _ in values} == {0, -1, -2, -4}

"""What CONTRIBUTING.md and ARCHITECTURE.md say of all files holds for all files."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

FOLDERS = ("gpusearch", "kernels", "tests", "profiling", "configs")


def section(page: Path, first: str, last: str) -> str:
    """The text of a page from one mark to the next."""
    text = page.read_text(encoding="utf-8")
    return text[text.index(first) : text.index(last, text.index(first))]


def files_named(text: str) -> set[str]:
    """Files of the package between backticks, relative to its folder."""
    return set(re.findall(r"`([\w/]+\.py)`", text))


def files_that_call(repository: Path, holds: Callable[[ast.Call], bool]) -> set[str]:
    """Files of the package with such a call, relative to its folder."""
    folder = repository / "gpusearch"
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and holds(node)
    }


def test_files_are_no_longer_than_the_rules_say(repository: Path) -> None:
    (most,) = re.findall(r"(\d+) at most", section(repository / "CONTRIBUTING.md", "- One idea a file", "\n- "))
    files = [file for folder in FOLDERS for file in (repository / folder).rglob("*.py")]
    assert len(files) > 300
    assert [file for file in files if file.read_text(encoding="utf-8").count("\n") > int(most)] == []


def test_white_space_of_unicode_splits_where_the_rules_say(repository: Path) -> None:
    """`split` without a separator also splits at the no-break space, which may stand inside a token."""

    def splits(call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "split" and not call.args

    rule = section(repository / "CONTRIBUTING.md", "- Tokens and tables are split", "\n- ")
    assert files_that_call(repository, splits) == files_named(rule)


def test_numpy_draws_where_the_page_says(repository: Path) -> None:
    """All other draws are a function of seed, document, step and chain."""
    page = section(repository / "ARCHITECTURE.md", "## Randomness", "\n## Units")
    assert files_that_call(repository, lambda call: "default_rng" in ast.unparse(call.func)) == files_named(page)

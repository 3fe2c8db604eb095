"""Codes of languages (ISO 639), so that a name or a mistyped code is not taken for a language without rules."""

from __future__ import annotations

from gpusearch.errors import InputError


def language_code(text: str) -> str | None:
    """The code of two letters, or of three where there is no such one, that a tag such as `FR`, `fra` or `pt_BR` means;
    None where it means none."""
    from langcodes import Language, LanguageTagError  # a tenth of a second

    try:
        tag = Language.get(text)
    except LanguageTagError:
        return None
    return tag.language if text and tag.is_valid() else None


def check_language(code: str, name: str = "the language") -> None:
    """Refuse what is no code of a language.

    Args:
        name: of the setting, for the message.

    Raises:
        InputError: with the code that may be meant.
    """
    meant = language_code(code)
    if meant is None or code not in (meant, code[:2].lower()):  # tl is one, though fil is preferred
        raise InputError(
            f"{name} is no code of ISO 639",
            found=repr(code),
            expected="two letters, such as fr, or three for a language that has no two",
            hint=f"write {meant}" if meant else None,
        )

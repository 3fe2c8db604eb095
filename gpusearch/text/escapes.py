"""The escapes that Moses' tools write in place of characters with a meaning for them.

Nothing in this project needs them: a token may hold any character. They are read where text or tables come
from Moses' tools (``unescape = true``).
"""

from __future__ import annotations

import re

_MEANING = {
    "&amp;": "&",
    "&#124;": "|",
    "&bar;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&apos;": "'",
    "&quot;": '"',
    "&#91;": "[",
    "&bra;": "[",
    "&#93;": "]",
    "&ket;": "]",
}
_ESCAPE = re.compile("|".join(map(re.escape, _MEANING)))


def unescape(text: str) -> str:
    """Undo Moses' escapes: ``&amp; &#124; &lt; &gt; &apos; &quot; &#91; &#93;``, once ``&bar; &bra; &ket;``.

    One pass from the left: ``&amp;lt;`` becomes ``&lt;``, the text it was made from. All else stays as it is.
    """
    if "&" not in text:
        return text
    return _ESCAPE.sub(lambda match: _MEANING[match[0]], text)

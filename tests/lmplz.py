"""The mark of tests that need KenLM's `lmplz`, an oracle that few machines have; its recorded output is in parity/."""

from __future__ import annotations

import shutil

import pytest

NEEDS_LMPLZ = pytest.mark.skipif(shutil.which("lmplz") is None, reason="no lmplz on the PATH")

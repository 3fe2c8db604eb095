"""Code that users write: finding ``module:object``, and saying where it is what a call of it has raised."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Any

from gpusearch.errors import GpusearchError, InputError


def find(use: str) -> Any:
    """The object that ``module:object`` names. Modules are looked for in the working folder as well.

    Raises:
        InputError: no such module or object, or an error while the module was imported.
    """
    module, _, name = use.partition(":")
    if "" in (*module.split("."), *name.split(".")):
        raise InputError("not the name of an object", found=repr(use), expected="module:object")
    try:
        with _working_folder():
            found: Any = importlib.import_module(module)
    except ImportError as error:
        raise InputError(
            f"cannot import {module}",
            found=f"{type(error).__name__}: {error}",
            expected="a module in the working folder or on PYTHONPATH",
        ) from error
    except GpusearchError:
        raise
    except (Exception, SystemExit) as error:
        places = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).is_file()]
        raise failure(f"the import of {module}", error, places[-1].filename) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module} has no {name}", found=use)
        found = getattr(found, part)
    return found


@contextmanager
def _working_folder() -> Iterator[None]:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


@contextmanager
def calling(what: str, kind: Any) -> Iterator[None]:
    """While code of a user's class or function is at work; `what` names it, such as ``full of feature x``.

    Raises:
        InputError: anything that the code has raised, which stays its cause.
    """
    try:
        yield
    except GpusearchError:
        raise
    except (Exception, SystemExit) as error:  # one that ends the program would do so without a word
        module = sys.modules.get(getattr(kind, "__module__", ""))
        raise failure(what, error, getattr(module, "__file__", None)) from error


def failure(what: str, error: BaseException, file: str | None) -> InputError:
    """What is said of an exception; the line is the last one in `file` that led to it."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError):  # of a module, which has no frame yet
        file, lines = error.filename, [error.lineno]
    place: dict[str, Any] = {"path": file, "line": lines[-1]} if lines else {}
    return InputError(f"{what} fails", found=f"{type(error).__name__}: {error}", **place)

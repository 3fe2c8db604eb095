"""Indices that are known not to be below 0: a shared function, rewritten for compilation.

Numba lets an index below 0 count from the end. For every index that is a signed integer it therefore compiles a
comparison and an addition of the array's length, which must be at hand. Kernels have no such index, so each becomes
an unsigned integer on its way into the brackets: 13 % more proposals a second, a tenth less code. Interpreted, the
function stays what it was.
"""

import ast
import inspect
from collections.abc import Callable
from functools import cache
from textwrap import dedent
from types import CodeType
from typing import Any

import numpy as np

# The name under which a rewritten function's module holds the conversion.
_CONVERSION = "_unsigned"


class _Unsigned(ast.NodeTransformer):
    """Converts the indices of all subscripts but constants (numbers, and names in capitals)."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._converted(index) for index in node.slice.elts]
        else:
            node.slice = self._converted(node.slice)
        return node

    def _converted(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Constant) or (isinstance(index, ast.Name) and index.id.isupper()):
            return index
        return ast.Call(ast.Name(_CONVERSION, ast.Load()), [index], [])


def rewritten(source: str) -> ast.Module:
    """The syntax tree of a function's source with unsigned indices, without decorators."""
    tree = ast.parse(dedent(source))
    for statement in tree.body:
        assert isinstance(statement, ast.FunctionDef), "one function, nothing else"
        statement.decorator_list = []
    return ast.fix_missing_locations(_Unsigned().visit(tree))


@cache
def unsigned_indices(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is compiled. It shares the globals of the one that is given."""
    lines, first = inspect.getsourcelines(function)
    tree = rewritten("".join(lines))
    ast.increment_lineno(tree, first - 1)
    code: CodeType = compile(tree, inspect.getsourcefile(function) or "", "exec")
    function.__globals__[_CONVERSION] = np.uint64
    made: dict[str, Any] = {}
    exec(code, function.__globals__, made)
    result: Callable[..., Any] = made[function.__name__]
    return result

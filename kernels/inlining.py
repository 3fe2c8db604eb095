"""Compilation of what is inlined into drivers for the CPU: no machine code, no optimisation of its own.

Numba compiles every function that an overload names for itself, with all that it calls, to machine code that nothing
ever runs here; and what a function calls is optimised again at each level above it. These functions are only linked:
the driver that they end in is optimised and compiled, once and as a whole.
"""

from typing import Any

from numba.core import cpu
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class LinkedLibrary(JITCodeLibrary):
    """The code of a function and of all that it calls, for drivers to take it in."""

    def finalize(self) -> None:
        """Put it together."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):
    """Lowering into a library that is only linked."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """See `numba.core.typed_passes.NativeLowering`."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        function, call_helper, _, environment = state["cr"]
        # Calls are found by this object; there is no code behind it.
        name = function.qualname.split(".")[-1]
        key = cpu._dynfunc.make_function(function.lookup_module(), name, "", 0, environment, (state.library,))
        state.targetctx.insert_user_function(key, function, [state.library])
        state["cr"] = _LowerResult(function, call_helper, cfunc=key, env=environment)
        return True


class InliningCompiler(CompilerBase):
    """Numba's compiler for functions that drivers inline."""

    def define_pipelines(self) -> list[Any]:
        """See `numba.core.compiler.CompilerBase`."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (LinkedLowering, why) if step is NativeLowering else (step, why) for step, why in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]

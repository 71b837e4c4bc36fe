"""Separate kernels: compiled by themselves and called by name.

Owns the changes to numba's compiler, for the one version that `decorators` allows. Must not know the engine.

numba copies the code of all callees into a function and optimises all of it again, so the top function would contain
the whole program. Callers of a separate kernel are linked with an empty module in its place; the name is resolved when
the code is loaded.
"""

from __future__ import annotations

import importlib
from functools import partial

from llvmlite.binding import Linkage, parse_assembly
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    InlineInlinables,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

from ..errors import LibraryError

# numba's passes, without those that no kernel needs: closures, `with`, object mode, parallel loops, array expressions,
# literal types.
PASSES = (
    TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, DeadBranchPrune, GenericRewrites,
    InlineInlinables, DeadBranchPrune, ReconstructSSA, DeadBranchPrune, NopythonTypeInference, PreLowerStripPhis,
    IRLegalization, NativeLowering, NoPythonBackend,
)  # fmt: skip


class Library(JITCodeLibrary):
    """Compiled code, without numba's first passes, which group reference counting in order to remove it: no kernel
    counts references."""

    def _optimize_functions(self, ll_module) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Merge what this code calls into it; of what stays a function, keep a copy that no other code is bound to.

        Copies of one function differ: what stands around it decides which sums and products are contracted. Were
        copies shared, the code loaded first would decide the last bits of the rest.
        """
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)
        self._copies = [each.name for each in self._final_module.functions if each.linkage == Linkage.linkonce_odr]
        for name in self._copies:
            self._final_module.get_function(name).linkage = Linkage.internal

    def _get_module_for_linking(self):
        """The code for its callers, in which what several of them need is linked once."""
        first = self._shared_module is None
        module = super()._get_module_for_linking()
        if first:
            for name in self._copies:
                module.get_function(name).linkage = Linkage.linkonce_odr
        return module


class Cache(FunctionCache):
    """Loads compiled functions without initialising numba's registries: numba would import everything it can compile,
    and scipy with it, which takes longer than all the rest."""

    def load_overload(self, types, context):
        with self._guard_against_spurious_io_errors():
            return self._load_overload(types, context)


class Flags(set):
    """Flags with the same text in every process, because they are part of a name."""

    def __str__(self) -> str:
        return str(sorted(self))


class SeparateCompiler(CompilerBase):
    """Names functions by their content, not by a running number: processes that share the cache call a separate kernel
    by that name."""

    def define_pipelines(self) -> list:
        state = self.state
        state.func_id.unique_id = 0
        state.flags.fastmath.flags = Flags(state.flags.fastmath.flags)
        state.library = Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        passes = PassManager("separate")
        for each in PASSES:
            passes.add_pass(each, each._name)
        passes.finalize()
        return [passes]


def keep_needs(dispatcher, apart: bool) -> None:
    """Make sure that code loaded from the cache finds the separate kernels it calls.

    numba stores with a compiled function what must be done before it is loaded, and passes it on to the function's
    callers. For a function that was itself loaded from the cache it forgets it.
    """
    add = dispatcher.add_overload
    name = dispatcher.py_func.__module__, dispatcher.py_func.__name__

    def add_overload(result) -> None:
        library = result.library
        library._reload_init.update(result.reload_init or ())
        if apart:
            library._shared_module = parse_assembly(str(library.codegen._create_empty_module(name[1])))
            library._reload_init = {partial(_load, *name, result.signature.args, result.fndesc.llvm_func_name)}
        add(result)

    dispatcher.add_overload = add_overload
    dispatcher.apart = apart


def _load(module: str, name: str, types: tuple, called: str) -> None:
    """Load a separate kernel from the cache, or compile it if it is not there."""
    function = getattr(importlib.import_module(module), name)
    function.compile(types)
    found = function.overloads[types].fndesc.llvm_func_name
    if found != called:  # calling it would crash the process
        folder = function.stats.cache_path
        raise LibraryError(f"Heft's compile cache does not fit together ('{name}'): empty the folder {folder}")

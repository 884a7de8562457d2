"""Having numba make machine code of entries only, and of nothing that they call.

numba makes a library of every function, has LLVM optimise it, twice, and turn it into machine code,
and links it, as it was before that, into the libraries of its callers. Only entries are ever run
from Python: what they call need only be there to be linked, and be optimised once. numba's first
time is for the counting of references, of which the second one spares as many.

This changes how numba goes about its work, in parts of it that may be others tomorrow. So it is
done in a process that does nothing but compile (``compiling_process.py``), and left alone where
numba is not as expected.

Rejected: to optimise what is called only there where it is called, or less thoroughly. That spares
as much again, but LLVM then makes other choices, and a batch took a fifth longer, or twice as long.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target


class _Library(JITCodeLibrary):
    """One that becomes machine code only if it is an entry's."""

    entries: Collection[str] = ()

    def _optimize_final_module(self) -> None:
        codegen: Any = self._codegen
        manager = codegen._module_pass_manager()
        if self.name in self.entries or not isinstance(manager, tuple):  # as in older versions
            super()._optimize_final_module()  # type: ignore[no-untyped-call]
            return
        passes, builder = manager
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        if self.name in self.entries:
            super()._finalize_final_module()  # type: ignore[no-untyped-call]
        else:
            self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
            self._finalized = True


def emit_entries_only(entries: Collection[str]) -> None:
    """From now on make machine code of entries alone, which are named as functions are."""
    codegen: Any = cpu_target.target_context.codegen()
    has_steps = hasattr(codegen, "_module_pass_manager") and all(
        hasattr(JITCodeLibrary, f"_{step}")
        for step in ("optimize_final_module", "finalize_final_module", "finalize_dynamic_globals")
    )
    if codegen._library_class is not JITCodeLibrary or not has_steps:
        return
    set_env, is_defined = codegen.set_env, codegen._engine.is_symbol_defined

    def set_env_if_defined(name: str, env: Any) -> None:
        if is_defined(name):
            set_env(name, env)

    _Library.entries = entries
    codegen._library_class, codegen.set_env = _Library, set_env_if_defined

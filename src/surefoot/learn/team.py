"""The booster's own OpenMP threads, lent to our gradients."""

import ctypes
import sys

from surefoot.kernels.lambdas import NO_TEAM

_LIBRARY = {"lightgbm": "lightgbm.basic", "xgboost": "xgboost.core"}
_found: dict[str, int] = {}


def booster_team(booster: str) -> int:
    """Address of the `GOMP_parallel` that the booster itself calls; 0 where there is none.

    Notes
    -----
    After each of its parallel loops the booster's threads spin for some milliseconds, waiting for
    the next. A custom objective runs just then: threads of our own would share the cores with
    them, and on two cores a third of the time is lost. GNU's OpenMP has a stable entry point; other
    runtimes (LLVM's on macOS) get threads of our own.
    """
    if booster not in _found:
        module = sys.modules.get(_LIBRARY[booster])
        if module is None:  # nobody trains with it in this process (yet)
            return NO_TEAM
        # a library's handle finds the symbols of what it was linked with
        enter = getattr(getattr(module, "_LIB", None), "GOMP_parallel", None)
        address = None if enter is None else ctypes.cast(enter, ctypes.c_void_p).value
        _found[booster] = NO_TEAM if address is None else address
    return _found[booster]

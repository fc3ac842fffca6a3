"""Linear algebra on one thread, so that draws do not depend on the number of cores.

OpenBLAS and MKL split products and factors among their threads, which moves the last bits; and the
arrays of the samplers are so small that threads gain nothing.
"""

from contextlib import AbstractContextManager
from typing import Any


def one_algebra_thread() -> AbstractContextManager[Any]:
    """Hold the linear algebra libraries that are loaded to one thread inside the context."""
    from threadpoolctl import threadpool_limits

    held: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return held

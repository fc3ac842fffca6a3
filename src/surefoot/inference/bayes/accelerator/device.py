"""One device of JAX, with the signatures of the compiled kernels."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.inference.bayes.accelerator.backend import jax, jnp
from surefoot.inference.bayes.accelerator.dense import dense
from surefoot.inference.bayes.accelerator.flight import Flight
from surefoot.inference.bayes.accelerator.laplace import laplace_program
from surefoot.inference.bayes.accelerator.replicates import replicate_program
from surefoot.inference.bayes.families import Problem
from surefoot.kernels.hierarchy import LaplaceDraws, Leaning, Observations
from surefoot.kernels.replicate import FAMILIES as REPLICATED
from surefoot.kernels.replicate import ReplicateSums

FloatArray = npt.NDArray[np.float64]


class Accelerator:
    """One device of JAX with the kernels that the engines need.

    Parameters
    ----------
    name : str
        ``gpu`` for the first graphics processor that JAX sees; ``jax-cpu`` for JAX on the CPU, to
        compare with.
    """

    def __init__(self, name: str) -> None:
        platform = "cpu" if name == "jax-cpu" else "gpu"
        try:
            self.device = jax.devices(platform)[0]
        except RuntimeError:
            raise ModelError(
                f"device {name}: JAX {jax.__version__} sees no GPU, only {jax.default_backend()}. "
                "Hint: pip install 'jax[cuda13]' on a machine with one, or --device cpu"
            ) from None
        kind = self.device.device_kind if platform == "gpu" else "CPU"
        self.label = f"{kind}, JAX"

    @contextmanager
    def active(self) -> Iterator[None]:
        """Double precision and this device for whatever runs inside."""
        with jax.enable_x64(True), jax.default_device(self.device):
            yield

    def run(self, program: Callable[..., Any], *arguments: Any) -> Any:
        """Call a program here; arrays of NumPy come back."""
        with self.active():
            return jax.tree.map(np.asarray, program(*arguments))

    def laplace(
        self,
        family: str,
        data: Observations,
        shape: FloatArray,
        prior: FloatArray,
        start: FloatArray,
        *,
        leaning: Leaning | None = None,
        max_steps: int = 50,
        tolerance: float = 1e-6,
        threads: int = 0,
    ) -> LaplaceDraws:
        """As `surefoot.kernels.hierarchy.laplace`; ``threads`` has no meaning here."""
        m = len(shape)
        rows = _padded(m, 16)
        if leaning is None:
            leaning = Leaning.nobody(m, data.size)
        n = len(leaning.z)
        draws = _padded(n, 256) if n else np.arange(0)
        of = np.repeat(np.arange(m), np.diff(leaning.edges))[draws]
        parts = (leaning.shape, leaning.prior, leaning.shift, leaning.z)
        found = self.run(
            laplace_program(family, data.fixed),
            *(dense(data), shape[rows], prior[rows], start[rows], max_steps, tolerance),
            (of, *(part[draws] for part in parts)),
        )
        return LaplaceDraws(*(part[:m] for part in found[:4]), *(part[:n] for part in found[4:]))

    def flight(self, problem: Problem, centring: tuple[float, float]) -> "Flight":
        """Trajectories in the sum-to-zero coordinates of a problem."""
        return Flight(self.run, problem, centring)

    def replicate_sums(
        self,
        family: str,
        system: FloatArray,
        topic: FloatArray,
        parameters: FloatArray,
        selected: npt.NDArray[np.int64],
        *,
        seed: int,
        first_draw: int = 0,
        threads: int = 0,
    ) -> ReplicateSums:
        """As `surefoot.kernels.replicate.replicate_sums`, from the same random words."""
        m = len(topic)
        rows = _padded(m, 256)
        draw = (first_draw + rows).astype(np.uint64)
        words: list[Any] = [np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32)]
        words += [(draw & 0xFFFFFFFF).astype(np.uint32), (draw >> 32).astype(np.uint32)]
        program = replicate_program(REPLICATED[family][0])
        chosen = np.ascontiguousarray(system[rows][:, selected])
        counters = selected.astype(np.uint32)
        sums = self.run(program, chosen, topic[rows], parameters[rows], counters, *words)
        return ReplicateSums(*(part[:m] for part in sums))

    def quantiles(self, draws: FloatArray, at: Sequence[float]) -> FloatArray:
        """Quantiles along the last axis, first axis of the result."""
        out: FloatArray = self.run(_quantile_program(), draws, np.asarray(at))
        return out


def _padded(n: int, least: int) -> npt.NDArray[np.intp]:
    """Rows in few sizes, so that few programs are compiled; the last one is repeated."""
    return np.minimum(np.arange(max(least, 1 << (n - 1).bit_length())), n - 1)


@cache
def open_accelerator(name: str) -> Accelerator:
    """The accelerator of that name."""
    return Accelerator(name)


@cache
def _quantile_program() -> Any:
    return jax.jit(lambda draws, at: jnp.quantile(draws, at, axis=-1))

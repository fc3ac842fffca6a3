"""Interleaved timing of several ways to do one job, peers in virtual environments of their own."""

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = HERE / ".peers"
DATA = HERE / ".data"
RESULTS = HERE / "results"


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians over the repeats of one contender."""

    wall: float
    cpu: float
    peak_mb: float


def peer_python(name: str, requirements: Sequence[str]) -> Path:
    """The interpreter of a virtual environment that holds one peer; made on first use."""
    home = PEERS / name
    python = home / "bin" / "python"
    stamp = home / ".ready"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
        stamp.write_text("\n".join(requirements) + "\n")
    return python


def interleave(
    contenders: Mapping[str, Callable[[], object]], *, repeats: int = 5
) -> dict[str, Timing]:
    """Time functions in this process, one after the other in every round; medians of the rounds."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, function in contenders.items():
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            samples[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {
        name: Timing(
            statistics.median(w for w, _ in rows),
            statistics.median(c for _, c in rows),
            float("nan"),
        )
        for name, rows in samples.items()
    }


def interleave_commands(
    contenders: Mapping[str, Sequence[str]],
    *,
    repeats: int = 5,
    env: Mapping[str, str] | None = None,
) -> dict[str, Timing]:
    """Time whole programs, start-up included, with their CPU time and peak memory.

    Byte code is kept, whatever the environment says: an installed program has it from pip.
    """
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in contenders}
    environment = {**os.environ, **(env or {}), "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(repeats):
        for name, command in contenders.items():
            start = time.perf_counter()
            process = subprocess.Popen(
                list(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            )
            assert process.stderr is not None
            complaint = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise RuntimeError(f"{name} failed: {complaint.decode(errors='replace')[-2000:]}")
            samples[name].append((wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    return {
        name: Timing(*(statistics.median(column) for column in zip(*rows, strict=True)))
        for name, rows in samples.items()
    }


def peak_mb() -> float:
    """Peak resident memory of this process, MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage keeps the peak of the process that this one was started by
        lines = status.read_text().splitlines()
        return next(int(k.split()[1]) for k in lines if k.startswith("VmHWM:")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table for the results pages."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(_cell(v) for v in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def publish(topic: str, text: str) -> None:
    """Print a result and keep it in `benchmarks/results/<topic>.md`, with its machine."""
    RESULTS.mkdir(exist_ok=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    command = " ".join([f"python -m benchmarks.bench_{topic}", *sys.argv[1:]])
    page = f"{text.rstrip()}\n\n_{machine}. Command: `{command}`._\n"
    (RESULTS / f"{topic}.md").write_text(page, encoding="utf-8")
    print(page)

"""Fits are the same to the byte on any number of threads of the linear algebra library."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
import warnings
import numpy as np
from surefoot.data.scores import ScoreMatrix
from surefoot.inference.bayes import hmc
from surefoot.inference.bayes.paired import sample_paired
from surefoot.workflows.fit import fit

rng = np.random.default_rng(4)
warnings.simplefilter("ignore")
hmc.STAGES, hmc.SETTLE, hmc.LEAST_LENGTH, hmc.SECOND_LENGTH = (4, 4), 2, 4, 1
for shape, family, engine, draws in (
    ((3, 4), "zoib", "auto", 12_000), ((6, 8), "gaussian", "auto", 12_000),
    ((3, 160), "gaussian", "hmc", 256),
):
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", shape))
    table = ScoreMatrix(*names, rng.beta(2, 3, shape))
    found = fit(table, family=family, engine=engine, draws=draws, criteria=False)
    parts = b"".join(found.draws[name].tobytes() for name in sorted(found.draws))
    print(hashlib.sha256(parts).hexdigest(), found.khat, found.efficiency, found.effective_draws)
print(sample_paired("gaussian", *rng.beta(2, 3, (2, 30)), rng=rng).efficiency)
"""


def test_draws_do_not_depend_on_the_threads_of_linear_algebra():
    def run(threads):
        count = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "MKL", "OMP")}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | count, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    assert run("1") == run("2")

"""The Bayesian engines on an accelerator: one array backend, JAX, with no other home than this.

The same algorithms as the compiled kernels on dense (systems, topics, ranks) arrays in double
precision: Laplace approximations with weighted draws, trajectories of Hamiltonian Monte Carlo, and
replicates (in single precision, as the compiled ones, from the same counters). `weighted_many`
fits many tables of one shape at once, which is where an accelerator pays. Importing this package
imports JAX, or says which extra brings it.
"""

from surefoot.inference.bayes.accelerator.device import Accelerator, open_accelerator
from surefoot.inference.bayes.accelerator.flight import Flight
from surefoot.inference.bayes.accelerator.many import weighted_many

__all__ = ["Accelerator", "Flight", "open_accelerator", "weighted_many"]

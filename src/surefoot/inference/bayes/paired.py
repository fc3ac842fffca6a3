"""Bayesian models of one pair of systems: Gaussian, skew normal, and Sakai's bivariate normal.

Each has two or three parameters that matter (the bivariate means are exact given the rest), so the
posterior is importance-sampled from a fitted mixture of Student t distributions.

References
----------
Benham (2023, the thesis), Algorithms 2.4, 4.1 and 4.2, with errata thesis-35 and thesis-40.
Sakai (2017), The probability that your hypothesis is correct, SIGIR.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import special

from surefoot.errors import ModelError
from surefoot.inference.bayes.links import Link
from surefoot.inference.bayes.one_algebra_thread import one_algebra_thread
from surefoot.inference.bayes.priors import Prior, choose_priors
from surefoot.inference.bayes.proposal import fit_proposal
from surefoot.inference.bayes.psis import UNRELIABLE_KHAT, psis_smooth
from surefoot.inference.bayes.sample import systematic_resample

FloatArray = npt.NDArray[np.float64]

MODELS = ("gaussian", "skew_normal", "bivariate")


@dataclass(frozen=True, slots=True)
class PairedDraws:
    """Equally weighted draws of a paired model.

    Parameters
    ----------
    model : str
        A name of `MODELS`.
    draws : dict
        ``b``, ``sigma`` and, skewed, ``lambda``: mean, standard deviation and shape of the
        risk-adjusted differences, higher is riskier; or ``mu_challenger``, ``mu_champion``,
        ``sigma_challenger``, ``sigma_champion`` and ``rho``.
    khat, efficiency : float
        Of the importance weights.
    warnings : tuple of str
        Doubts about the draws.
    """

    model: str
    draws: dict[str, FloatArray] = field(repr=False)
    khat: float
    efficiency: float
    warnings: tuple[str, ...] = ()

    @property
    def mean_risk(self) -> FloatArray:
        """Draws of the mean risk-adjusted difference: positive is a loss."""
        if self.model == "bivariate":
            return np.asarray(self.draws["mu_champion"] - self.draws["mu_challenger"])
        return self.draws["b"]


def risk_differences(champion: FloatArray, challenger: FloatArray, r: float) -> FloatArray:
    """Minus the differences, losses counted r times, on the topics that both have.

    Their mean is URisk- (thesis, Eq. 3.2 with the sign of errata thesis-21).
    """
    delta = challenger - champion
    delta = delta[~np.isnan(delta)]
    return np.asarray(-np.where(delta < 0, r * delta, delta))


def sample_paired(
    model: str,
    champion: FloatArray,
    challenger: FloatArray,
    *,
    r: float = 1.0,
    n_draws: int = 20_000,
    priors: Mapping[str, str | Prior] | Sequence[str] = (),
    rng: np.random.Generator,
) -> PairedDraws:
    """Draw from the posterior of one pair.

    Parameters
    ----------
    model : str
        A name of `MODELS`.
    champion, challenger : (n_topics,) float arrays
        Scores; topics where one of them is NaN are left out.
    r : float
        How many times a loss counts as much as a gain; for ``bivariate`` the challenger's scores
        are adjusted by Eq. 4.5, which gives the same mean difference.
    priors : mapping or sequence of str
        What differs from the priors of the thesis, as in `surefoot.fit`; ``bivariate`` has flat
        ones.
    """
    if model not in MODELS:
        raise ModelError(f"unknown paired model {model!r}. Hint: one of {', '.join(MODELS)}")
    if model == "bivariate" and priors:
        raise ModelError("the bivariate model has flat priors; leave the priors out")
    risk = risk_differences(champion, challenger, r)
    if len(risk) < 3:
        raise ModelError(f"a paired model needs at least 3 topics that both have, got {len(risk)}")
    if np.ptp(risk) == 0:
        raise ModelError("all differences are equal, so their spread cannot be modelled")
    if model == "bivariate":
        known = ~np.isnan(champion) & ~np.isnan(challenger)
        return _bivariate(champion[known] - risk, champion[known], n_draws, rng)
    chosen = paired_priors(model, risk, priors)
    names = ("b", "sigma", *(["lambda"] if model == "skew_normal" else []))
    links = [Link.of(name, chosen[name]) for name in names]
    likelihood = _gaussian if model == "gaussian" else _skew_normal

    def log_density(theta: FloatArray) -> FloatArray:
        values = [link.value(u) for link, u in zip(links, theta.T, strict=True)]
        out = likelihood(risk, *values)
        for name, link, value, u in zip(names, links, values, theta.T, strict=True):
            out = out + chosen[name].log_density(value) + link.log_slope(u)
        return np.asarray(out)

    # the likelihood of few differences has a mode on either side
    points = [[risk.mean(), risk.std(), skew][: len(names)] for skew in (-2.0, 2.0)]
    start = np.array(
        [[link.inverse(link.within(v)) for link, v in zip(links, p, strict=True)] for p in points]
    )
    theta, khat, efficiency, doubts = _draw(log_density, start[: len(names) - 1], n_draws, rng)
    draws = {name: link.value(u) for name, link, u in zip(names, links, theta.T, strict=True)}
    return PairedDraws(model, draws, khat, efficiency, doubts)


def paired_priors(
    model: str, risk: FloatArray, priors: Mapping[str, str | Prior] | Sequence[str] = ()
) -> dict[str, Prior]:
    """Priors of ``gaussian`` and ``skew_normal``: those of the hierarchy without its effects."""
    return choose_priors(model, risk, priors, without=("sd_system", "sd_topic"))


def unpooled_glass_delta(challenger: FloatArray, champion: FloatArray) -> float:
    """Glass' delta without shrinkage: its expectation under Sakai's model of the pair alone.

    NaN where the model cannot be fitted (too few topics, constant scores, identical systems).
    """
    try:
        found = sample_paired(
            "bivariate", champion, challenger, n_draws=2_000, rng=np.random.default_rng(0)
        )
    except ModelError:
        return float("nan")
    parameters = found.draws
    difference = parameters["mu_challenger"] - parameters["mu_champion"]
    return float((difference / parameters["sigma_champion"]).mean())


def _gaussian(x: FloatArray, b: FloatArray, sigma: FloatArray) -> FloatArray:
    """Log likelihood, thesis Algorithm 4.1."""
    square = ((x - b[:, None]) ** 2).sum(axis=1)
    return np.asarray(-len(x) * np.log(sigma) - 0.5 * square / sigma**2)


def _skew_normal(x: FloatArray, b: FloatArray, sigma: FloatArray, shape: FloatArray) -> FloatArray:
    """Log likelihood, thesis Algorithm 4.2."""
    delta = shape / np.sqrt(1 + shape**2)
    omega = sigma / np.sqrt(1 - 2 * delta**2 / np.pi)
    location = b - omega * delta * np.sqrt(2 / np.pi)
    z = (x - location[:, None]) / omega[:, None]
    tail = _log_ndtr(shape[:, None] * z).sum(axis=1)
    return np.asarray(tail - len(x) * np.log(omega) - 0.5 * (z**2).sum(axis=1))


def _log_ndtr(x: FloatArray) -> FloatArray:
    return np.asarray(special.log_ndtr(x))


def _bivariate(
    challenger: FloatArray, champion: FloatArray, n_draws: int, rng: np.random.Generator
) -> PairedDraws:
    """Sakai's model: flat priors on the means, standard deviations and correlation."""
    data = np.stack([challenger, champion])
    n = data.shape[1]
    centre = data.mean(axis=1)
    off = data - centre[:, None]
    scatter = off @ off.T
    sd = np.sqrt(np.diag(scatter) / n)
    if (sd == 0).any():
        raise ModelError("one system has the same score on every topic, so it has no correlation")
    correlation = float(scatter[0, 1] / np.sqrt(scatter[0, 0] * scatter[1, 1]))
    if n < 5 or abs(correlation) > 1 - 1e-9:
        # with flat priors the posterior of the covariance is improper for n < 5
        raise ModelError(
            "the bivariate model needs 5 topics or more and systems that are not multiples of "
            f"each other; here {n} topics, correlation {correlation:.6f}"
        )

    def log_density(theta: FloatArray) -> FloatArray:
        """Log posterior of (log sigma_1, log sigma_2, atanh rho), the means integrated out."""
        first, second = np.exp(np.clip(theta[:, 0], -40, 40)), np.exp(np.clip(theta[:, 1], -40, 40))
        rho = np.tanh(theta[:, 2])
        # thesis Algorithm 2.4 with the covariance of errata thesis-35: rho sigma_1 sigma_2
        rest = np.maximum(1 - rho**2, 1e-300)
        trace = (
            scatter[0, 0] / first**2
            - 2 * rho * scatter[0, 1] / (first * second)
            + scatter[1, 1] / second**2
        ) / rest
        log_det = 2 * theta[:, 0] + 2 * theta[:, 1] + np.log(rest)
        jacobian = theta[:, 0] + theta[:, 1] + np.log(rest)
        return np.asarray(-0.5 * (n - 1) * log_det - 0.5 * trace + jacobian)

    start = np.array([[*np.log(sd), np.arctanh(correlation)]])
    theta, khat, efficiency, doubts = _draw(log_density, start, n_draws, rng)
    first, second, rho = np.exp(theta[:, 0]), np.exp(theta[:, 1]), np.tanh(theta[:, 2])
    z = rng.standard_normal((2, n_draws))
    mu = centre[:, None] + np.stack(
        [first * z[0], second * (rho * z[0] + np.sqrt(1 - rho**2) * z[1])]
    ) / np.sqrt(n)
    draws = {
        "mu_challenger": mu[0],
        "mu_champion": mu[1],
        "sigma_challenger": first,
        "sigma_champion": second,
        "rho": rho,
    }
    return PairedDraws("bivariate", draws, khat, efficiency, doubts)


def _draw(
    log_density: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, float, float, tuple[str, ...]]:
    """Equally weighted draws of theta; k-hat, efficiency and doubts."""
    with one_algebra_thread():
        fitted = fit_proposal(log_density, start, rng, points=400)
        theta, proposed = fitted.mixture.draw(2 * n_draws, rng)
        value = log_density(theta)
        log_weight, khat = psis_smooth(np.where(np.isfinite(value), value, -np.inf) - proposed)
        weight = np.exp(log_weight)
        chosen = theta[systematic_resample(weight, n_draws, rng)]
        efficiency = float(1 / (weight @ weight) / len(weight))
    doubts: tuple[str, ...] = ()
    if khat > UNRELIABLE_KHAT or efficiency < 0.05:
        doubts = (
            f"the importance sample of this pair is poor (k-hat {khat:.2f}, "
            f"efficiency {efficiency:.0%})",
        )
    return chosen, khat, efficiency, doubts

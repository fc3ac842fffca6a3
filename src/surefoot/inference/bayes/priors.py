"""Priors: brms' defaults, and any that the user sets as ``parameter=distribution(numbers)``.

The defaults are those of brms 2.18, which the thesis used (chapters 4 and 5; errata thesis-40): the
intercept is a full Student t, scales are half Student t, location and scale of both follow the data
for identity links and are fixed for the logit link.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from surefoot.errors import ModelError

FloatArray = npt.NDArray[np.float64]

# distribution -> names of its numbers
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "t": ("df", "location", "scale"),
    "half_t": ("df", "location", "scale"),
    "normal": ("mean", "sd"),
    "half_normal": ("sd",),
    "exponential": ("rate",),
    "gamma": ("shape", "rate"),
    "beta": ("a", "b"),
    "uniform": ("low", "high"),
    "flat": (),
}
# which distributions a parameter may have: its support and the engines decide
_POSITIVE = ("half_t", "half_normal", "exponential", "gamma", "uniform")
ALLOWED: dict[str, tuple[str, ...]] = {
    "b": ("t", "normal"),
    "sigma": _POSITIVE,
    "sd_system": _POSITIVE,
    "sd_topic": _POSITIVE,
    "phi": _POSITIVE,
    "nu": _POSITIVE,
    "zoi": ("beta",),
    "coi": ("beta",),
    "lambda": ("normal", "t"),
    "k": ("flat", "normal"),
}


@dataclass(frozen=True, slots=True)
class Prior:
    """One prior distribution: a name of `DISTRIBUTIONS` and its numbers."""

    distribution: str
    numbers: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.distribution}({', '.join(f'{n:g}' for n in self.numbers)})"

    def log_density(self, x: npt.ArrayLike) -> FloatArray:
        """Log density; proper constants where the distribution is proper."""
        x = np.asarray(x, dtype=np.float64)
        name, p = self.distribution, self.numbers
        if name in ("t", "half_t"):
            out = _log_t(x, *p)
            if name == "half_t":
                # renormalised to x > 0
                upper = special.stdtr(p[0], p[1] / p[2])
                out = np.where(x > 0, out - math.log(upper), -np.inf)
        elif name == "normal":
            out = -0.5 * ((x - p[0]) / p[1]) ** 2 - math.log(p[1] * math.sqrt(2 * math.pi))
        elif name == "half_normal":
            out = -0.5 * (x / p[0]) ** 2 - math.log(p[0] * math.sqrt(math.pi / 2))
            out = np.where(x > 0, out, -np.inf)
        elif name == "exponential":
            out = np.where(x > 0, math.log(p[0]) - p[0] * x, -np.inf)
        elif name == "gamma":
            with np.errstate(divide="ignore", invalid="ignore"):
                out = p[0] * math.log(p[1]) - math.lgamma(p[0]) + (p[0] - 1) * np.log(x) - p[1] * x
            out = np.where(x > 0, out, -np.inf)
        elif name == "beta":
            out = special.xlogy(p[0] - 1, x) + special.xlog1py(p[1] - 1, -x)
            out = out - special.betaln(p[0], p[1])
        elif name == "uniform":
            out = np.where((x > p[0]) & (x < p[1]), -math.log(p[1] - p[0]), -np.inf)
        else:
            out = np.zeros_like(x)
        return np.asarray(out, dtype=np.float64)

    def score(self, x: FloatArray) -> FloatArray:
        """Derivative of the log density, inside the support."""
        name, p = self.distribution, self.numbers
        if name in ("t", "half_t"):
            r = (x - p[1]) / p[2]
            return np.asarray(-(p[0] + 1) * r / (p[0] + r * r) / p[2])
        if name == "normal":
            return np.asarray(-(x - p[0]) / p[1] ** 2)
        if name == "half_normal":
            return np.asarray(-x / p[0] ** 2)
        if name == "exponential":
            return np.full_like(x, -p[0])
        if name == "gamma":
            return np.asarray((p[0] - 1) / x - p[1])
        return np.zeros_like(x)

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Independent draws."""
        name, p = self.distribution, self.numbers
        if name == "t":
            return np.asarray(p[1] + p[2] * rng.standard_t(p[0], size))
        if name == "half_t":
            # inverse of the distribution function on the positive part
            low = special.stdtr(p[0], -p[1] / p[2])
            u = low + (1 - low) * rng.random(size)
            return np.asarray(p[1] + p[2] * special.stdtrit(p[0], u))
        if name == "normal":
            return rng.normal(p[0], p[1], size)
        if name == "half_normal":
            return np.abs(rng.normal(0.0, p[0], size))
        if name == "exponential":
            return rng.exponential(1 / p[0], size)
        if name == "gamma":
            return rng.gamma(p[0], 1 / p[1], size)
        if name == "beta":
            return rng.beta(p[0], p[1], size)
        if name == "uniform":
            return rng.uniform(p[0], p[1], size)
        raise ModelError("a flat prior cannot be drawn from. Hint: set another with --prior")

    def normal_mixture(self, size: int = 32) -> tuple[FloatArray, FloatArray]:
        """Weights and variances of centred normals whose mixture is this t or normal prior.

        A Student t is a normal whose precision is Gamma(df/2, df/2). The trapezoidal rule in the
        logarithm of the precision converges geometrically: 32 nodes give the density to 1e-6
        wherever a draw can fall.
        """
        if self.distribution == "normal":
            return np.ones(1), np.array([self.numbers[1] ** 2])
        df, _, scale = self.numbers
        low, high = np.log(special.gammaincinv(df / 2, [1e-9, 1 - 1e-12]) * 2 / df)
        log_precision = np.linspace(low, high, size)
        log_mass = df / 2 * (log_precision - np.exp(log_precision))
        mass = np.exp(log_mass - log_mass.max())
        return mass / mass.sum(), scale**2 * np.exp(-log_precision)

    @property
    def location(self) -> float:
        """Centre of a t or normal prior."""
        return self.numbers[1] if self.distribution == "t" else self.numbers[0]


def _log_t(x: FloatArray, df: float, location: float, scale: float) -> FloatArray:
    r = (x - location) / scale
    constant = (
        math.lgamma((df + 1) / 2)
        - math.lgamma(df / 2)
        - 0.5 * math.log(df * math.pi)
        - math.log(scale)
    )
    return np.asarray(constant - (df + 1) / 2 * np.log1p(r * r / df))


def default_priors(family: str, values: FloatArray) -> dict[str, Prior]:
    """The priors that brms would choose for these scores.

    Parameters
    ----------
    family : str
        A name of `surefoot.inference.bayes.families.FAMILIES`.
    values : float array
        Observed scores; NaN marks missing ones.
    """
    if family in ("zoib", "zoib_rank"):
        priors = {
            "b": Prior("t", (3, 0, 2.5)),
            "phi": Prior("gamma", (0.01, 0.01)),
            "zoi": Prior("beta", (1, 1)),
            "coi": Prior("beta", (1, 1)),
            "sd_system": Prior("half_t", (3, 0, 2.5)),
            "sd_topic": Prior("half_t", (3, 0, 2.5)),
        }
        if family == "zoib_rank":
            del priors["coi"]
            priors["k"] = Prior("flat", ())
        return priors
    observed = values[~np.isnan(values)]
    median = float(np.median(observed)) if observed.size else 0.0
    mad = 1.4826 * float(np.median(np.abs(observed - median))) if observed.size else 0.0
    scale = max(2.5, round(mad, 1))
    priors = {"b": Prior("t", (3, round(median, 1), scale))}
    for name in ("sigma", "sd_system", "sd_topic"):
        priors[name] = Prior("half_t", (3, 0, scale))
    if family == "skew_normal":
        priors["lambda"] = Prior("normal", (0, 4))
    if family == "student":
        priors["nu"] = Prior("gamma", (2, 0.1))
    return priors


def parse_prior(text: str) -> tuple[str, Prior]:
    """``sd_system=half_t(3,0,2.5)`` -> name and prior, or one line on what is wrong."""
    match = re.fullmatch(r"\s*(\w+)\s*=\s*(\w+)\s*\(([^()]*)\)\s*", text)
    if match is None:
        raise ModelError(
            f"prior {text!r} is not parameter=distribution(numbers). "
            "Hint: for example sd_system=half_t(3,0,2.5)"
        )
    name, distribution, inside = match.groups()
    distribution = {"student_t": "t", "half_student_t": "half_t"}.get(distribution, distribution)
    try:
        numbers = tuple(float(part) for part in inside.split(",")) if inside.strip() else ()
    except ValueError:
        raise ModelError(f"prior {text!r}: the arguments must be numbers") from None
    return name, _checked(name, Prior(distribution, numbers), text)


def _checked(name: str, prior: Prior, text: str) -> Prior:
    if prior.distribution not in DISTRIBUTIONS:
        raise ModelError(
            f"prior {text!r}: unknown distribution {prior.distribution!r}. "
            f"Hint: one of {', '.join(DISTRIBUTIONS)}"
        )
    expected = DISTRIBUTIONS[prior.distribution]
    if len(prior.numbers) != len(expected):
        raise ModelError(
            f"prior {text!r}: {prior.distribution} takes ({', '.join(expected)}), "
            f"not {len(prior.numbers)} numbers"
        )
    for value, what in zip(prior.numbers, expected, strict=True):
        if not math.isfinite(value):
            raise ModelError(f"prior {text!r}: {what} must be a finite number, got {value:g}")
        if what in ("df", "scale", "sd", "rate", "shape", "a", "b") and value <= 0:
            raise ModelError(f"prior {text!r}: {what} must be positive, got {value:g}")
    if prior.distribution == "uniform" and not 0 <= prior.numbers[0] < prior.numbers[1]:
        raise ModelError(f"prior {text!r}: low must be below high and not below 0")
    if name in ALLOWED and prior.distribution not in ALLOWED[name]:
        raise ModelError(
            f"prior {text!r}: {name} takes {' or '.join(ALLOWED[name])}, not {prior.distribution}"
        )
    return prior


def given_priors(priors: Mapping[str, str | Prior] | Sequence[str]) -> dict[str, Prior]:
    """What a user gave instead of the defaults, checked; one parameter twice is an error."""
    if isinstance(priors, str) or not isinstance(priors, (Mapping, Iterable)):
        example = f"[{priors!r}]" if isinstance(priors, str) else "['sd_system=half_t(3,0,2.5)']"
        raise ModelError(
            f"priors must be a list of texts or a mapping, but got {priors!r}. "
            f"Hint: priors={example}"
        )
    out: dict[str, Prior] = {}
    pairs = priors.items() if isinstance(priors, Mapping) else ((None, text) for text in priors)
    for key, prior in pairs:
        if isinstance(prior, str):
            name, checked = parse_prior(prior if key is None else f"{key}={prior}")
        elif isinstance(prior, Prior) and key is not None:
            if not all(isinstance(n, (int, float, np.number)) for n in prior.numbers):
                raise ModelError(f"the numbers of the prior of {key} must be numbers: {prior!r}")
            name, checked = str(key), _checked(str(key), prior, f"{key}={prior}")
        else:
            what = "a prior" if key is None else f"the prior of {key}"
            raise ModelError(
                f"{what} must be a text such as 'half_t(3, 0, 2.5)', but got {prior!r}"
            )
        if name in out:
            raise ModelError(f"the prior of {name} is given twice. Hint: keep one")
        out[name] = checked
    return out


def choose_priors(
    family: str,
    values: FloatArray,
    overrides: Mapping[str, str | Prior] | Sequence[str] = (),
    *,
    without: Sequence[str] = (),
) -> dict[str, Prior]:
    """Default priors with the user's in their place; ``without`` names parameters left out."""
    priors = {k: v for k, v in default_priors(family, values).items() if k not in without}
    for name, prior in given_priors(overrides).items():
        if name not in priors:
            raise ModelError(
                f"family {family} has no parameter {name!r} with a prior. "
                f"Hint: it has {', '.join(priors)}"
            )
        priors[name] = prior
    return priors

"""Ordered logit by maximum a posteriori (McCullagh 1980; Sawade et al. 2012, Section 5.1)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OrderedLogit:
    """P(y <= k | features) = logistic(cut_k - features @ weights).

    Parameters
    ----------
    weights : (n_features,) array
        For standardised features.
    cuts : (n_grades - 1,) array
        Ascending.
    centre, scale : (n_features,) arrays
        How features are standardised.
    """

    weights: FloatArray
    cuts: FloatArray
    centre: FloatArray
    scale: FloatArray

    def predict(self, features: FloatArray) -> FloatArray:
        """Probability of each grade, (n_items, n_grades)."""
        from scipy.special import expit

        eta = ((features - self.centre) / self.scale) @ self.weights
        below = expit(self.cuts[None, :] - eta[:, None])
        edges = np.column_stack([np.zeros(len(eta)), below, np.ones(len(eta))])
        return np.diff(edges, axis=1)


def fit_ordered_logit(
    features: FloatArray,
    grade: npt.NDArray[np.int64],
    grades: int,
    *,
    prior_sd: float = 1.0,
) -> OrderedLogit:
    """Fit weights with a normal prior, and cuts that stay in order.

    Parameters
    ----------
    features : (n_items, n_features) array
    grade : (n_items,) int array
    grades : int
        Number of grades.
    prior_sd : float
        Standard deviation of the prior of a weight, for standardised features.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    if len(grade) == 0:
        raise ModelError("there is no labelled document to fit a model of relevance to")
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    x = (features - centre) / scale
    n_weights, n_cuts = x.shape[1], grades - 1

    def unpack(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        steps = np.exp(theta[n_weights + 1 :])
        return theta[:n_weights], theta[n_weights] + np.concatenate([[0.0], np.cumsum(steps)])

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        weights, cuts = unpack(theta)
        eta = x @ weights
        upper = np.append(cuts, np.inf)[grade] - eta
        lower = np.insert(cuts, 0, -np.inf)[grade] - eta
        high, low = expit(upper), expit(lower)
        p = np.maximum(high - low, 1e-300)
        # slopes of log p in the two edges
        up, down = high * (1 - high) / p, low * (1 - low) / p
        by_cut = np.zeros(n_cuts)
        has_upper, has_lower = grade < n_cuts, grade > 0
        np.add.at(by_cut, grade[has_upper], up[has_upper])
        np.add.at(by_cut, grade[has_lower] - 1, -down[has_lower])
        gradient = np.empty_like(theta)
        gradient[:n_weights] = x.T @ (up - down) + weights / prior_sd**2
        gradient[n_weights] = -by_cut.sum()
        for k in range(1, n_cuts):
            gradient[n_weights + k] = -np.exp(theta[n_weights + k]) * by_cut[k:].sum()
        # a weak prior keeps the cuts finite when a grade never occurs in the seed
        gradient[n_weights:] += theta[n_weights:] / 100
        value = -np.log(p).sum() + (weights**2).sum() / (2 * prior_sd**2)
        return float(value + (theta[n_weights:] ** 2).sum() / 200), gradient

    start = np.zeros(n_weights + n_cuts)
    start[n_weights] = -1.0
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    if not np.isfinite(found.fun):
        raise ModelError("the ordered logit did not converge; are the features finite?")
    weights, cuts = unpack(found.x)
    return OrderedLogit(weights, cuts, centre, scale)

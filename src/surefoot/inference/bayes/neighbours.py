"""Which hyperparameter values may share the factor of one Laplace approximation.

Draws of the effects at theta may come from any normal distribution: their importance ratios
correct for it. So values of theta whose approximations are nearly alike lean on that of their
centre, at the price of a little variance of the log weights: half the sum of the squared relative
differences of the precisions. The precision of an effect is 1 / sd^2 plus its share of the
information in the scores; that of the level, which the scores see through the sum of all effects
alone, moves with sd.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# variance of the log weights that sharing may add, and most draws that share
LOSS = 0.02
MOST = 128
# of a neighbourhood in a second shape parameter, in units of its posterior spread
WIDTH = 0.4


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Values of theta in order of neighbourhoods.

    Parameters
    ----------
    order : (n,) int array
        Rows of theta, neighbourhood by neighbourhood.
    edges : (m + 1,) int64 array
        Where each begins in that order, and the end.
    """

    order: npt.NDArray[np.intp]
    edges: npt.NDArray[np.int64]

    def means(self, theta: FloatArray) -> FloatArray:
        """Centre of each neighbourhood, ``(m, d)``; theta as it was given."""
        sums = np.add.reduceat(theta[self.order], self.edges[:-1], axis=0)
        return np.asarray(sums / np.diff(self.edges)[:, None])


def alone(n: int) -> Neighbours:
    """Nobody shares."""
    return Neighbours(np.arange(n), np.arange(n + 1, dtype=np.int64))


def neighbourhoods(
    shapes: FloatArray,
    log_sd: FloatArray,
    log_information: FloatArray,
    counts: tuple[int, int],
) -> Neighbours:
    """Group values of theta by the precisions of their effects.

    Parameters
    ----------
    shapes : (n, k) float array
        Shape parameters in units of their posterior spread. One moves all curvatures together,
        which the information tells; a second one changes which observations have them.
    log_sd : (n, 2) float array
        Of systems and topics.
    log_information : (n,) float array
        Log of the summed curvature of all observations.
    counts : tuple of int
        Numbers of systems and of topics.
    """
    # a width of w costs half of w^2 / 12 for each effect; the loss is shared by four coordinates
    budget = LOSS / 4 * 2 * 12
    coordinates = [log_information]
    for column, count in enumerate(counts):
        precision = np.logaddexp(-2 * log_sd[:, column], log_information - np.log(count))
        coordinates.append(np.floor(precision / np.sqrt(budget / count)))
        coordinates.append(np.floor(2 * log_sd[:, column] / np.sqrt(budget)))
    coordinates += [np.floor(shape / WIDTH) for shape in shapes.T[1:]]
    cells = np.stack(coordinates[1:])
    order = np.lexsort(np.stack(coordinates))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (cells[:, order[1:]] != cells[:, order[:-1]]).any(axis=0)
    begin = np.flatnonzero(new)
    size = np.diff(np.append(begin, len(order)))
    # large neighbourhoods in parts of equal size
    parts = -(-size // MOST)
    which = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    edges = np.repeat(begin, parts) + which * np.repeat(size, parts) // np.repeat(parts, parts)
    return Neighbours(order, np.append(edges, len(order)).astype(np.int64))

"""Compact letter display: systems that share a letter are not significantly different."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

# beyond this many groups the display explains nothing
_MOST_GROUPS = 700


def compact_letters(means: npt.ArrayLike, significant: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """Letters of each system, "a" with the highest means.

    Parameters
    ----------
    means : (n_systems,) floats
        Decide the order of the letters only.
    significant : (n_systems, n_systems) bool array
        Symmetric: which pairs differ.

    Returns
    -------
    letters : tuple of str
        Two systems share a letter exactly when they do not differ significantly; all empty where
        that would take too many letters.

    References
    ----------
    Piepho 2004, insert and absorb.
    """
    order = np.argsort(-np.asarray(means, dtype=np.float64), kind="stable")
    n = len(order)
    differs = [sum(1 << b for b in range(n) if significant[order[a], order[b]]) for a in range(n)]
    groups = [(1 << n) - 1]
    for a in range(n):
        apart = differs[a] >> (a + 1) << (a + 1)
        while apart:
            b = (apart & -apart).bit_length() - 1
            apart &= apart - 1
            both = (1 << a) | (1 << b)
            split: list[int] = []
            for group in groups:
                if group & both == both:  # insert: one copy without each of the two
                    split += [group & ~(1 << a), group & ~(1 << b)]
                else:
                    split.append(group)
            groups = _absorb(split)
            if len(groups) > _MOST_GROUPS:
                return ("",) * n
    groups.sort(key=lambda g: [k for k in range(n) if g >> k & 1])
    out = [""] * n
    for label, group in zip(_labels(len(groups)), groups, strict=True):
        for k in range(n):
            if group >> k & 1:
                out[order[k]] += label
    return tuple(out)


def _absorb(groups: Sequence[int]) -> list[int]:
    """Drop groups that lie inside another."""
    unique = list(dict.fromkeys(groups))
    return [g for g in unique if not any(g != other and g & other == g for other in unique)]


def _labels(n: int) -> list[str]:
    """a..z, A..Z, then the same with a number."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return [alphabet[i % 52] + (f"{i // 52}" if i >= 52 else "") for i in range(n)]

"""The rearrangement kernels in plain NumPy."""

from itertools import product

import numpy as np
import numpy.typing as npt

from surefoot.kernels.reference.resample import stream_words

FloatArray = npt.NDArray[np.float64]


def flip_signs(n_topics: int, *, seed: int, number: int) -> FloatArray:
    """+1 or -1 for each topic: bit k of the words of stream `number`."""
    words = np.concatenate([stream_words(seed, number, g) for g in range(-(-n_topics // 1024))])
    bits = (words[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    signs: FloatArray = 1.0 - 2.0 * bits.ravel()[:n_topics].astype(np.float64)
    return signs


def shuffle_targets(n: int, *, seed: int, stream: int, group: int) -> tuple[list[int], int]:
    """Fisher-Yates targets for i = 1..n-1, and the next unused group of words."""
    while True:
        drawn: list[int] = []
        rejected = False
        while len(drawn) < n - 1:
            words = [int(w) for w in stream_words(seed, stream, group)]
            group += 1
            bits = 32
            if n <= 256:
                words, bits = [w & 0xFFFF for w in words] + [w >> 16 for w in words], 16
            for word in words:
                size = len(drawn) + 2
                if len(drawn) < n - 1:
                    rejected |= word * size % 2**bits < 2**bits % size
                drawn.append(word * size >> bits)
        if not rejected:
            return drawn[: n - 1], group


def permuted_sums(scores: FloatArray, *, seed: int, number: int) -> FloatArray:
    """Sums over topics after the labels of each topic were shuffled."""
    n_systems = scores.shape[1]
    sums = np.zeros(n_systems)
    group = 0
    for row in scores:
        targets, group = shuffle_targets(n_systems, seed=seed, stream=number, group=group)
        left = row.copy()
        for i in range(n_systems - 1, 0, -1):
            j = targets[i - 1]
            left[i], left[j] = left[j], left[i]
        sums += left
    return sums


def signed_rank_p(x: FloatArray) -> float:
    """Two-sided exact p-value of Wilcoxon's test by going through all signs."""
    sizes = np.abs(x[x != 0])
    ranks = np.array([(sizes < s).sum() + ((sizes == s).sum() + 1) / 2 for s in sizes])
    plus = ranks[x[x != 0] > 0].sum()
    w = min(plus, ranks.sum() - plus)
    sums = np.array([np.dot(signs, ranks) for signs in product((0, 1), repeat=len(ranks))])
    return min(1.0, 2.0 * float((sums <= w + 1e-9).mean()))

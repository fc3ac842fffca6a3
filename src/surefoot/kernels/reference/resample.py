"""The resampling kernels in plain NumPy."""

import numpy as np
import numpy.typing as npt

from surefoot.kernels.random import philox_block

FloatArray = npt.NDArray[np.float64]

_LANES = 8
_HALF_WORD_LIMIT = 4096


def stream_words(seed: int, stream: int, group: int) -> npt.NDArray[np.uint32]:
    """32 words: word 0 of eight successive blocks, then word 1 of the eight, and so on."""
    blocks = [philox_block(seed, stream, group * _LANES + i) for i in range(_LANES)]
    return np.array(blocks).T.ravel()


def draw_below(n: int, n_draws: int, *, seed: int, stream: int) -> npt.NDArray[np.uint32]:
    """Unbiased integers in [0, n): a product's high part, unless its low part is too small."""
    drawn: list[int] = []
    group = 0
    while len(drawn) < n_draws:
        words = stream_words(seed, stream, group).astype(np.uint64)
        bits = 32
        if n <= _HALF_WORD_LIMIT:
            words, bits = np.concatenate([words & np.uint64(0xFFFF), words >> np.uint64(16)]), 16
        for word in words:
            product = int(word) * n
            if product % 2**bits >= 2**bits % n:
                drawn.append(product >> bits)
        group += 1
    return np.array(drawn[:n_draws], dtype=np.uint32)


def resample_indices(
    n_topics: int, n_resamples: int, *, seed: int, first: int = 0
) -> npt.NDArray[np.uint32]:
    """Topics of each resample, with replacement."""
    return np.array(
        [draw_below(n_topics, n_topics, seed=seed, stream=first + b) for b in range(n_resamples)]
    )


def bootstrap_means(
    centred: FloatArray, n_resamples: int, *, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Means of the resamples, and those means over their standard errors."""
    n = centred.shape[1]
    rows = resample_indices(n, n_resamples, seed=seed)
    samples = centred[:, rows]
    means = samples.mean(axis=2)
    errors = samples.std(axis=2, ddof=1) / np.sqrt(n)
    return means, means / errors


def order_statistics(rows: FloatArray, ranks: npt.NDArray[np.int64]) -> FloatArray:
    """By sorting."""
    return np.take_along_axis(np.sort(rows, axis=1), ranks, axis=1)

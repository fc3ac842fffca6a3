"""Counter-based random words (Philox4x32-10), as the compiled kernels draw them."""

import numpy as np
import numpy.typing as npt

from surefoot import _kernels


def philox_block(seed: int, stream: int, index: int) -> npt.NDArray[np.uint32]:
    """Four 32-bit words: block `index` of stream `stream` under `seed`."""
    words: npt.NDArray[np.uint32] = _kernels.philox_block(seed, stream, index)
    return words

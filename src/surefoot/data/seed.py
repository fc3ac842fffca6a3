"""What a seed may be: the key of the counter-based generators."""

from typing import Any

import numpy as np

from surefoot.errors import InputError

SEEDS_BELOW = 2**63


def check_seed(seed: Any) -> None:
    """Refuse a seed that no generator takes."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < SEEDS_BELOW:
        raise InputError(f"the seed must be an integer from 0 to below 2^63, but got {seed!r}")

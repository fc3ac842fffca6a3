"""Topic difficulty: hard, medium or easy, with intervals (thesis, Sect. 4.2.4)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TopicDifficulty:
    """Effect of each topic and the class that its interval puts it into.

    `mean`, `low`, `high` of the topic effect, `p_hard` = P(effect < 0), and `level`, one of
    ``hard``, ``medium``, ``easy``.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    p_hard: FloatArray
    level: tuple[str, ...]


def topic_difficulty(effects: FloatArray, *, interval: float = 0.95) -> TopicDifficulty:
    """Trichotomise topics by their effects, (n_draws, n_topics).

    A topic is hard when its interval lies below 0, the difficulty of an average topic, easy when it
    lies above, and medium when it holds 0 (thesis, Sect. 4.2.4).
    """
    low, high = np.quantile(effects, ((1 - interval) / 2, (1 + interval) / 2), axis=0)
    level = np.where(high < 0, "hard", np.where(low > 0, "easy", "medium"))
    return TopicDifficulty(
        effects.mean(axis=0), low, high, (effects < 0).mean(axis=0), tuple(level.tolist())
    )

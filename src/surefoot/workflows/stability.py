"""How stable the order of systems is when the topics are others."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.io.scores import read_scores
from surefoot.overlays.stability import Stability
from surefoot.overlays.stability import stability as measure_stability
from surefoot.results.stability import StabilityResult
from surefoot.workflows.comparison import Numbers, check_draws, loss_aversion, prepare
from surefoot.workflows.overlay_scores import overlay_name, overlay_scorer


def stability(
    scores: Any,
    *,
    champion: str = "mean",
    alpha: Numbers = None,
    overlays: Sequence[str] = ("mean", "u_risk", "geo_risk"),
    topics: int | Sequence[int] | None = None,
    trials: int = 100,
    fuzziness: float = 0.05,
    seed: int = 0,
) -> StabilityResult:
    """Draw samples of topics and count how often overlays contradict themselves.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores of at least two systems besides the champion.
    champion : str
        Baseline of URisk and TRisk.
    alpha : float or list, optional
        Default 1.
    overlays : list of str
        Among mean, u_risk, t_risk, z_risk and geo_risk.
    topics : int or list of int, optional
        Topics a sample; default a quarter and a half of them.
    trials, fuzziness, seed
        Samples, the share within which scores are tied, and the seed.

    Notes
    -----
    Buckley and Voorhees 2000 for the error rate, Voorhees and Buckley 2002 for the swap rate; see
    Benham 2023, Section 2.2.
    """
    alphas, _ = loss_aversion(alpha, None)
    whole = prepare(read_scores(scores), champion)
    if len(whole.champions) != 1:
        raise InputError("stability takes a single champion")
    if len(whole.challengers) < 2:
        raise InputError("stability needs at least two systems besides the champion")
    check_draws(seed, trials=trials)
    n = len(whole.matrix.topics)
    if topics is None:
        sizes = sorted({max(1, n // 4), max(1, n // 2)})
    else:
        sizes = [topics] if isinstance(topics, int) else list(topics)
    rows = whole.challengers
    found = []
    labels = []
    for overlay in overlays:
        for a in alphas if overlay != "mean" else alphas[:1]:
            score = overlay_scorer(whole, overlay, a)
            for size in sizes:
                labels.append(overlay_name(overlay, a))
                found.append(
                    measure_stability(
                        lambda columns, score=score: score(columns)[rows],  # type: ignore[misc]
                        n,
                        topics=size,
                        trials=trials,
                        fuzziness=fuzziness,
                        seed=seed,
                    )
                )
    last = [k for k, f in enumerate(found) if f.topics == sizes[-1]]
    # overlays spread differently, and so reach the fuzziness differently: swaps compare them
    swaps = not np.isnan(found[last[0]].swap_rate)
    best = min(last, key=lambda k: found[k].swap_rate if swaps else found[k].error_rate)
    steady = (
        f"{100 * found[best].swap_rate:.1f} % of pairs change places on other queries"
        if swaps
        else f"it contradicts itself in {100 * found[best].error_rate:.1f} % of comparisons"
    )
    return StabilityResult(
        overlay=tuple(labels),
        topics=tuple(f.topics for f in found),
        trials=tuple(f.trials for f in found),
        error_rate=tuple(f.error_rate for f in found),
        tie_rate=tuple(f.tie_rate for f in found),
        swap_rate=tuple(f.swap_rate for f in found),
        sure_difference=tuple(f.sure_difference for f in found),
        note=tuple(_why(f, n) for f in found),
        headline=(
            f"On samples of {sizes[-1]} of {n} queries, {labels[best]} orders the systems most "
            f"steadily: {steady}.",
        ),
        settings={
            "champion": whole.champions[0].name,
            "alpha": list(alphas),
            "fuzziness": fuzziness,
            "seed": seed,
        },
    )


def _why(found: Stability, topics: int) -> str:
    """Why a rate is missing."""
    if np.isnan(found.error_rate):
        return "no sample gives two systems a value to compare"
    if np.isnan(found.swap_rate):
        wanted = 2 * found.topics
        return f"two samples of {found.topics} need {wanted} topics, but there are {topics}"
    return "no difference is large enough to be sure" if np.isnan(found.sure_difference) else ""

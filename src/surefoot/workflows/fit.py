"""Fit a Bayesian hierarchical model to the scores of many systems."""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.data.seed import check_seed
from surefoot.errors import ModelError, UnreliableWarning
from surefoot.extras import require
from surefoot.inference.bayes.engines import ENGINES, draw_posterior
from surefoot.inference.bayes.families import FAMILIES, pose
from surefoot.inference.bayes.likelihood import posterior_criteria
from surefoot.inference.bayes.priors import Prior, choose_priors
from surefoot.inference.bayes.summary import make_posterior
from surefoot.io.gains import read_gains
from surefoot.io.scores import read_scores
from surefoot.render.progress import progress as show_progress
from surefoot.results.posterior import SCALARS, Posterior
from surefoot.workflows.posterior import check_count, is_number, unscored


def fit(
    scores: Any,
    *,
    family: str = "gaussian",
    draws: int = 20_000,
    priors: Mapping[str, str | Prior] | Sequence[str] = (),
    one_above: float | None = None,
    engine: str = "auto",
    device: str = "cpu",
    criteria: bool = True,
    check: str | None = None,
    threads: int = 0,
    progress: bool | None = False,
    seed: int = 0,
) -> Posterior:
    """Fit systems and topics as crossed random effects, with draws from the exact posterior.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores; for ``zoib_rank`` a table system, topic, rank, score.
    family : str
        ``gaussian``, ``skew_normal``, ``student``, ``zoib`` (zero-one-inflated beta) or
        ``zoib_rank`` (its per-rank form).
    draws : int
        Equally weighted draws to return.
    priors : mapping or sequence of str
        What differs from brms' defaults: ``{"sd_system": "half_t(3, 0, 2.5)"}`` or
        ``["sd_system=half_t(3,0,2.5)"]``.
    one_above : float, optional
        Scores above this count as exactly 1 in ``zoib`` (the thesis used .9999).
    engine : str
        ``auto``, or one of ``exact``, ``laplace``, ``hmc``; ``prior`` draws from the priors alone,
        for prior predictive checks (`check`, `ppd_risk` and `forecast` take the result).
    device : str
        ``cpu`` for the compiled kernels; ``gpu`` for the first graphics processor that JAX (extra
        ``gpu``) sees, ``jax-cpu`` for JAX on the CPU: the same draws up to rounding. The method
        names the device.
    criteria : bool
        Whether to compute WAIC and PSIS-LOO.
    check : str, optional
        ``nuts`` also runs nutpie's NUTS (extra ``bayes-check``) and says how far it differs, in
        ``settings["check"]`` and the headline.
    progress : bool, optional
        Show progress on stderr; None for only on a terminal.
    seed : int
        The same seed gives the same draws on any number of threads.

    Returns
    -------
    Posterior
        Draws, diagnostics and a summary; an `UnreliableWarning` says when not to trust them.

    Notes
    -----
    eta_ij = b + s_i + t_j with s_i ~ N(0, sd_system), t_j ~ N(0, sd_topic): thesis Eqs 4.1,
    5.1 and 5.3 in the form that brms fits.
    """
    began = time.perf_counter()
    if family not in FAMILIES:
        raise ModelError(f"unknown family {family!r}. Hint: one of {', '.join(FAMILIES)}")
    if engine not in ENGINES:
        raise ModelError(f"unknown engine {engine!r}. Hint: one of {', '.join(ENGINES)}")
    check_count("draws", draws, 100)
    check_count("threads", threads, 0)
    check_seed(seed)
    if check is not None:
        _can_check(check, engine)
    gains = read_gains(scores) if family == "zoib_rank" else None
    matrix = read_scores(scores) if gains is None else gains.means()
    if one_above is not None:
        matrix = _ones(matrix, one_above, family)
    chosen = choose_priors(family, matrix.values, priors)
    problem = pose(family, matrix, chosen, gains=gains)
    with show_progress(f"fitting {family}", show=progress) as report:
        sample = draw_posterior(
            problem, matrix, draws,
            engine=engine, device=device, seed=seed, threads=threads, report=report,
        )  # fmt: skip
    checked = None
    if check is not None:
        from surefoot.inference.bayes.nuts_check import check_by_nuts

        labels = {"system": matrix.systems, "topic": matrix.topics}
        checked = check_by_nuts(problem, sample, labels, seed=seed, threads=threads)
        if checked.disagrees:
            sample = replace(sample, warnings=(*sample.warnings, checked.sentence().rstrip(".")))
    settings: dict[str, Any] = {
        "family": family,
        "draws": draws,
        "seed": seed,
        "engine": engine,
        "device": device,
        "one_above": one_above,
        "priors": {name: str(prior) for name, prior in chosen.items()},
        "method": sample.method,
        "khat": sample.khat,
        "efficiency": sample.efficiency,
    }
    if checked is not None:
        settings["check"] = asdict(checked)
    notes = (*problem.warnings, *unscored(matrix))
    doubts = (*notes, *sample.warnings)
    ess, rhat = _by_name(sample.ess, matrix), _by_name(sample.rhat, matrix)
    posterior = make_posterior(
        family,
        matrix,
        sample.draws,
        method=sample.method,
        ess=ess,
        rhat=rhat,
        khat=sample.khat,
        efficiency=sample.efficiency,
        effective_draws=min(ess.values(), default=math.nan),
        warnings=doubts,
        gains=gains,
    )
    if criteria and engine != "prior":
        settings |= _criteria(posterior, threads)
    else:
        settings |= {"waic": None, "loo": None}
    settings["warnings"] = list(doubts)
    settings["notes"] = list(notes)
    settings["seconds"] = seconds = time.perf_counter() - began
    for doubt in doubts:
        warnings.warn(doubt, UnreliableWarning, stacklevel=2)
    return replace(
        posterior,
        settings=settings,
        seconds=seconds,
        headline=(
            *_headline(posterior, settings),
            *([] if checked is None else [checked.sentence()]),
        ),
    )


def _can_check(check: str, engine: str) -> None:
    """Refuse before a long fit what could not be checked after it."""
    if check != "nuts":
        raise ModelError(f"unknown check {check!r}. Hint: nuts")
    if engine == "prior":
        raise ModelError("draws from the prior need no check by NUTS")
    require("nutpie", purpose="a check by NUTS")


def _ones(matrix: ScoreMatrix, threshold: float, family: str) -> ScoreMatrix:
    if family != "zoib":
        raise ModelError(f"one_above is for family zoib, which has scores of 1, not for {family}")
    if not (is_number(threshold) and 0 < threshold <= 1):
        raise ModelError(f"one_above must be in (0, 1], got {threshold!r}")
    values = np.where(matrix.values > threshold, 1.0, matrix.values)
    return ScoreMatrix(matrix.systems, matrix.topics, values, measure=matrix.measure)


def _by_name(diagnostic: Mapping[str, Any], matrix: ScoreMatrix) -> dict[str, float]:
    """One number a summary row, from one number or array a parameter."""
    out = {name: float(diagnostic[name]) for name in SCALARS if name in diagnostic}
    for kind, names in (("system", matrix.systems), ("topic", matrix.topics)):
        if kind in diagnostic:
            values = np.broadcast_to(diagnostic[kind], (len(names),))
            out |= {f"{kind}[{n}]": float(v) for n, v in zip(names, values, strict=True)}
    return out


def _criteria(posterior: Posterior, threads: int) -> dict[str, Any]:
    waic, loo = posterior_criteria(posterior, threads=threads)
    out: dict[str, Any] = {"waic": waic.value, "waic_se": waic.se}
    return out | {"loo": loo.value, "loo_se": loo.se, "loo_unreliable": loo.unreliable}


def _headline(posterior: Posterior, settings: Mapping[str, Any]) -> tuple[str, ...]:
    n_systems, n_topics = posterior.scores.shape
    notes = settings["notes"]
    doubts = [doubt for doubt in posterior.warnings if doubt not in notes]
    trust = (
        "The scores were not used."
        if settings["engine"] == "prior"
        else "Do not trust these draws as they stand: " + "; ".join(doubts) + "."
        if doubts
        else "All diagnostics are good."
    )
    made = "from the prior" if settings["engine"] == "prior" else f"by {posterior.method}"
    first = (
        f"{posterior.family} model of {n_systems} systems on {n_topics} topics: "
        f"{posterior.n_draws} draws {made}. {trust}"
    )
    if notes:
        first += f" Mind that {'; '.join(notes)}."
    if settings["engine"] == "prior":
        return (first,)
    names = ["systems", "topics"]
    spread = [float(np.median(posterior.draws[f"sd_{name[:-1]}"])) for name in names]
    more = int(np.argmax(spread))
    second = (
        f"On the model's scale {names[more]} differ more than {names[1 - more]} "
        f"(sd {spread[more]:.3g} against {spread[1 - more]:.3g})."
    )
    if settings["waic"] is not None:
        second += f" WAIC {settings['waic']:.1f}, LOO {settings['loo']:.1f} (lower is better)."
        if settings["loo_unreliable"]:
            second += f" LOO is doubtful for {settings['loo_unreliable']} scores (k-hat above 0.7)."
    return first, second

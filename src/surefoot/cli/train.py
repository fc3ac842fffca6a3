"""`surefoot train`: learn a ranker that minds what it must not break."""

from pathlib import Path
from typing import Any

import click

from surefoot.cli.options import NumberList, Output, quiet_option, seed_option, threads_option
from surefoot.io.output import FORMATS

# kept as text: importing the objectives would load the compiled core to print --help
OBJECTIVES = ("ndcg", "u-cro", "saro", "faro", "georisk")


class Parameter(click.ParamType):  # type: ignore[type-arg]
    """``NAME=VALUE`` for the booster; numbers and true/false are read as such."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:
        """Split and read one pair."""
        import json

        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not equals or not key:
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        try:
            return key, json.loads(text)
        except json.JSONDecodeError:
            return key, text


def learning_options(function: Any) -> Any:
    """Options of the objective and the booster, for train and cross-validate."""
    for decorate in reversed(
        (
            click.option(
                "-m",
                "--measure",
                default="nDCG@10",
                show_default=True,
                help="nDCG@k, AP, ERR@k, RBP(p=0.8) or INST(T=3).",
            ),
            click.option(
                "--booster",
                type=click.Choice(("lightgbm", "xgboost")),
                default="lightgbm",
                show_default=True,
                help="Who grows the trees.",
            ),
            click.option(
                "--rounds",
                type=click.IntRange(min=1),
                default=300,
                show_default=True,
                help="Trees.",
            ),
            click.option(
                "--learning-rate",
                type=click.FloatRange(min=0, min_open=True),
                default=0.1,
                show_default=True,
                help="What each tree's values are multiplied by.",
            ),
            click.option(
                "--leaves",
                type=click.IntRange(min=2),
                default=31,
                show_default=True,
                help="Of a tree, at most.",
            ),
            click.option(
                "--min-documents",
                type=click.IntRange(min=0),
                default=20,
                show_default=True,
                help="Documents that a leaf needs.",
            ),
            click.option(
                "--truncation",
                type=click.IntRange(min=1),
                default=30,
                show_default=True,
                help="Pairs need a document among the first N.",
            ),
            click.option(
                "--label-gain",
                type=NumberList(minimum=0),
                help="nDCG's gain of label 0, 1, ... (default: 2^label - 1).",
            ),
            click.option(
                "--sigmoid",
                type=click.FloatRange(min=0, min_open=True),
                default=1.0,
                show_default=True,
                help="Slope of the logistic that a pair's distance in score goes through.",
            ),
            click.option(
                "--normalize",
                type=click.Choice(("risk-free", "weighted", "off")),
                default="risk-free",
                show_default=True,
                help="What a query's lambdas are scaled by.",
            ),
            click.option(
                "--pair-weight",
                type=click.Choice(("booster", "measure")),
                default="booster",
                show_default=True,
                help="A pair weighs the booster's own change of nDCG at the rate of the objective, "
                "or the change of the objective itself.",
            ),
            click.option(
                "--standard-error",
                type=click.Choice(("first", "each")),
                default="first",
                show_default=True,
                help="SARO, FARO: SE(URisk) after the first round, or in each.",
            ),
            click.option(
                "--georisk",
                "georisk_mode",
                type=click.Choice(("refresh", "exact")),
                default="refresh",
                show_default=True,
                help="A swap renews its own query's expectation, or all.",
            ),
            click.option(
                "--early-stopping",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="Rounds without improvement; 0 = off.",
            ),
            click.option(
                "--stop-on",
                type=click.Choice(
                    ("effectiveness", "u_risk", "t_risk", "geo_risk", "loss_over_20")
                ),
                default="effectiveness",
                show_default=True,
                help="What early stopping reads on the held-out queries.",
            ),
            click.option(
                "--param",
                "params",
                type=Parameter(),
                multiple=True,
                help="A parameter of the booster; may be repeated.",
            ),
        )
    ):
        function = decorate(function)
    return function


def build_objective(name: str, alpha: float, options: dict[str, Any]) -> Any:
    """The objective that `learning_options` describe; removes what it uses."""
    from surefoot.learn.objectives import Objective

    return Objective(
        name=name,
        alpha=alpha,
        measure=options.pop("measure"),
        truncation_level=options.pop("truncation"),
        label_gain=options.pop("label_gain"),
        sigmoid=options.pop("sigmoid"),
        normalize=options.pop("normalize"),
        pair_weight=options.pop("pair_weight"),
        standard_error=options.pop("standard_error"),
        georisk=options.pop("georisk_mode"),
    )


@click.command()
@click.argument("data", metavar="TRAIN", type=click.Path(path_type=Path))
@click.option("--valid", type=click.Path(path_type=Path), help="Held-out queries.")
@click.option(
    "--objective",
    "name",
    type=click.Choice(OBJECTIVES),
    default="ndcg",
    show_default=True,
    help="What to learn for; ndcg is the plain one.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Weight of losses against the champion.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="FILE|feature:N",
    help="Champion: per-query scores, a run, a model or a feature; may be repeated.",
)
@click.option(
    "--valid-baseline",
    "valid_baselines",
    multiple=True,
    metavar="FILE|feature:N",
    help="The champion on the held-out queries, if --baseline does not cover them.",
)
@click.option(
    "-o",
    "--output",
    "model_path",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The model file (JSON).",
)
@learning_options
@click.option("--format", type=click.Choice(FORMATS), help="Format of the model card on stdout.")
@click.option(
    "--card",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the model card here instead.",
)
@seed_option
@threads_option
@quiet_option("-q", "--quiet")
def command(
    data: Path,
    valid: Path | None,
    name: str,
    alpha: float,
    baselines: tuple[str, ...],
    valid_baselines: tuple[str, ...],
    model_path: Path,
    format: str | None,
    card: Path | None,
    seed: int,
    threads: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a ranker on TRAIN (SVMlight with qid, or Parquet).

    Prints the model card: what the ranker risks against each baseline on the training and the
    held-out queries.
    """
    from surefoot.io.atomic import check_apart, check_writable
    from surefoot.workflows.train import train

    check_apart(model_path, [data, valid or "", *baselines, *valid_baselines])
    check_writable(model_path)
    objective = build_objective(name, alpha, options)
    options["params"] = dict(options["params"])
    ranker, found = train(
        data,
        objective=objective,
        valid=valid,
        baseline=baselines or None,
        valid_baseline=valid_baselines or None,
        seed=seed,
        threads=threads,
        **options,
    )
    ranker.save(model_path)
    output = Output(format, card, quiet, False, seed, threads)
    output.write(found)
    output.note(f"wrote {model_path} ({ranker.rounds} trees, {ranker.booster})")

"""`surefoot cross-validate`: learning objectives compared over folds."""

from pathlib import Path
from typing import Any

import click

from surefoot.cli.options import Output, number_list, output_options
from surefoot.cli.train import OBJECTIVES, build_objective, learning_options


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--objective",
    "objectives",
    type=click.Choice(OBJECTIVES),
    multiple=True,
    help="May be repeated; all without it. The plain one is always trained.",
)
@number_list(
    "--alpha", "alphas", minimum=0, default="1,5,10,20", help="Weights of losses; one model each."
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    required=True,
    metavar="FILE|feature:N",
    help="The champion; several are averaged. MSLR's BM25 is feature:110.",
)
@click.option(
    "--learned-baselines",
    is_flag=True,
    help="Train four baselines on a quarter of the training queries, for GeoRisk.",
)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default="surefoot-cv",
    show_default=True,
    help="Keeps finished models' scores; the next run goes on there.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Models per fold and objective.",
)
@learning_options
@output_options
def command(
    directory: Path,
    objectives: tuple[str, ...],
    alphas: tuple[float, ...],
    baselines: tuple[str, ...],
    learned_baselines: bool,
    work: Path,
    seeds: int,
    output: Output,
    **options: Any,
) -> None:
    """Train all objectives on the folds of DIRECTORY and compare them on the test queries.

    DIRECTORY holds Fold1/train.txt, vali.txt, test.txt and so on (MSLR-WEB10K, LETOR), or parts
    S1.txt, S2.txt, ... Stop it at any time: the same command goes on where it was.
    """
    from surefoot.render.progress import progress as bar
    from surefoot.workflows.cross_validate import cross_validate

    base = build_objective("ndcg", 0.0, options)
    options["params"] = dict(options["params"])
    with bar("training", show=output.progress) as update:
        result = cross_validate(
            directory,
            work=work,
            objectives=objectives or OBJECTIVES,
            alphas=alphas,
            base=base,
            baseline=list(baselines),
            learned_baselines=learned_baselines,
            seeds=seeds,
            seed=output.seed,
            threads=output.threads,
            progress=update,
            **options,
        )
    output.write(result)
    trained, reused = result.settings["trained"], result.settings["reused"]
    output.note(f"trained {trained} models, reused {reused} from {work}")

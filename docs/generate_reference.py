"""Write docs/reference/commands.md, python.md and the lists of pages in docs/README.md."""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

DOCS = Path(__file__).resolve().parent

# The order of the index; a page that is not named here comes last in its folder.
ORDER = {
    "how-to": (
        *("evaluate-runs", "read-files-and-frames", "compare-two-rankers", "gate-in-ci"),
        *("unjudged-documents", "choose-an-interval", "many-systems", "how-many-queries"),
        *("predict-risk", "train-a-ranker", "judge-less"),
    ),
    "reference": ("commands", "python", "measures", "gate"),
    "method": ("measures", "inst", "risk", "calibration", "bayes", "replication", "errata"),
}

# Verbs by the job that they do, as a user comes to need them.
JOBS = {
    "Read": ("read_scores", "read_qrels", "read_run", "ScoreMatrix", "SurefootError", "lint"),
    "Score": ("evaluate",),
    "Compare with a champion": ("risk", "topics", "intervals", "test", "gate"),
    "Plan and check": ("power", "normality", "orders", "frontier", "stability"),
    "Model all systems together": (
        *(
            "fit",
            "save_fit",
            "read_fit",
            "models",
            "ppd_risk",
            "brisk",
            "forecast",
            "ranks",
            "pairs",
            "difficulty",
            "paired",
        ),
        *("artifacts", "check"),
    ),
    "Train": ("train", "rank", "cross_validate"),
}


def commands() -> str:
    """Every command's help, as printed."""
    from surefoot.cli.inst_eval import command as inst_eval
    from surefoot.cli.main import COMMANDS, cli

    shown: list[tuple[str, click.Command]] = []
    for name, (module, _) in COMMANDS.items():
        command = import_module(module).command
        shown.append((f"surefoot {name}", command))
        if isinstance(command, click.Group):
            shown += [(f"surefoot {name} {sub}", c) for sub, c in command.commands.items()]
    shown.append(("inst_eval", inst_eval))
    lines = ["# Commands", "", "Written by `make docs` from the programs' own help.", ""]
    lines += ["| command | |", "|---|---|"]
    lines += [f"| [{t}](#{_anchor(t)}) | {c.get_short_help_str(100)} |" for t, c in shown]
    for title, command in shown:
        context = click.Context(
            command,
            info_name=title,
            terminal_width=88,
            max_content_width=88,
            help_option_names=cli.context_settings["help_option_names"],
        )
        lines += ["", f"## {title}", "", "```text", command.get_help(context).rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def python() -> str:
    """Every public name of `surefoot`, its signature and docstring."""
    import surefoot as sf

    jobs = dict(JOBS)
    named = {name for names in jobs.values() for name in names}
    verbs = [n for n in sf.__all__ if n != "__version__"]
    modules = [n for n in verbs if isinstance(getattr(sf, n), ModuleType)]
    jobs["More"] = tuple(n for n in verbs if n not in named and n not in modules)
    lines = ["# Python", "", "Written by `make docs` from the docstrings.", "", RESULTS]
    for job, names in jobs.items():
        if names:
            lines += ["", f"## {job}"]
        for name in names:
            lines += _entry(f"sf.{name}", getattr(sf, name))
    for name in modules:
        module = getattr(sf, name)
        lines += ["", f"## sf.{name}", "", inspect.getdoc(module) or ""]
        for part in getattr(module, "__all__", ()):
            lines += _entry(f"sf.{name}.{part}", getattr(module, part))
    return "\n".join(lines) + "\n"


RESULTS = """\
```python
import surefoot as sf
```

Verbs return frozen records. All have `headline` (the finding in sentences), `settings`,
`columns()`, `rows()`, `to_pandas()`, `to_polars()` and `to_dict()`; the columns are attributes too,
as arrays or tuples. Scores may be a path, `"-"`, a dict of dicts, a pandas, polars or Arrow frame,
a `ScoreMatrix` or what `sf.evaluate(..., per_topic=True)` returned
([reading files and frames](../how-to/read-files-and-frames.md)). Errors that a user can cause
derive from `sf.SurefootError`, a `ValueError`."""


def _entry(title: str, thing: object) -> list[str]:
    if isinstance(thing, ModuleType):
        return ["", f"### {title}", "", inspect.getdoc(thing) or ""]
    signature = title
    if inspect.isfunction(thing):
        signature = _signature(title, thing)
    return ["", f"### {title}", "", "```text", signature, "", inspect.getdoc(thing) or "", "```"]


def _signature(title: str, function: Callable[..., object]) -> str:
    """Names and defaults; the types are in the docstring. Wrapped at 88 columns."""
    lines = [f"{title}("]
    starred = False
    for parameter in inspect.signature(function).parameters.values():
        text = parameter.name
        if parameter.default is not parameter.empty:
            text += f"={parameter.default!r}"
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            text, starred = f"*, {text}", True
        if not lines[-1].endswith("("):
            lines[-1] += ","
            if len(lines[-1]) + len(text) > 86:
                lines.append(f"    {text}")
                continue
            text = f" {text}"
        lines[-1] += text
    return "\n".join(lines) + ")"


def index() -> str:
    """The index, its lists brought up to date."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    for folder in ORDER:
        made = "\n".join(_listed(folder))
        text = re.sub(
            rf"(<!-- {folder} -->\n).*?(<!-- end -->)",
            lambda found, made=made: f"{found[1]}{made}\n{found[2]}",
            text,
            flags=re.DOTALL,
        )
    return text


def _listed(folder: str) -> Iterator[str]:
    """A link to each page of a folder, by its heading."""
    order = ORDER[folder]
    pages = sorted((DOCS / folder).glob("*.md"), key=lambda page: page.stem)
    place = {name: i for i, name in enumerate(order)}
    for page in sorted(pages, key=lambda page: place.get(page.stem, len(order))):
        heading = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{heading}]({folder}/{page.name})"


# in this order: the index reads the headings of what is written before
PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands,
    "reference/python.md": python,
    "README.md": index,
}


if __name__ == "__main__":
    for page, write in PAGES.items():
        (DOCS / page).write_text(write(), encoding="utf-8")
        print(f"docs/{page}")

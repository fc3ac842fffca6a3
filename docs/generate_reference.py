"""Write docs/reference/commands.md and python.md from the programs' own help and docstrings."""

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

HERE = Path(__file__).resolve().parent / "reference"


def commands() -> str:
    """Every command's help, as printed."""
    from surefoot.cli.inst_eval import command as inst_eval
    from surefoot.cli.main import COMMANDS

    lines = ["# Commands", "", "Written by `make docs` from the programs' own help.", ""]
    shown: list[tuple[str, click.Command]] = []
    for name, (module, _) in COMMANDS.items():
        command = import_module(module).command
        shown.append((f"surefoot {name}", command))
        if isinstance(command, click.Group):
            shown += [(f"surefoot {name} {sub}", c) for sub, c in command.commands.items()]
    shown.append(("inst_eval", inst_eval))
    for title, command in shown:
        context = click.Context(command, info_name=title, terminal_width=88, max_content_width=88)
        lines += [f"## {title}", "", "```text", command.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines)


def python() -> str:
    """Every public name of `surefoot`, its signature and docstring."""
    import surefoot as sf

    lines = ["# Python", "", "Written by `make docs` from the docstrings.", ""]
    for name in sf.__all__:
        thing = getattr(sf, name)
        if name == "__version__":
            continue
        if isinstance(thing, ModuleType):
            lines += [f"## sf.{name}", "", inspect.getdoc(thing) or "", ""]
            for part in getattr(thing, "__all__", ()):
                lines += _entry(f"sf.{name}.{part}", getattr(thing, part))
        else:
            lines += _entry(f"sf.{name}", thing)
    return "\n".join(lines)


def _entry(title: str, thing: object) -> list[str]:
    doc = inspect.getdoc(thing) or ""
    if inspect.isclass(thing) or not callable(thing):
        signature = title
    else:
        signature = f"{title}{inspect.signature(thing)}"
    return [f"### {title}", "", "```text", signature, "", doc, "```", ""]


PAGES: dict[str, Callable[[], str]] = {"commands.md": commands, "python.md": python}


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for page, write in PAGES.items():
        (HERE / page).write_text(write(), encoding="utf-8")
        print(f"docs/reference/{page}")

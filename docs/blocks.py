"""Run the code blocks of the docs: check them, or with --update write what they print.

A ``console`` block holds commands after ``$ `` and, below each, exactly what it prints on a
100-column terminal without colour. A ``pycon`` block is a session and what it prints; a ``python``
block must run. All blocks of a page share one new folder and one Python namespace, in order.
"""

import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```(console|pycon|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Every page with at least one block to run."""
    found = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [p for p in found if BLOCK.search(p.read_text(encoding="utf-8"))]


def rendered(page: Path) -> str:
    """The page's text with every block's output as it is now; raises where a block fails."""
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    state = {"status": 0}

    def replace(match: re.Match[str]) -> str:
        kind, body = match.groups()
        if kind == "console":
            body = _console(body, state)
        elif kind == "pycon":
            body = _pycon(body, namespace)
        else:
            with redirect_stdout(io.StringIO()):
                exec(compile(body, str(page), "exec"), namespace)
        return f"```{kind}\n{body}```"

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return BLOCK.sub(replace, text)


def _console(body: str, state: dict[str, int]) -> str:
    out = []
    command: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            command = [line[2:]]
        elif command and command[-1].endswith("\\"):
            command.append(line)
        else:
            continue
        if not line.endswith("\\"):
            text = "\n".join(command)
            out.append(f"$ {text}\n{_shell(text, state)}")
    return "".join(out)


def _shell(command: str, state: dict[str, int]) -> str:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"(exit {state['status']})\n{command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
        check=False,
    )
    state["status"] = done.returncode
    if "Traceback (most recent call last)" in done.stdout:
        raise RuntimeError(f"`{command}` failed:\n{done.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def _pycon(body: str, namespace: dict[str, Any]) -> str:
    """A session with what its examples print now."""
    lines = []
    for example in doctest.DocTestParser().get_examples(body):
        first, *rest = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in rest)]
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(example.source, "<block>", "single"), namespace)
        lines += [line.rstrip() for line in printed.getvalue().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def main() -> int:
    """Check every page, or rewrite them with --update."""
    update = "--update" in sys.argv
    named = [Path(a).resolve() for a in sys.argv[1:] if not a.startswith("-")]
    stale = []
    for page in named or pages():
        now = rendered(page)
        if now != page.read_text(encoding="utf-8"):
            stale.append(page)
            if update:
                page.write_text(now, encoding="utf-8")
    for page in stale:
        print(f"{page.relative_to(DOCS.parent)}: {'updated' if update else 'out of date'}")
    return 0 if update or not stale else 1


if __name__ == "__main__":
    sys.exit(main())

"""A gate's result for CI: JUnit XML and a Markdown summary."""

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from surefoot.render.visible import visible
from surefoot.results.gate import GateResult

# characters that XML 1.0 cannot hold even escaped
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(result: GateResult) -> str:
    """One test case for each expression, challenger and slice."""
    rows = _rows(result)
    failures = sum(1 for r in rows if r["failed"])
    skipped = sum(1 for r in rows if not r["failed"] and r["outcome"] == "undefined")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites tests="{len(rows)}" failures="{failures}" skipped="{skipped}">',
        f'  <testsuite name="surefoot gate" tests="{len(rows)}" failures="{failures}" '
        f'errors="0" skipped="{skipped}">',
    ]
    for r in rows:
        where = "" if r["slice"] == "all" else f" on {r['slice']}"
        case = f"    <testcase classname={_attribute(r['system'])} name="
        case += _attribute(f"{r['expression']}{where}")
        if r["failed"]:
            text = "\n".join([r["values"], *r["worst_topics"]])
            message = _attribute(f"{r['expression']} {r['outcome']}: {r['values']}")
            lines += [
                case + ">",
                f'      <failure type="gate" message={message}>{_text(text)}</failure>',
                "    </testcase>",
            ]
        elif r["outcome"] == "undefined":
            lines += [case + ">", f"      <skipped message={_attribute(r['values'])}/>"]
            lines.append("    </testcase>")
        else:
            lines.append(case + "/>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _rows(result: GateResult) -> list[dict[str, Any]]:
    """The rows, the worst queries one by one: their ids may hold any character."""
    return [
        row | {"worst_topics": worst}
        for row, worst in zip(result.rows(), result.topics, strict=True)
    ]


def _text(value: str) -> str:
    return escape(_NOT_XML.sub("?", value))


def _attribute(value: str) -> str:
    return quoteattr(_NOT_XML.sub("?", value))


def markdown(result: GateResult) -> str:
    """A summary for a pull request: the finding, then every check, then the worst queries."""
    lines = [f"### {'Passed' if result.passed else 'Failed'}: search quality gate", ""]
    lines += [f"{_cell(sentence)}\n" for sentence in result.headline[:1]]
    lines += ["| | system | queries | fails if | values |", "|---|---|---|---|---|"]
    for r in _rows(result):
        mark = (
            "fails" if r["failed"] else ("undefined" if r["outcome"] == "undefined" else "passes")
        )
        cells = [mark, r["system"], r["slice"], r["expression"], r["values"]]
        lines.append("| " + " | ".join(_cell(c) for c in cells) + " |")
    for r in _rows(result):
        if r["failed"] and r["worst_topics"]:
            where = "" if r["slice"] == "all" else f" on {r['slice']}"
            lines += ["", f"Worst queries of {_cell(r['system'])}{_cell(where)}:", ""]
            lines += [f"- {_cell(t)}" for t in r["worst_topics"]]
            break
    return "\n".join(lines) + "\n"


def _cell(value: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    text = visible(" ".join(value.split()))
    text = re.sub(r"([\\`*_{}\[\]#|~])", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

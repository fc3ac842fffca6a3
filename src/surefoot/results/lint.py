"""What is wrong or suspicious in judgments and runs."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.results.record import Column, Result


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about one file.

    Parameters
    ----------
    file : str
        Which file.
    severity : "error", "warning" or "note"
        An error keeps the file from being used; a warning makes scores doubtful; a note is news.
    check : str
        Which check found it, a stable name to search and filter for.
    message : str
        One plain sentence.
    """

    file: str
    severity: str
    check: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport(Result):
    """Findings, file after file."""

    command: ClassVar[str] = "lint"

    findings: tuple[Finding, ...] = ()

    def columns(self) -> dict[str, Column]:
        """file, severity, check, message."""
        return {
            name: [getattr(f, name) for f in self.findings]
            for name in ("file", "severity", "check", "message")
        }

    def count(self, severity: str) -> int:
        """Number of findings of one severity."""
        return sum(f.severity == severity for f in self.findings)

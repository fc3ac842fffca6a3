"""Every error that a user can cause, in one tree.

SurefootError (ValueError)
├── InputError          a file or table is wrong; the message says where and the way out
│   └── ParseError      one line of one file is wrong: ``file:line: what. Hint``
├── AlignmentError      inputs do not belong together (topics, systems, runs and judgments)
├── MeasureError        a measure's name or options cannot be understood
├── ModelError          a statistical model cannot be fitted to these data
└── MissingExtraError   an optional library is not installed (also an ImportError)

UnreliableWarning is the one warning: a result was computed but should not be trusted as it stands.
"""


class SurefootError(ValueError):
    """The root of all errors that a user can cause."""


class InputError(SurefootError):
    """A file or table is wrong."""


class ParseError(InputError):
    """One line of one file is wrong."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message

    def __reduce__(self) -> tuple[type["ParseError"], tuple[str, int, str]]:
        """Travels from a worker's process whole."""
        return (type(self), (self.path, self.line, self.message))


class AlignmentError(SurefootError):
    """Inputs do not belong together."""


class MeasureError(SurefootError):
    """A measure's name or options cannot be understood."""


class ModelError(SurefootError):
    """A statistical model cannot be fitted to these data."""


class MissingExtraError(SurefootError, ImportError):
    """An optional library is not installed."""


class UnreliableWarning(UserWarning):
    """A result was computed but should not be trusted as it stands."""

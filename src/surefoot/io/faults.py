"""Words for what is wrong with a line of a TREC file: what, where, and the way out."""

from surefoot.errors import ParseError
from surefoot.kernels.text import Fault

COLUMNS = {
    "judgments": ("topic", "iteration", "document", "grade"),
    "run": ("topic", "Q0", "document", "rank", "score", "tag"),
}


def parse_error(error: Exception, path: str, kind: str, *, lines_before: int = 0) -> ParseError:
    """One line for a `TextError` of the reader.

    Parameters
    ----------
    error : TextError
        With the arguments that kernels/text.py describes.
    kind : "judgments" or "run"
        What the file was read as.
    lines_before : int
        Lines of the file in front of the part that was read.
    """
    fault, line, text, whole, count = error.args
    return ParseError(path, line + lines_before, _words(fault, text, whole, count, kind))


def shown(raw: bytes, limit: int = 80) -> str:
    """Text in quotes, cut to a readable length, odd bytes visible."""
    text = raw.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= limit else text[:limit] + "...")


def _words(fault: int, text: bytes, whole: bytes, count: int, kind: str) -> str:
    columns = COLUMNS[kind]
    if fault == Fault.FIELD_COUNT:
        article = "a line of judgments" if kind == "judgments" else "a line of a run"
        message = (
            f"has {count} field{'s' * (count != 1)} where {article} has {len(columns)} "
            f"({' '.join(columns)}): {shown(whole)}"
        )
        return message + _hint_for_count(whole, count, kind)
    if fault == Fault.DUPLICATE:
        return (
            f"document {shown(text)} occurs twice for topic {shown(whole)}. "
            "Hint: remove one, or keep one with duplicates 'first' or 'last'"
        )
    if fault == Fault.CONTROL_CHARACTER:
        return (
            f"has the byte 0x{text[0]:02x}, which no text has: {shown(whole)}. "
            + "Hint: "
            + (
                "the file looks like UTF-16; save it as UTF-8"
                if whole.count(b"\0") * 3 > len(whole)
                else "the file is binary or damaged"
            )
        )
    if fault == Fault.TOPIC_TOO_LARGE:
        return f"topic {shown(text)} holds more than 4 GB. Hint: is the file a run?"
    if fault == Fault.LINE_TOO_LONG:
        return f"is longer than 64 MB: {shown(whole)}. Hint: is the file text?"
    column = columns[count]
    if fault == Fault.NOT_FINITE:
        return (
            f"the {column} is not a finite number: {shown(text)}. "
            "Hint: leave the document out or give it a finite number"
        )
    if fault == Fault.TOO_LARGE:
        return f"the {column} is too large for a number: {shown(text)}. Hint: rescale the scores"
    return f"the {column} is not a number: {shown(text)}{_hint_for_number(text, whole, kind)}"


def _hint_for_count(whole: bytes, count: int, kind: str) -> str:
    fields = whole.split()
    if b"\r" in whole:
        return ". Hint: the lines end in carriage returns alone; convert them to newlines"
    if whole[:1] in b"{[":
        return ". Hint: this looks like JSON, not a TREC file"
    if whole[:1] == b"<":
        return ". Hint: this looks like XML or HTML, not a TREC file"
    if count < 3 and max(whole.count(b","), whole.count(b";")) >= 2:
        return ". Hint: this looks like CSV; columns of a TREC file are separated by blanks"
    if kind == "judgments" and count == 6 and _is_number(fields[4]):
        return ". Hint: this looks like a run; are the judgments and the run swapped?"
    if kind == "run" and count == 4 and _is_number(fields[3]):
        return ". Hint: these look like judgments; are the judgments and the run swapped?"
    if kind == "run" and count == 5:
        return ". Hint: is the tag at the end of the line missing?"
    if count > len(COLUMNS[kind]):
        return ". Hint: ids must not contain blanks"
    if kind == "judgments" and count == 3:
        return ". Hint: is the second column (0) missing?"
    return ". Hint: is the line cut short?"


def _hint_for_number(text: bytes, whole: bytes, kind: str) -> str:
    if b"," in text:
        return ". Hint: write decimals with a point and thousands without a comma"
    if b"_" in text:
        return ". Hint: digits cannot be grouped with _"
    if text[:2].lower() == b"0x":
        return ". Hint: write hexadecimal numbers as decimal ones"
    if text.strip(b"\"'") != text:
        return ". Hint: remove the quotes"
    if not any(_is_number(field) for field in whole.split()):
        return ". Hint: this looks like a header; remove the line"
    if kind == "run":
        return f". Hint: the columns are {' '.join(COLUMNS[kind])}, and ids must not contain blanks"
    return f". Hint: the columns are {' '.join(COLUMNS[kind])}"


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field

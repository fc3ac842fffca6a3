"""Names come out of files, and a terminal obeys what it is sent."""

import re

# control characters, line separators, turns of writing direction, bytes that are no UTF-8
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""The text with what a terminal would obey, or could not show, as escapes such as ``\x1b``."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

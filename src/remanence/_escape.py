"""Text from outside (names in files, paths, alphabets) as a terminal may show it."""

import json


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with everything that is no visible character escaped as JSON escapes it.

    Escape sequences, bidirectional marks, new lines and bytes that are no text can
    then neither colour a terminal nor forge a line. `keep` names characters to leave.
    A JSON document stays the same document, since these stand inside its strings.

    >>> printable("a\x1b[31m\u202eb\nλ")
    'a\\u001b[31m\\u202eb\\nλ'
    """
    return "".join(c if c.isprintable() or c in keep else json.dumps(c)[1:-1] for c in text)

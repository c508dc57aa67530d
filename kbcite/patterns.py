"""Regular expressions that are compiled when they are first used.

Python compiles them in Python, half a millisecond each and a whole one for every range of Chinese characters. What reads answers has two
hundred of them, a tenth of a second at each start, and one question uses half.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")


def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """The regular expression; a mistake in it is raised at its first use."""
    return cast("re.Pattern[str]", _Uncompiled(expression, flags))


class _Uncompiled:
    def __init__(self, expression: str, flags: int) -> None:
        self._expression = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._expression, self._flags)
        # From here on these are found without passing here.
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)

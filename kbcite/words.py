"""Words of Chinese and English text: the terms that word search goes by, word counts, and the language of a text.

Chinese has no spaces. For search, a run of CJK characters becomes its single characters and its bigrams, which
measured as well as a dictionary segmenter and needs none; Latin words, numbers and versions stay whole.
For sizes, running Chinese text has about 1.6 characters a word.
"""

from __future__ import annotations

import re
import unicodedata

CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CHARACTERS_PER_CHINESE_WORD = 1.6

_CJK_RUN = re.compile(f"[{CJK}]+")
_TERM = re.compile(f"[{CJK}]+|[^\\W_{CJK}]+(?:[.\\-+#'][^\\W_{CJK}]+)*")
_LETTER = re.compile(r"[^\W\d_]")


def normalise(text: str) -> str:
    """NFKC and lower case: what terms are compared in."""
    return unicodedata.normalize("NFKC", text).lower()


def terms(text: str) -> list[str]:
    """Search terms in order, with repeats: CJK characters and bigrams, other words whole (`3.11`, `v1.2`, `c++` kept)."""
    found: list[str] = []
    for match in _TERM.finditer(normalise(text)):
        run = match.group()
        if _CJK_RUN.match(run):
            found.extend(run)
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(run)
    return found


def count_words(text: str) -> int:
    """Words of a text: Latin words and numbers one each, Chinese by characters per word, at least 1 for any word."""
    chinese = words = 0
    for match in _TERM.finditer(text):
        run = match.group()
        if _CJK_RUN.match(run):
            chinese += len(run)
        else:
            words += 1
    return words + -(-int(chinese * 10) // int(CHARACTERS_PER_CHINESE_WORD * 10))


def language_of(text: str) -> str:
    """`zh` where at least a fifth of the letters are CJK, else `en`."""
    letters = len(_LETTER.findall(text))
    chinese = sum(len(run) for run in _CJK_RUN.findall(text))
    return "zh" if letters and chinese / letters >= 0.2 else "en"

"""Whether decoded text is text: mojibake and binary data never reach the store (SPEC 15).

What text of the wrong encoding looks like depends on the script it was taken for: rare ideographs and Hangul, half-width
katakana, runs of accented letters and signs, capitals inside Cyrillic words.
"""

from __future__ import annotations

import re
from functools import cache

from kbcite.page import character_frequency
from kbcite.page.encoding import not_plain
from kbcite.page.encoding_labels import REPLACEMENT
from kbcite.records import DecodedPage

_CONTROLS = bytes((*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20)))
_MOST_CONTROLS = 0.002
"""Share of control characters in a page; a stray one is common, of a binary file they are 10 %."""
_ASCII_TO_BLANK = bytes.maketrans(bytes(range(128)), b" " * 128)
_MOST_WINDOWS, _WINDOW = 8, 4000
"""Of a longer page so many parts of so many characters are judged, unless next to nothing in them is above ASCII."""
_SAMPLE = 1000
"""Characters above ASCII that are judged, taken from all over a page."""
_ENOUGH = 20
"""Characters below which shares say nothing."""

_FOREIGN = re.compile("[À-ÿ\u0370-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff61-\uff9f]")
"""A letter of one of the scripts that mojibake is made of."""
_BAKED_IN = "锟斤拷"
"""What U+FFFD in UTF-8 becomes when the bytes are read as GBK, often before they reached the server."""
_MOST_DAMAGE = 0.05
"""Share of characters above ASCII that may be U+FFFD."""

_IDEOGRAPH_OR_HANGUL = re.compile("[\u3400-\u9fff\uf900-\ufaff\uac00-\ud7a3]")
_LEAST_COMMON = 0.7
"""Least share of common characters among ideographs and Hangul. Over 900 real pages the lowest shares were 0.79 (of 28
characters) and 0.88; of 1,000 pages read with each wrong East Asian encoding the highest were 0.66 and 0.64."""
_HALF_WIDTH_KATAKANA = re.compile("[\uff61-\uff9f]")

_MANGLED_PUNCTUATION = re.compile("â[\x80-\x9f€].|Â.|ï¿½", re.DOTALL)
"""Quotation marks, dashes and no-break spaces of twice encoded UTF-8: ugly, but the words around them are whole."""
_LATIN_RUN = re.compile("[\x80-\xff\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122\ufffd]{3,}")
_ACCENTED = re.compile("[À-ÿ]")
_CYRILLIC_PAIR = re.compile("[а-я](?=[А-Яа-я])")
_INNER_CAPITAL = re.compile("[а-я](?=[А-Я])")


def why_unreadable(page: DecodedPage, unusual: bytes | None = None) -> str | None:
    """None for a page that reads as text, else a word for `Skipped.reason`.

    `refused_encoding` (one that browsers do not decode either), `binary_data`, `replacement_characters` (bytes that did not
    decode, now or on their way here), or `mojibake` (decoded, but to what no one writes). unusual: what `not_plain` leaves of the page, where it is at hand.
    """
    if page.encoding == REPLACEMENT:
        return "refused_encoding"
    if unusual is None:
        unusual = not_plain(page.text.encode("utf-8", "surrogatepass"))
    if len(unusual) - len(unusual.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(page.text):
        return "binary_data"
    seen = unusual.decode("utf-8", "surrogatepass")
    lost = seen.count("\ufffd") + len(_BAKED_IN) * seen.count(_BAKED_IN)
    if lost > 2 and lost > _MOST_DAMAGE * len(seen):
        return "replacement_characters"
    if len(seen) < _ENOUGH or not _FOREIGN.search(seen):
        return None  # typographic quotes and the like
    sample = _sample(page.text)
    length = len(sample) - sample.count(" ")
    if length >= _ENOUGH and (_is_rare_east_asian(sample, length) or _is_garbled_letters(sample)):
        return "mojibake"
    return None


def _sample(text: str) -> str:
    """Runs of characters above ASCII from all over the text, with a blank between them."""
    part = _windows(text)
    runs = _runs(part)
    if len(runs) < _ENOUGH and len(part) < len(text):
        runs = _runs(text)
    total = sum(map(len, runs)) // 2  # characters, more or less: they have two to four bytes
    if total > _SAMPLE:
        runs = runs[:: total // _SAMPLE + 1]
    return b" ".join(runs).decode("utf-8", "surrogatepass")[: 2 * _SAMPLE]


def _windows(text: str) -> str:
    """The text, or equally spaced parts of a long one."""
    if len(text) <= _MOST_WINDOWS * _WINDOW:
        return text
    step = (len(text) - _WINDOW) // (_MOST_WINDOWS - 1)
    return " ".join(text[start : start + _WINDOW] for start in range(0, len(text) - _WINDOW + 1, step))


def _runs(text: str) -> list[bytes]:
    """The runs above ASCII, in UTF-8. Bytes are split ten times as fast as a regular expression looks at characters."""
    return text.encode("utf-8", "surrogatepass").translate(_ASCII_TO_BLANK).split()


def _is_rare_east_asian(sample: str, length: int) -> bool:
    characters = _IDEOGRAPH_OR_HANGUL.findall(sample)
    common = sum(map(_common().__contains__, characters))
    if len(characters) >= _ENOUGH and common < _LEAST_COMMON * len(characters):
        return True
    return len(_HALF_WIDTH_KATAKANA.findall(sample)) > 0.5 * length


@cache
def _common() -> frozenset[str]:
    lists = character_frequency
    return frozenset(lists.SIMPLIFIED + lists.TRADITIONAL + lists.KANJI + lists.HANGUL)


def _is_garbled_letters(sample: str) -> bool:
    """True for multi-byte text that was read byte by byte as Latin or Cyrillic.

    Accented letters of European languages stand alone or in twos; bytes of Chinese text stand in long runs.
    """
    words = _MANGLED_PUNCTUATION.sub(" ", sample)
    length = len(words) - words.count(" ")
    in_runs = sum(len(run) for run in _LATIN_RUN.findall(words) if _ACCENTED.search(run))
    if length >= _ENOUGH and in_runs > 0.5 * length:
        return True
    pairs = len(_CYRILLIC_PAIR.findall(words))
    return pairs >= _ENOUGH and len(_INNER_CAPITAL.findall(words)) > 0.1 * pairs

"""Bytes of a page to text, whatever the page or its server says about them.

Declared labels lie too often on the Chinese web to be obeyed, so the bytes decide and a label is evidence. In order:

1. A byte-order mark, or UTF-16 without one that starts with `<`.
2. ASCII only: nothing to decide (ISO-2022-JP where its escape sequence stands in the bytes). Chinese or Korean shifted
   into ASCII (HZ, ISO-2022-KR) is told and refused.
3. UTF-8, because other encodings hardly ever form it by chance. A body cut inside a character passes, and so does a
   damaged one with at least 8 good characters for each broken place. No label overrules it, but one of an East Asian
   encoding where all there is are a few two-byte characters, which Chinese characters do form by chance.
4. GB18030, Big5, Shift_JIS, EUC-JP, EUC-KR: the one in which the page reads most like running text of its script, by the
   frequency of its characters; strict decoding cannot tell them apart, since nearly all Big5, EUC-JP and EUC-KR pages are
   valid GB18030. A declared label is a bonus, of the document more than of the server.
5. A single-byte encoding: the declared one if the bytes allow it, header first, else the finding of charset-normalizer.

Bytes that do not decode become U+FFFD and are counted; the archive keeps the bytes, so a page can be decoded again.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections import Counter
from functools import cache

from kbcite.page import character_frequency
from kbcite.page.encoding_labels import CODECS, REPLACEMENT, is_refused, name_of
from kbcite.records import DecodedPage

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_BARE_UTF16 = {b"<\x00": "utf-16le", b"\x00<": "utf-16be"}
_EAST_ASIAN = ("gb18030", "big5", "shift_jis", "euc-jp", "euc-kr")

_DECLARATION_BYTES = 8192
"""How far a declaration is looked for; the standard's 1,024 bytes miss pages that begin with long scripts."""
_NOT_MARKUP = re.compile(rb"<!--.*?-->|<(script|style|title|noscript)\b.*?</\1", re.DOTALL | re.IGNORECASE)
_HIDDEN_START = re.compile(rb"<(?:!--|script|style|title|noscript)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"']+)""", re.IGNORECASE)
_HEADER_CHARSET = re.compile(r"""\bcharset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)

_UTF8_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CUT_CHARACTER = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
_ASCII = bytes(range(128))
_BROKEN_PLACE = re.compile("\ufffd+")
_GOOD_PER_BROKEN_PLACE = 8
_HZ_RUN = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])+~\}")
_FEW_CHARACTERS = 12
"""Two-byte UTF-8 characters below which a declared East Asian label is believed instead."""

_ENCODED_RUN = re.compile(rb"(?:[\x80-\xff][\x30-\x7e]?)+")
_SAMPLE_BYTES = 2400
_WINDOWS, _WINDOW_BYTES = 12, 1000
"""Of larger pages so many equally spaced parts of so many bytes are sampled, unless these are nearly all ASCII."""
_MOSTLY_LONE = 0.6
"""Share of runs of a single byte above ASCII from which a text is Western."""
_BONUS = {"meta": 0.12, "xml": 0.12, "header": 0.06}
_SHORT_SAMPLE, _SHORT_FACTOR = 40, 2.5
"""Below this many characters frequencies say little, and declared labels count for more."""
_RARE = -0.35
"""Weight of a character that is not common in its script, where a common one has 1."""
_CLEAR_SCORE = 0.6
"""Score of 40 characters or more that no wrong encoding reaches: over 3,500 samples of pages read in each of the five
encodings, right ones scored 0.58 and more, wrong ones 0.41 and less."""
_LEAST_SCORE = -0.1
"""Score below which no East Asian encoding fits."""

_WESTERN_BYTES = 16_000
"""Of a Western page so much before the first byte above ASCII and twice as much behind it is looked at."""
_WESTERN_ADVANTAGE = 0.1
"""How much better another single-byte encoding than windows-1252, the web's default, must fit a language."""
_SINGLE_BYTE_CODECS = sorted(
    {codec for name, codec in CODECS.items() if name.startswith(("iso-8859", "windows", "koi8"))}
)


def decode(data: bytes, content_type: str | None) -> DecodedPage:
    """The text of a page, with the encoding, what decided on it, and how sure that is.

    content_type: value of the Content-Type header, or None. Never raises: undecodable bytes become U+FFFD.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _page(data.decode(CODECS[name], "replace")[1:], name, "bom", ())
    declared = _declared_labels(data, content_type)
    names = {place: known for place, label in declared if (known := name_of(label))}
    if utf16 := _utf16_without_bom(data, names):
        return _page(data.decode(CODECS[utf16], "replace"), utf16, "declared", declared)
    if data.isascii():
        if _is_shifted(data, declared):
            return DecodedPage(data.decode("ascii"), REPLACEMENT, "ascii", declared)
        if b"\x1b$" in data:
            return _page(data.decode("iso2022_jp_1", "replace"), "iso-2022-jp", "ascii", declared)
        return DecodedPage(data.decode("ascii"), "utf-8", "ascii", declared)
    return (
        _as_utf8(data, names, declared)
        or _as_east_asian(data, names, declared)
        or _as_single_byte(data, names, declared)
    )


def _is_shifted(data: bytes, declared: tuple[tuple[str, str], ...]) -> bool:
    """True for ASCII bytes that stand for other characters between marks, by their label or by how many they are."""
    if any(is_refused(label) for _, label in declared) and (b"~{" in data or b"\x1b$" in data):
        return True
    if b"~}" not in data:
        return False
    score, length = _likeness(b"".join(_HZ_RUN.findall(data)).decode("hz", "replace"), "gb18030")
    return length >= _SHORT_SAMPLE and score >= _CLEAR_SCORE


def _page(
    text: str, name: str, how: str, declared: tuple[tuple[str, str], ...], confidence: float = 1.0
) -> DecodedPage:
    damage = text.count("\ufffd") / len(text) if text else 0.0
    return DecodedPage(text, name, how, declared, damage, round(confidence, 3))


_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f"  # control characters but tab, line and page breaks: terminal escapes start with them
    "\u00ad\u200b\u2060\ufeff"  # soft hyphen and zero-width spaces
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"  # interlinear annotation, tag characters, supplementary variation selectors
)
_PLAIN = bytes((*b"\t\n\f\r", *range(0x20, 0x7F)))
_REFERENCE = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,8})|#([0-9]{1,8})|(shy|lrm|rlm|ZeroWidthSpace|NoBreak)\b);?")


def utf8_of(page: DecodedPage, data: bytes) -> bytes:
    """The text of a page in UTF-8: `data`, the bytes it was decoded from, where they are just that, or a copy.

    C code looks through bytes many times as fast as Python looks through text.
    """
    if page.encoding == "utf-8" and not page.damage and not data.startswith(codecs.BOM_UTF8):
        return data
    return page.text.encode("utf-8", "replace")


def not_plain(utf8: bytes) -> bytes:
    """All that is not plain ASCII in the text: little of most pages, so that it can be looked at with care."""
    return utf8.translate(None, _PLAIN)


def strip_invisible(text: str, unusual: bytes | None = None) -> str:
    """The text without characters that are not seen but change what is shown, found or obeyed, written out or as `&#x202e;`.

    Tabs, line breaks, joiners (emoji, Indic scripts) and emoji variation selectors stay. Apply it to decoded text before
    anything takes offsets in it: `Span.source_start` counts in its result. The text itself comes back where there is nothing
    to strip. unusual: what `not_plain` leaves of it, where it is at hand.
    """
    if unusual is None:
        unusual = not_plain(text.encode("utf-8", "surrogatepass"))
    # Regular expressions are slow on whole pages: each unusual character and each reference is looked at once.
    for character in set(_INVISIBLE.findall(unusual.decode("utf-8", "surrogatepass"))):
        text = text.replace(character, "")
    if "&" in text and any(_is_invisible(*groups) for groups in set(_REFERENCE.findall(text))):
        text = _REFERENCE.sub(lambda match: _visible(match, ""), text)
        # Taking one out may have made another of what stood around it; a space cannot.
        text = _REFERENCE.sub(lambda match: _visible(match, " "), text)
    return text


def _visible(reference: re.Match[str], instead: str) -> str:
    """The reference itself, unless it stands for an invisible character."""
    return instead if _is_invisible(*reference.groups(default="")) else reference[0]


def _is_invisible(hexadecimal: str, decimal: str, name: str) -> bool:
    """True for the parts of a reference that stands for an invisible character."""
    code = -1 if name else int(hexadecimal, 16) if hexadecimal else int(decimal)
    # 128 to 159 mean windows-1252 in HTML: `&#146;` is an apostrophe.
    return not (0x80 <= code < 0xA0 or (0 <= code <= sys.maxunicode and not _INVISIBLE.match(chr(code))))


# ---------------------------------------------------------------- what is declared


def _declared_labels(data: bytes, content_type: str | None) -> tuple[tuple[str, str], ...]:
    """Labels as (place, label), the first known one of each place, else the first."""
    found: list[tuple[str, str]] = []
    if header := _HEADER_CHARSET.search(content_type or ""):
        found.append(("header", header[1]))
    head = data[:_DECLARATION_BYTES]
    if xml := _XML_ENCODING.match(head):
        found.append(("xml", xml[1].decode("latin-1")))
    labels = [label.decode("latin-1") for label in _META_CHARSET.findall(_before_hidden(head))]
    if not any(map(name_of, labels)):
        labels = [label.decode("latin-1") for label in _META_CHARSET.findall(_NOT_MARKUP.sub(b"", head))]
    if labels:
        found.append(("meta", next((label for label in labels if name_of(label)), labels[0])))
    return tuple(found)


def _before_hidden(head: bytes) -> bytes:
    """What stands before the first script, style or comment: there is no need to take any out of it."""
    first = _HIDDEN_START.search(head)
    return head[: first.start()] if first else head


def _utf16_without_bom(data: bytes, names: dict[str, str]) -> str | None:
    """UTF-16 by its first character, or by the header; a meta element that could be read as ASCII is not UTF-16."""
    if name := _BARE_UTF16.get(data[:2]):
        return name
    header = names.get("header")
    if header in ("utf-16le", "utf-16be") and b"\x00" in data[:1024]:
        return header
    return None


# ---------------------------------------------------------------- UTF-8


def _as_utf8(data: bytes, names: dict[str, str], declared: tuple[tuple[str, str], ...]) -> DecodedPage | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _as_damaged_utf8(data, declared)
    # A two-byte character is one byte longer than its text, any other is more.
    few = len(data) - len(text) < _FEW_CHARACTERS and any(name in _EAST_ASIAN for name in names.values())
    if few and len(data) - len(text) == len(re.findall("[^\x00-\x7f]", text)):
        return None
    return DecodedPage(text, "utf-8", "utf-8", declared)


def _as_damaged_utf8(data: bytes, declared: tuple[tuple[str, str], ...]) -> DecodedPage | None:
    text = data.decode("utf-8", "replace")
    # Other encodings are mostly broken as UTF-8, which is quickly seen; only what is not is counted with care.
    if text.count("\ufffd") > len(data.translate(None, _ASCII)) / 3:
        return None
    good = len(_UTF8_CHARACTER.findall(data))
    broken = len(_BROKEN_PLACE.findall(text)) - bool(_CUT_CHARACTER.search(data, len(data) - 3))
    if good < max(4, _GOOD_PER_BROKEN_PLACE * broken):
        return None
    return _page(text, "utf-8", "utf-8", declared, good / (good + broken))


# ---------------------------------------------------------------- East Asian encodings


def _as_east_asian(data: bytes, names: dict[str, str], declared: tuple[tuple[str, str], ...]) -> DecodedPage | None:
    """The page in the encoding it reads best in; declared ones are tried first, and a clear case ends the search."""
    sample = _sample(data)
    if not sample:
        return None
    scores: dict[str, float] = {}
    for name in sorted(_EAST_ASIAN, key=lambda name: name not in names.values()):
        score, length = _likeness(sample.decode(CODECS[name], "replace"), name)
        if score >= _CLEAR_SCORE and length >= _SHORT_SAMPLE:
            return _east_asian_page(data, name, names, declared, score)
        factor = 1.0 if length >= _SHORT_SAMPLE else _SHORT_FACTOR
        scores[name] = score + factor * sum(_BONUS[place] for place, label in names.items() if label == name)
    best, second = sorted(scores, key=scores.__getitem__, reverse=True)[:2]
    if scores[best] < _LEAST_SCORE:
        return None
    return _east_asian_page(data, best, names, declared, scores[best] - scores[second])


def _east_asian_page(
    data: bytes, name: str, names: dict[str, str], declared: tuple[tuple[str, str], ...], confidence: float
) -> DecodedPage:
    how = "declared" if name in names.values() else "frequency"
    return _page(_decode_as(name, data), name, how, declared, min(1.0, confidence))


def _sample(data: bytes) -> bytes:
    """Runs of encoded characters from all over the page, about `_SAMPLE_BYTES` of them, or nothing if it is Western text.

    In Western text nearly every byte above ASCII stands alone between letters; East Asian characters come in runs.
    """
    # No East Asian encoding has `>` inside a character: what is plain ASCII between two of them, mostly scripts, is left out.
    data = b">".join([piece for piece in data.split(b">") if not piece.isascii()])
    runs: list[bytes] = []
    if len(data) > _WINDOWS * _WINDOW_BYTES:
        step = (len(data) - _WINDOW_BYTES) // (_WINDOWS - 1)
        starts = range(0, len(data) - _WINDOW_BYTES + 1, step)
        runs = [run for start in starts for run in _ENCODED_RUN.findall(data, start, start + _WINDOW_BYTES)]
    if sum(map(len, runs)) < _SAMPLE_BYTES / 2:
        runs = _ENCODED_RUN.findall(data)
    total = sum(map(len, runs))
    if total > _SAMPLE_BYTES:
        runs = runs[:: total // _SAMPLE_BYTES]
    lone = sum(len(run) == 1 or (len(run) == 2 and run[1] < 0x80) for run in runs)
    return b"" if lone > _MOSTLY_LONE * len(runs) else b" ".join(runs)[: 2 * _SAMPLE_BYTES]


def _likeness(text: str, name: str) -> tuple[float, int]:
    """How much a sample reads like running text of the encoding's script, about -3 to 1, and its characters above ASCII."""
    weights = _weights(name)
    total, length = 0.0, 0
    for character, count in Counter(text).items():
        if character > "\x7f":
            total += count * weights.get(character, _RARE)
            length += count
    return (total / length if length else -1.0), length


@cache
def _weights(name: str) -> dict[str, float]:
    """Weight of each character of note in text of an encoding; all others are rare ones."""
    common = {
        "gb18030": character_frequency.SIMPLIFIED,
        "big5": character_frequency.TRADITIONAL,
        "shift_jis": character_frequency.KANJI,
        "euc-jp": character_frequency.KANJI,
        "euc-kr": character_frequency.HANGUL,
    }[name]
    weights = dict.fromkeys(map(chr, range(0x3041, 0x3100)), 1.0 if name in ("shift_jis", "euc-jp") else _RARE)
    weights |= dict.fromkeys(map(chr, [*range(0x3000, 0x3020), *range(0xFF01, 0xFF5F)]), 0.7)
    weights |= dict.fromkeys("·—–‘’“”…", 0.7)
    weights |= dict.fromkeys(map(chr, [*range(0x80, 0xA0), *range(0xE000, 0xF900)]), -2.0)
    weights["\ufffd"] = -3.0
    weights |= dict.fromkeys(common, 1.0)
    return weights


def _decode_as(name: str, data: bytes) -> str:
    if name == "gb18030":
        return data.decode("gb18030", "kbcite.euro")
    text = data.decode(CODECS[name], "replace")
    if name == "big5" and "\ufffd" in text:
        hong_kong = data.decode("big5hkscs", "replace")
        if hong_kong.count("\ufffd") < text.count("\ufffd"):
            return hong_kong
    return text


def _euro_or_replacement(error: UnicodeError) -> tuple[str | bytes, int]:
    """A lone 0x80 is the euro sign in the standard's gbk decoder; Python's codecs do not know it."""
    if isinstance(error, UnicodeDecodeError) and error.object[error.start] == 0x80:
        return "€", error.start + 1
    return codecs.replace_errors(error)


codecs.register_error("kbcite.euro", _euro_or_replacement)


# ---------------------------------------------------------------- single-byte encodings


def _as_single_byte(data: bytes, names: dict[str, str], declared: tuple[tuple[str, str], ...]) -> DecodedPage:
    for name in names.values():
        if name in _EAST_ASIAN or name.startswith("utf"):
            continue
        try:
            return _page(data.decode(CODECS[name]), name, "declared", declared, 0.8)
        except UnicodeDecodeError:
            continue
    first = len(data) - len(data.lstrip(_ASCII))
    text_around = data[max(0, first - _WESTERN_BYTES) : first + 2 * _WESTERN_BYTES]
    import charset_normalizer  # only few pages need it, and it costs every question 10 ms

    matches = charset_normalizer.from_bytes(text_around, cp_isolation=_SINGLE_BYTE_CODECS)
    best = matches.best()
    western = next((match for match in matches if "cp1252" in match.could_be_from_charset), None)
    if best is None or (western and best.coherence < western.coherence + _WESTERN_ADVANTAGE):
        best = western
    if best is None:
        return _page(data.decode("cp1252", "replace"), "windows-1252", "charset-normalizer", declared, 0.0)
    codec = "cp1252" if best is western else best.encoding
    name = next(name for name, known in CODECS.items() if known == codec)
    return _page(data.decode(codec, "replace"), name, "charset-normalizer", declared, 1.0 - best.chaos)

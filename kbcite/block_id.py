"""The ID of a block: a written contract, version 1, that any program can follow.

**Input**: a text of Unicode scalar values (no lone surrogates).

**Normal form**, in this order:

1. Unicode normalisation form NFC.
2. Each CR LF and each CR that is left becomes LF.
3. The text is split at LF. From the end of each line these characters are dropped, as many as stand there: U+0009,
   U+000B, U+000C, U+0020, U+00A0, U+3000.
4. Empty lines at the beginning and at the end of the text are dropped; the rest is joined with LF.

Everything else is kept: case, inner blanks, leading blanks of a line, punctuation, inner empty lines, zero-width characters.

**ID**: `b1`, the version of this contract, and then the first 80 bits of the SHA-256 digest of the normal form in
UTF-8, as 16 characters of five bits each, highest bits first, in the alphabet `0123456789abcdefghjkmnpqrstvwxyz`
(Crockford's base 32 in lower case).

So the ID depends on the text alone: not on the page, the place in it, the machine, the run or the settings. A change of
any rule above needs a new prefix. `tests/block_ids.jsonl` holds texts and their IDs for a program that wants to conform.

Among a million blocks two different texts share an ID with probability 4e-13.
"""

from __future__ import annotations

import hashlib
import unicodedata

PREFIX = "b1"
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = len(PREFIX) + 16

_DROPPED_AT_LINE_END = "\t\v\f \u00a0\u3000"
_MISTYPED = str.maketrans("oil", "011", "- ")


def normalise_block(text: str) -> str:
    """The normal form of a text: what its ID is made from."""
    unified = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip(_DROPPED_AT_LINE_END) for line in unified.split("\n")).strip("\n")


def block_id(text: str) -> str:
    """The ID of a text, 18 characters. Raises UnicodeEncodeError, a ValueError, for a lone surrogate."""
    digest = hashlib.sha256(normalise_block(text).encode("utf-8")).digest()
    number = int.from_bytes(digest[:10], "big")
    return PREFIX + "".join(ALPHABET[number >> shift & 31] for shift in range(75, -1, -5))


def typed_prefix(text: str) -> str:
    """The beginning of an ID as a person typed it, in the form IDs have: `B1-O2IL` is `b10211`."""
    return text.strip().lower().translate(_MISTYPED)

"""Undo Content-Encoding piece by piece, so that a small answer can never become a large one unseen.

Each decoder takes an iterator of byte pieces and gives pieces of at most `PIECE` bytes; whoever reads decides when it is enough. A
1 MB gzip of a GiB is so cut at the reader's limit instead of being unpacked first.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

PIECE = 65_536
MAX_LAYERS = 3
ACCEPT_ENCODING = "gzip, deflate, zstd"
# Labels that some servers send although nothing is encoded.
_NOTHING = frozenset({"", "identity", "none", "utf-8"})
_ZSTD_STEP = 256
"""Bytes decoded at a time: a block of 4 bytes may stand for 128 KB, so that one step gives 8 MB at most."""
_GZIP_START = b"\x1f\x8b"


class CodingError(Exception):
    """The body is not what its Content-Encoding says, or the coding is not one that was asked for."""


def undo(pieces: Iterator[bytes], content_encoding: str) -> Iterator[bytes]:
    """The decoded pieces of a body. Raises CodingError, at once for an unknown coding, while reading for a damaged body."""
    layers = [
        label for label in (part.strip().lower() for part in content_encoding.split(",")) if label not in _NOTHING
    ]
    if len(layers) > MAX_LAYERS:
        raise CodingError(f"{len(layers)} layers of Content-Encoding")
    for label in reversed(layers):
        if label in ("gzip", "x-gzip"):
            pieces = _gunzip(pieces)
        elif label == "deflate":
            pieces = _inflate(pieces)
        elif label == "zstd":
            pieces = _unzstd(pieces)
        else:
            raise CodingError(f"Content-Encoding {label!r} was not asked for")
    return pieces


def _gunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj(16 + zlib.MAX_WBITS)
    has_begun = False
    for piece in pieces:
        pending = piece
        while pending:
            if decoder.eof:
                # A further member may follow; anything else after the end is padding, as gzip itself treats it.
                if not pending.startswith(_GZIP_START):
                    return
                decoder = zlib.decompressobj(16 + zlib.MAX_WBITS)
            has_begun = True
            yield from _step(decoder, pending, "gzip")
            pending = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
    if has_begun and not decoder.eof:
        raise CodingError("the gzip body ends too early")


def _inflate(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """`deflate` is zlib by the standard and bare deflate on many servers; the first two bytes tell."""
    decoder = None
    head = b""
    for piece in pieces:
        pending = head + piece
        if decoder is None:
            if len(pending) < 2:
                head = pending
                continue
            head = b""
            is_zlib = pending[0] & 0x0F == 8 and (pending[0] << 8 | pending[1]) % 31 == 0
            decoder = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        while pending and not decoder.eof:
            yield from _step(decoder, pending, "deflate")
            pending = decoder.unconsumed_tail
    if head or (decoder is not None and not decoder.eof):
        raise CodingError("the deflate body ends too early")


def _step(decoder: zlib._Decompress, data: bytes, name: str) -> Iterator[bytes]:
    try:
        output = decoder.decompress(data, PIECE)
    except zlib.error as error:
        raise CodingError(f"the body is not {name}: {error}") from error
    if output:
        yield output


def _unzstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    import zstandard

    # 8 MB is the window that RFC 9659 allows to a server.
    packed = zstandard.ZstdDecompressor(max_window_size=8 << 20)
    decoder = packed.decompressobj()
    has_begun = False
    for piece in pieces:
        for start in range(0, len(piece), _ZSTD_STEP):
            pending = piece[start : start + _ZSTD_STEP]
            while pending:
                if decoder.eof:
                    decoder = packed.decompressobj()
                has_begun = True
                try:
                    output = decoder.decompress(pending)
                except zstandard.ZstdError as error:
                    raise CodingError(f"the body is not zstd: {error}") from error
                for at in range(0, len(output), PIECE):
                    yield output[at : at + PIECE]
                pending = decoder.unused_data if decoder.eof else b""
    if has_begun and not decoder.eof:
        raise CodingError("the zstd body ends too early")

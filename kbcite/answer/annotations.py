"""Citations as W3C Web Annotations (https://www.w3.org/TR/2017/REC-annotation-model-20170223/): the sentence is the body, the quote the target.

The target is found again by its words (TextQuoteSelector), by its place in the text content of the page's body (TextPositionSelector, code
points), and in the archived bytes (DataPositionSelector); its state says when those bytes were fetched and what their digest is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbcite.records import Answer, Source

CONTEXT_URL = "http://www.w3.org/ns/anno.jsonld"


def to_annotation(
    answer: Answer, source: Source, exact: str, around: tuple[str, str] | None, position: tuple[int, int] | None
) -> dict[str, Any]:
    """The annotation of one citation. exact, around and position: the words of the page itself, what stands before and after
    them, and their place in its text content; where that is not known, the quote as cleaned alone."""
    sentences = [
        answer.text[claim.start : claim.end]
        for claim in answer.claims
        if any(marker.n == source.n for marker in claim.markers)
    ]
    return {
        "id": f"urn:kbcite:{answer.id}:{source.n}",
        "type": "Annotation",
        "motivation": "linking",
        "created": answer.created_at,
        "generator": {"id": "urn:kbcite", "type": "Software", "name": "kbcite"},
        "body": [
            {
                "type": "TextualBody",
                "purpose": "describing",
                "value": sentence,
                "format": "text/plain",
                "language": answer.lang,
            }
            for sentence in sentences
        ],
        "target": {
            "type": "SpecificResource",
            "source": source.url,
            "selector": _selectors(source, exact, around, position),
            "state": {
                "type": "TimeState",
                "sourceDate": source.fetched_at,
                "cached": f"urn:sha256:{source.snapshot.digest}",
            },
        },
    }


def to_collection(annotations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The annotations as one document: a collection with a single page."""
    name = "urn:kbcite:export"
    page = {"id": f"{name}:1", "type": "AnnotationPage", "startIndex": 0, "items": list(annotations)}
    return {
        "@context": CONTEXT_URL,
        "id": name,
        "type": "AnnotationCollection",
        "label": "Citations of kbcite answers",
        "total": len(annotations),
        "first": page,
    }


def _selectors(
    source: Source, exact: str, around: tuple[str, str] | None, position: tuple[int, int] | None
) -> list[dict[str, Any]]:
    quote: dict[str, Any] = {"type": "TextQuoteSelector", "exact": exact}
    if around:
        quote |= {"prefix": around[0], "suffix": around[1]}
    selectors = [quote]
    if position:
        selectors.append({"type": "TextPositionSelector", "start": position[0], "end": position[1]})
    at = source.snapshot
    if at.byte_start is not None and at.byte_end is not None:
        selectors.append({"type": "DataPositionSelector", "start": at.byte_start, "end": at.byte_end})
    return selectors

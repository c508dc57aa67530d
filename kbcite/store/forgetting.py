"""Pages taken out of the database on purpose, with everything that was made of them.

Answers that cite them stay, for the record that they were given: question, URL, block ID, digest and times. What the page said is masked
in them, character by character, so that the offsets of claims and markers hold. The place is remembered, so that a crawl leaves it alone.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from kbcite.store.archive import Archive
from kbcite.urls import host_of, resolve, url_key

MASK = "█"
_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Doomed:
    """What forgetting a place would take away."""

    page_ids: tuple[int, ...]
    urls: tuple[str, ...]
    """Of the pages, with the addresses at which they were fetched."""
    keys: tuple[str, ...]
    """URL keys of the pages and of their other addresses."""
    digests: tuple[str, ...]
    answers: tuple[str, ...]
    """IDs of the saved answers that cite them."""


class Forgetting:
    """Writes belong into the database's `transaction()`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def of_url(self, url: str) -> Doomed:
        """The page at an address, or of which it is another address."""
        rows = self._sql.execute(
            """SELECT id FROM pages WHERE url = ? UNION SELECT page_id FROM aliases WHERE url_key = ?""",
            (url, url_key(url)),
        )
        return self._doomed([row[0] for row in rows])

    def of_hosts(self, hosts: Collection[str]) -> Doomed:
        """Every page of these hosts, each a scheme, host and port."""
        rows = self._sql.execute("SELECT id, url FROM pages").fetchall()
        return self._doomed([page_id for page_id, url in rows if host_of(url) in hosts])

    def _doomed(self, page_ids: list[int]) -> Doomed:
        urls: set[str] = set()
        keys: set[str] = set()
        digests: set[str] = set()
        answers: set[str] = set()
        for page_id in page_ids:
            one = (page_id,)
            urls.update(row[0] for row in self._sql.execute("SELECT url FROM pages WHERE id = ?", one))
            keys.update(row[0] for row in self._sql.execute("SELECT url_key FROM aliases WHERE page_id = ?", one))
            for digest, final_url in self._sql.execute(
                "SELECT digest, final_url FROM snapshots WHERE page_id = ?", one
            ):
                digests.add(digest)
                urls.add(final_url)
            rows = self._sql.execute(
                """SELECT a.answer_id FROM answer_sources a JOIN documents d ON d.id = a.document_id
                   WHERE d.page_id = ?""",
                one,
            )
            answers.update(row[0] for row in rows)
        keys.update(map(url_key, urls))
        return Doomed(tuple(page_ids), *(tuple(sorted(some)) for some in (urls, keys, digests, answers)))

    def remove_pages(self, doomed: Doomed) -> None:
        """Take pages out with their snapshots and documents, and mask what they said in answers and traces."""
        for answer_id in doomed.answers:
            self._mask(answer_id, doomed)
        self._mask_traces(doomed)
        self._sql.executemany("DELETE FROM pages WHERE id = ?", [(page_id,) for page_id in doomed.page_ids])

    def remove_blocks(self) -> int:
        """Take out the blocks that stand on no document, which the word index has given back already; how many they were.

        Also what older rules had cut out of the pages is among them: it was kept for its vectors alone.
        """
        # A removed row of the index is only marked, and its words stay in the file until its parts are merged.
        self._sql.execute("INSERT INTO word_index(word_index) VALUES('optimize')")
        return self._sql.execute(
            "DELETE FROM blocks AS b WHERE NOT EXISTS (SELECT 1 FROM occurrences o WHERE o.block_num = b.num)"
        ).rowcount

    def mark(self, places: Iterable[str], now: str) -> None:
        """Let crawls leave these URL keys and hosts alone."""
        for place in places:
            self._sql.execute("INSERT OR REPLACE INTO forgotten VALUES(?, ?)", (place, now))
            self._sql.execute(
                "UPDATE frontier SET state = 'skipped', reason = 'forgotten', updated_at = ? WHERE url_key = ? OR host = ?",
                (now, place, place),
            )

    def drop_verdicts(self, hosts: Iterable[str]) -> None:
        """Take out what was seen of the pages of hosts, each a scheme, host and port, when a browser was wanted for them."""
        self._sql.executemany("DELETE FROM render_verdicts WHERE site = ?", [(host,) for host in hosts])

    def recall(self, places: Iterable[str]) -> int:
        """Let crawls fetch these URL keys and hosts again; how many of them were forgotten."""
        recalled = 0
        for place in places:
            recalled += self._sql.execute(
                "DELETE FROM forgotten WHERE place = ?1 OR instr(place, ?1 || '/') = 1", (place,)
            ).rowcount
            self._sql.execute(
                """UPDATE frontier SET state = 'queued', reason = '', not_before = ''
                   WHERE reason = 'forgotten' AND (url_key = ?1 OR host = ?1)""",
                (place,),
            )
        return recalled

    def knows(self, places: Iterable[str]) -> bool:
        """Whether a crawl came across one of these URL keys and hosts."""
        found = "SELECT 1 FROM frontier WHERE url_key = ?1 OR host = ?1 LIMIT 1"
        return any(self._sql.execute(found, (place,)).fetchone() for place in places)

    def places(self) -> list[tuple[str, str]]:
        """(URL key or host, time) of everything that was forgotten."""
        return self._sql.execute("SELECT place, at FROM forgotten ORDER BY at, place").fetchall()

    # ------------------------------------------------------------ what is still to be done outside the database

    def plan(self, kind: str, values: Iterable[str]) -> None:
        """Note what has to leave the archive: `url`, `host` or `digest`."""
        self._sql.executemany("INSERT OR IGNORE INTO erasures VALUES(?, ?)", [(kind, value) for value in values])

    # ------------------------------------------------------------ answers

    def _mask(self, answer_id: str, doomed: Doomed) -> None:
        rows = self._sql.execute(
            """SELECT a.n FROM answer_sources a JOIN documents d ON d.id = a.document_id
               WHERE a.answer_id = ? AND d.page_id IN (SELECT value FROM json_each(?))""",
            (answer_id, json.dumps(doomed.page_ids)),
        )
        forgotten = {row[0] for row in rows}
        (text,) = self._sql.execute("SELECT record FROM answers WHERE id = ?", (answer_id,)).fetchone()
        masked = json.dumps(masked_record(json.loads(text), forgotten), ensure_ascii=False)
        self._sql.execute("UPDATE answers SET record = ? WHERE id = ?", (masked, answer_id))

    def _mask_traces(self, doomed: Doomed) -> None:
        """Titles and headings of the pages among the candidates of any answer."""
        urls = set(doomed.urls)
        rows = self._sql.execute("SELECT id, trace FROM answers WHERE trace IS NOT NULL").fetchall()
        for answer_id, data in rows:
            trace = json.loads(zlib.decompress(data))
            found = [candidate for candidate in trace.get("candidates", ()) if candidate["url"] in urls]
            for candidate in found:
                candidate["title"] = _masked(candidate["title"])
                candidate["heading_chain"] = [_masked(heading) for heading in candidate["heading_chain"]]
            if found:
                packed = zlib.compress(json.dumps(trace, ensure_ascii=False).encode())
                self._sql.execute("UPDATE answers SET trace = ? WHERE id = ?", (packed, answer_id))


def forgotten_places(connection: sqlite3.Connection, but: Iterable[str] = ()) -> set[str]:
    """URL keys and hosts that crawls leave alone; `but` are URLs that the user named."""
    places = {row[0] for row in connection.execute("SELECT place FROM forgotten")}
    for url in but if places else ():
        resolved = resolve(url, url)
        if resolved is not None:
            places -= {url_key(resolved), host_of(resolved)}
    return places


def has_erasures(connection: sqlite3.Connection) -> bool:
    """Whether a forget was killed before it was through."""
    return connection.execute("SELECT 1 FROM erasures LIMIT 1").fetchone() is not None


def finish_erasure(connection: sqlite3.Connection, archive: Archive) -> int:
    """Whatever a forget noted leaves the archive, and the free pages of both files; how many archived bodies went."""
    planned: dict[str, set[str]] = {"url": set(), "host": set(), "digest": set()}
    for kind, value in connection.execute("SELECT kind, value FROM erasures"):
        planned[kind].add(value)
    in_use = "SELECT 1 FROM snapshots WHERE digest = ? LIMIT 1"
    bodies = archive.erase(
        planned["url"],
        planned["host"],
        planned["digest"],
        lambda digest: connection.execute(in_use, (digest,)).fetchone() is not None,
    )
    connection.execute("VACUUM")
    connection.execute("DELETE FROM erasures")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return bodies


def masked_record(record: dict[str, Any], forgotten: Collection[int]) -> dict[str, Any]:
    """An answer's record (`kbcite.answer/1`) without what the sources with these numbers said.

    Only claims that rest on other sources alone can be read on; every offset still holds.
    """
    answer = record["answer"]
    text = answer["text"]
    kept = [False] * len(text)
    for claim in answer["claims"]:
        markers = claim["markers"]
        for marker in markers:
            kept[marker["start"] : marker["end"]] = [True] * (marker["end"] - marker["start"])
        if markers and not any(marker["n"] in forgotten for marker in markers):
            kept[claim["start"] : claim["end"]] = [True] * (claim["end"] - claim["start"])
        else:
            claim["checks"] = {}
    answer["text"] = "".join(c if keep else _masked(c) for c, keep in zip(text, kept, strict=True))
    for source in (*record["sources"]["internal"], *record["sources"]["web"]):
        if source["n"] in forgotten:
            source["title"] = _masked(source["title"])
            source["heading_chain"] = [_masked(heading) for heading in source["heading_chain"]]
            source["quote"]["text"] = _masked(source["quote"]["text"])
            source["deep_link"] = None
    for conflict in record.get("conflicts", ()):
        if any(value["n"] in forgotten for value in conflict["values"]):
            conflict["what"], conflict["ruling"] = _masked(conflict["what"]), _masked(conflict["ruling"])
            for value in conflict["values"]:
                value["value"] = _masked(value["value"])
    return record


def _masked(text: str) -> str:
    return _VISIBLE.sub(MASK, text)

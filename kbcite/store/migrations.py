"""Numbered schema changes of `kb.sqlite3`. Each runs once, in one transaction; a landed one is never edited, only followed.

`PRAGMA user_version` holds the number of the last one applied.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from kbcite.errors import StoreError

MIGRATIONS: tuple[tuple[int, str], ...] = (
    (
        1,
        """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

        -- One row a canonical URL. snapshot_id is the current bytes, document_id their current reading.
        CREATE TABLE pages(
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL UNIQUE,
            source TEXT NOT NULL,
            source_type TEXT NOT NULL,
            labels TEXT NOT NULL DEFAULT '[]',
            state TEXT NOT NULL,
            snapshot_id INTEGER REFERENCES snapshots(id),
            document_id INTEGER REFERENCES documents(id),
            etag TEXT,
            last_modified TEXT,
            first_seen_at TEXT NOT NULL,
            fetched_at TEXT NOT NULL,   -- when the current bytes were last seen
            changed_at TEXT NOT NULL,   -- when the current bytes were first seen
            due_at TEXT NOT NULL,
            misses INTEGER NOT NULL DEFAULT 0,  -- 404s and 410s in a row
            missing_since TEXT,
            failures INTEGER NOT NULL DEFAULT 0,  -- unreachable visits in a row
            moved_to TEXT
        );
        CREATE INDEX pages_due ON pages(due_at);
        CREATE INDEX pages_document ON pages(document_id);

        -- Other addresses of a page, by URL key: requested before a redirect, or named canonical.
        CREATE TABLE aliases(
            url_key TEXT PRIMARY KEY,
            page_id INTEGER NOT NULL REFERENCES pages(id) ON DELETE CASCADE
        ) WITHOUT ROWID;
        CREATE INDEX aliases_page ON aliases(page_id);

        CREATE TABLE snapshots(
            id INTEGER PRIMARY KEY,
            page_id INTEGER NOT NULL REFERENCES pages(id) ON DELETE CASCADE,
            digest TEXT NOT NULL,
            status INTEGER NOT NULL,
            headers TEXT NOT NULL,
            request_headers TEXT NOT NULL,
            final_url TEXT NOT NULL,
            redirects TEXT NOT NULL,
            fetched_at TEXT NOT NULL,
            encoded_length INTEGER NOT NULL
        );
        CREATE INDEX snapshots_page ON snapshots(page_id);
        CREATE INDEX snapshots_digest ON snapshots(digest);

        -- Every visit and its outcome: what the recheck schedule and the state machine go by.
        CREATE TABLE visits(
            page_id INTEGER NOT NULL REFERENCES pages(id) ON DELETE CASCADE,
            at TEXT NOT NULL,
            outcome TEXT NOT NULL,
            status INTEGER,
            detail TEXT NOT NULL DEFAULT ''
        );
        CREATE INDEX visits_page ON visits(page_id, at);

        -- One reading of a snapshot under one version of the cleaning rules. Old readings stay: answers cite them.
        CREATE TABLE documents(
            id INTEGER PRIMARY KEY,
            page_id INTEGER NOT NULL REFERENCES pages(id) ON DELETE CASCADE,
            snapshot_id INTEGER NOT NULL REFERENCES snapshots(id) ON DELETE CASCADE,
            clean_rules TEXT NOT NULL,
            chunk_rules TEXT,
            title TEXT NOT NULL,
            text TEXT NOT NULL,
            spans BLOB NOT NULL,
            metadata TEXT NOT NULL,
            encoding TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            cleaned_at TEXT NOT NULL,
            UNIQUE(snapshot_id, clean_rules)
        );
        CREATE INDEX documents_page ON documents(page_id);

        -- Snapshots that cleaning left out, with the rules that said so.
        CREATE TABLE skipped_snapshots(
            snapshot_id INTEGER PRIMARY KEY REFERENCES snapshots(id) ON DELETE CASCADE,
            clean_rules TEXT NOT NULL,
            reason TEXT NOT NULL,
            detail TEXT NOT NULL
        );

        CREATE TABLE blocks(
            num INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            text TEXT NOT NULL,
            words INTEGER NOT NULL,
            language TEXT NOT NULL,
            first_seen_at TEXT NOT NULL
        );

        CREATE TABLE occurrences(
            document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            ordinal INTEGER NOT NULL,
            block_num INTEGER NOT NULL REFERENCES blocks(num),
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            heading_chain TEXT NOT NULL,
            context TEXT NOT NULL,
            PRIMARY KEY(document_id, ordinal)
        ) WITHOUT ROWID;
        CREATE INDEX occurrences_block ON occurrences(block_num);

        -- Where the blocks that may be found stand: the current reading of pages that are neither dead nor moved.
        CREATE VIEW live_occurrences AS
            SELECT o.*, p.id AS page_id FROM occurrences o
            JOIN pages p ON p.document_id = o.document_id
            WHERE p.state NOT IN ('dead', 'moved');

        CREATE TABLE encoders(id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL);
        CREATE TABLE vectors(
            encoder_id INTEGER NOT NULL REFERENCES encoders(id) ON DELETE CASCADE,
            block_num INTEGER NOT NULL REFERENCES blocks(num) ON DELETE CASCADE,
            vector BLOB NOT NULL,  -- float32, little endian, unit length, not centred
            PRIMARY KEY(encoder_id, block_num)
        ) WITHOUT ROWID;

        CREATE TABLE answers(
            id TEXT PRIMARY KEY,
            trace_id TEXT NOT NULL,
            created_at TEXT NOT NULL,
            question TEXT NOT NULL,
            status TEXT NOT NULL,
            record TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX answers_created ON answers(created_at);

        CREATE TABLE answer_sources(
            answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE,
            n INTEGER NOT NULL,
            block_id TEXT NOT NULL,
            document_id INTEGER NOT NULL REFERENCES documents(id),
            digest TEXT NOT NULL,
            PRIMARY KEY(answer_id, n)
        ) WITHOUT ROWID;
        CREATE INDEX answer_sources_document ON answer_sources(document_id);
        """,
    ),
    (
        2,
        """
        -- Postings of the live blocks by block number; contentless, so `word_rows` says what it holds, and with which context.
        -- Its text is ready-made terms (`store/word_index.py`); the tokenizer only has to cut at blanks.
        CREATE VIRTUAL TABLE word_index USING fts5(
            body, context, content='', detail=column, tokenize="ascii tokenchars '#&+-./:@\\_,'"
        );
        CREATE VIRTUAL TABLE word_terms USING fts5vocab(word_index, 'row');
        CREATE TABLE word_rows(block_num INTEGER PRIMARY KEY REFERENCES blocks(num), context TEXT NOT NULL);
        """,
    ),
    (
        3,
        """
        -- What is known of each URL that a crawl came across. A row is in_flight before its request goes out; those left
        -- so by a killed run are queued again by the next.
        CREATE TABLE frontier(
            id INTEGER PRIMARY KEY,
            url_key TEXT NOT NULL UNIQUE,
            url TEXT NOT NULL,
            source TEXT NOT NULL,
            host TEXT NOT NULL,
            depth INTEGER NOT NULL,
            state TEXT NOT NULL,  -- queued, in_flight, done, failed, skipped
            reason TEXT NOT NULL DEFAULT '',
            detail TEXT NOT NULL DEFAULT '',
            tries INTEGER NOT NULL DEFAULT 0,
            not_before TEXT NOT NULL DEFAULT '',
            discovered_from TEXT,
            updated_at TEXT NOT NULL
        );
        CREATE INDEX frontier_queue ON frontier(host, source, depth, id) WHERE state = 'queued';
        CREATE INDEX frontier_source ON frontier(source, state);

        -- One pass of a source begins with its seed and ends when nothing of it is queued; a pass without an end goes on.
        CREATE TABLE crawl_passes(source TEXT PRIMARY KEY, started_at TEXT NOT NULL, ended_at TEXT) WITHOUT ROWID;

        CREATE TABLE robots(
            host TEXT PRIMARY KEY,
            outcome TEXT NOT NULL,
            body BLOB NOT NULL,
            detail TEXT NOT NULL,
            fetched_at TEXT NOT NULL,
            expires_at TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
    (
        4,
        """
        -- document_id is the reading whose blocks are searched, reading_id the latest one; chunking brings the first to the second.
        ALTER TABLE pages ADD COLUMN reading_id INTEGER REFERENCES documents(id);
        UPDATE pages SET reading_id = document_id;
        CREATE INDEX pages_reading ON pages(reading_id);

        -- The order in which answers were given, whatever the clock said.
        ALTER TABLE answers ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX answers_seq ON answers(seq);
        """,
    ),
    (
        5,
        """
        -- Counts the changes to what a vector index should hold, so that opening one need not list every block.
        INSERT INTO meta VALUES('generation', '1');
        CREATE TRIGGER generation_of_pages AFTER UPDATE OF document_id, state ON pages
            WHEN old.document_id IS NOT new.document_id OR old.state IS NOT new.state
            BEGIN UPDATE meta SET value = value + 1 WHERE key = 'generation'; END;
        CREATE TRIGGER generation_of_removed_pages AFTER DELETE ON pages
            BEGIN UPDATE meta SET value = value + 1 WHERE key = 'generation'; END;
        CREATE TRIGGER generation_of_documents AFTER UPDATE OF chunk_rules ON documents
            BEGIN UPDATE meta SET value = value + 1 WHERE key = 'generation'; END;
        CREATE TRIGGER generation_of_vectors AFTER INSERT ON vectors
            BEGIN UPDATE meta SET value = value + 1 WHERE key = 'generation'; END;
        """,
    ),
    (
        6,
        """
        -- The whole way of an answer (`kbcite.trace/1`), deflated JSON.
        ALTER TABLE answers ADD COLUMN trace BLOB;
        CREATE INDEX answers_trace ON answers(trace_id);
        """,
    ),
    (
        7,
        """
        -- The settings of a source when its last pass over everything began: under other ones everything is looked at again.
        ALTER TABLE crawl_passes ADD COLUMN rules TEXT NOT NULL DEFAULT '';

        -- Urgent URLs go before the others of their host: named by the user, or known to be out of date. not_before says of a settled
        -- URL that brought no page when it is worth another look; a page's own due_at says it of a page.
        ALTER TABLE frontier ADD COLUMN is_urgent INTEGER NOT NULL DEFAULT 0;
        DROP INDEX frontier_queue;
        CREATE INDEX frontier_queue ON frontier(host, source, is_urgent DESC, depth, id) WHERE state = 'queued';
        """,
    ),
    (
        8,
        """
        -- Whether pages of a site and path pattern hold their words, or a browser has to read them (web/render_verdicts.py).
        CREATE TABLE render_verdicts(
            site TEXT NOT NULL,
            pattern TEXT NOT NULL,
            need TEXT NOT NULL,  -- static, rendered, barren
            pages INTEGER NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY(site, pattern, need)
        ) WITHOUT ROWID;
        """,
    ),
    (
        9,
        """
        -- When a page was named out of date; the next recheck visits it first.
        ALTER TABLE pages ADD COLUMN marked_at TEXT;
        CREATE INDEX pages_marked ON pages(marked_at) WHERE marked_at IS NOT NULL;
        """,
    ),
    (
        10,
        """
        -- What was forgotten on purpose, by URL key or by scheme and host: a crawl leaves it alone unless the user names it (is_urgent).
        CREATE TABLE forgotten(place TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
        CREATE TRIGGER forgotten_is_found AFTER INSERT ON frontier
            WHEN new.state = 'queued' AND EXISTS (SELECT 1 FROM forgotten WHERE place IN (new.url_key, new.host))
            BEGIN UPDATE frontier SET state = 'skipped', reason = 'forgotten' WHERE id = new.id; END;
        CREATE TRIGGER forgotten_is_queued AFTER UPDATE OF state ON frontier
            WHEN new.state = 'queued' AND NOT new.is_urgent
                AND EXISTS (SELECT 1 FROM forgotten WHERE place IN (new.url_key, new.host))
            BEGIN UPDATE frontier SET state = 'skipped', reason = 'forgotten' WHERE id = new.id; END;
        CREATE TRIGGER forgotten_is_stored AFTER INSERT ON aliases
            BEGIN DELETE FROM forgotten WHERE place = new.url_key; END;

        -- What a forget has still to take out of the archive and the files: url, host or digest. Empty when it is through.
        CREATE TABLE erasures(kind TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(kind, value)) WITHOUT ROWID;

        -- A cited document may be forgotten; its answer stays, with what the page said masked.
        CREATE TABLE cited(
            answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE,
            n INTEGER NOT NULL,
            block_id TEXT NOT NULL,
            document_id INTEGER REFERENCES documents(id) ON DELETE SET NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY(answer_id, n)
        ) WITHOUT ROWID;
        INSERT INTO cited SELECT * FROM answer_sources;
        DROP TABLE answer_sources;
        ALTER TABLE cited RENAME TO answer_sources;
        CREATE INDEX answer_sources_document ON answer_sources(document_id);
        """,
    ),
    (
        11,
        """
        -- Known from fetches while answering alone: neither scheduled nor searched, until a crawl comes across it.
        ALTER TABLE pages ADD COLUMN is_live INTEGER NOT NULL DEFAULT 0;

        -- What was fetched lately while answering, by URL key: the reading, or why there is none.
        CREATE TABLE live_pool(
            url_key TEXT PRIMARY KEY,
            url TEXT NOT NULL,
            document_id INTEGER REFERENCES documents(id) ON DELETE CASCADE,
            outcome TEXT NOT NULL,  -- page, or the reason why there is none
            detail TEXT NOT NULL DEFAULT '',
            fetched_at TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX live_pool_document ON live_pool(document_id);

        -- Each fetch for a question: what a page is promoted to a scheduled source by.
        CREATE TABLE live_fetches(url_key TEXT NOT NULL, at TEXT NOT NULL);
        CREATE INDEX live_fetches_page ON live_fetches(url_key, at);
        """,
    ),
    (
        12,
        """
        -- Vectors of pooled blocks, so that a second question embeds nothing. Not among `vectors`: those are what an index holds.
        CREATE TABLE live_vectors(
            encoder TEXT NOT NULL,
            block_num INTEGER NOT NULL REFERENCES blocks(num) ON DELETE CASCADE,
            vector BLOB NOT NULL,  -- float32, little endian, unit length, not centred
            PRIMARY KEY(encoder, block_num)
        ) WITHOUT ROWID;
        CREATE INDEX live_vectors_block ON live_vectors(block_num);
        """,
    ),
    (
        13,
        """
        -- What is forgotten leaves the pool too, and the record of what was fetched for questions.
        CREATE TRIGGER forgotten_leaves_the_pool AFTER INSERT ON forgotten BEGIN
            DELETE FROM live_pool WHERE url_key = new.place OR substr(url_key, 1, length(new.place) + 1) = new.place || '/';
            DELETE FROM live_fetches WHERE url_key = new.place OR substr(url_key, 1, length(new.place) + 1) = new.place || '/';
        END;
        """,
    ),
)


def migrate(connection: sqlite3.Connection, path: str, migrations: tuple[tuple[int, str], ...] = MIGRATIONS) -> None:
    """Bring the schema up to date, each step in one transaction. Raises StoreError for a file of a newer kbcite."""
    newest = migrations[-1][0]
    while (version := _version(connection)) < newest:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been faster while this one waited for the lock.
            version = _version(connection)
            for number, script in migrations:
                if number == version + 1:
                    for statement in _statements(script):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {number}")
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
    if version > newest:
        raise StoreError(
            f"{path} was made by a newer kbcite (schema {version}, this one knows {newest}); upgrade kbcite"
        )


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; sqlite3's executescript would commit the transaction around them."""
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

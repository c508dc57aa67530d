"""Numbered schema changes of `archive.sqlite3`; see `migrations.py`, whose rules hold here too."""

from __future__ import annotations

ARCHIVE_MIGRATIONS: tuple[tuple[int, str], ...] = (
    (
        1,
        """
        -- The first archives were made without a number, so this step may find its table there.
        CREATE TABLE IF NOT EXISTS blobs(
            digest TEXT PRIMARY KEY,
            host TEXT NOT NULL,
            size INTEGER NOT NULL,
            dictionary TEXT REFERENCES blobs(digest),  -- NULL: compressed by itself
            data BLOB NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
    (
        2,
        """
        DROP INDEX IF EXISTS blobs_dictionary_of_host;
        CREATE INDEX blobs_host ON blobs(host) WHERE dictionary IS NULL;
        CREATE INDEX blobs_dictionary ON blobs(dictionary) WHERE dictionary IS NOT NULL;

        -- What came with a body, each time a URL brought another one than before.
        CREATE TABLE responses(
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL,        -- as requested
            final_url TEXT NOT NULL,  -- after redirects
            fetched_at TEXT NOT NULL,
            status INTEGER NOT NULL,
            digest TEXT NOT NULL REFERENCES blobs(digest),
            headers TEXT NOT NULL,
            request_headers TEXT NOT NULL,
            redirects TEXT NOT NULL,
            encoded_length INTEGER NOT NULL
        );
        CREATE INDEX responses_url ON responses(url, id);
        CREATE INDEX responses_final_url ON responses(final_url);
        CREATE INDEX responses_digest ON responses(digest);
        """,
    ),
    (
        3,
        """
        -- Tables with row numbers hold a body of up to 4 KB in line; without them each took a page of its own.
        CREATE TABLE bodies(
            digest TEXT PRIMARY KEY,
            host TEXT NOT NULL,
            size INTEGER NOT NULL,
            dictionary TEXT REFERENCES bodies(digest),  -- NULL: compressed by itself
            data BLOB NOT NULL
        );
        INSERT INTO bodies SELECT * FROM blobs;
        CREATE TABLE fetches(
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL,        -- as requested
            final_url TEXT NOT NULL,  -- after redirects
            fetched_at TEXT NOT NULL,
            status INTEGER NOT NULL,
            digest TEXT NOT NULL REFERENCES bodies(digest),
            headers TEXT NOT NULL,
            request_headers TEXT NOT NULL,
            redirects TEXT NOT NULL,
            encoded_length INTEGER NOT NULL
        );
        INSERT INTO fetches SELECT * FROM responses;
        DROP TABLE responses;
        DROP TABLE blobs;
        ALTER TABLE bodies RENAME TO blobs;
        ALTER TABLE fetches RENAME TO responses;
        CREATE INDEX blobs_host ON blobs(host) WHERE dictionary IS NULL;
        CREATE INDEX blobs_dictionary ON blobs(dictionary) WHERE dictionary IS NOT NULL;
        CREATE INDEX responses_url ON responses(url, id);
        CREATE INDEX responses_final_url ON responses(final_url);
        CREATE INDEX responses_digest ON responses(digest);
        """,
    ),
    (
        4,
        """
        -- Of a rendered page, whose digest and headers are of what a browser made: what the server sent.
        ALTER TABLE responses ADD COLUMN received_digest TEXT REFERENCES blobs(digest);
        ALTER TABLE responses ADD COLUMN received_headers TEXT;
        CREATE INDEX responses_received ON responses(received_digest) WHERE received_digest IS NOT NULL;
        """,
    ),
)

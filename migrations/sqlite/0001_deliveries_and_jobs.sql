-- Moments are whole microseconds since 1970-01-01 UTC. Numbers of a forge are kept bit for bit.

-- What was seen, and nothing else: the insert here decides whether a delivery is new.
CREATE TABLE seen (
    forge    TEXT    NOT NULL,
    delivery TEXT    NOT NULL,
    content  BLOB    NOT NULL CHECK (length(content) = 32), -- sha256 of forge, hook, event and body
    replay   INTEGER NOT NULL CHECK (replay IN (0, 1)),     -- 1: the same content had come under another id
    seq      INTEGER NOT NULL,                              -- its row in deliveries
    PRIMARY KEY (forge, delivery)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX seen_content ON seen (content) WHERE replay = 0;

-- Every delivery that was kept, in the order in which it was kept.
CREATE TABLE deliveries (
    seq      INTEGER PRIMARY KEY,
    forge    TEXT    NOT NULL,
    delivery TEXT    NOT NULL,
    hook     TEXT    NOT NULL,
    event    TEXT    NOT NULL,
    received INTEGER NOT NULL,
    outcome  TEXT    NOT NULL,
    body     BLOB                                           -- zstd; null for a replay, which has the body of the first
) STRICT;

-- Work for pull requests. A job that is done is deleted; what it found is in evaluations.
CREATE TABLE jobs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,         -- never given twice, so that a lease names one job for good
    v            INTEGER NOT NULL,                          -- the shape of the trigger: the next seven columns
    forge        TEXT    NOT NULL,
    repository   INTEGER NOT NULL,
    pull         INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    installation INTEGER,
    head         TEXT,
    cause        TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'dead')),
    queued       INTEGER NOT NULL,                          -- when its first trigger came
    newest       INTEGER NOT NULL,                          -- when its newest trigger came
    due          INTEGER NOT NULL,                          -- the earliest next try
    attempt      INTEGER NOT NULL,                          -- tries begun
    evaluation   BLOB,                                      -- from the first try on
    generation   INTEGER,                                   -- of the lease, while running
    runner       TEXT,
    expires      INTEGER,
    error        TEXT,                                      -- of the last try that failed
    CHECK ((state = 'running') = (generation IS NOT NULL AND runner IS NOT NULL AND expires IS NOT NULL)),
    CHECK (state != 'running' OR evaluation IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX jobs_one_queued ON jobs (forge, repository, pull) WHERE state = 'queued';
CREATE UNIQUE INDEX jobs_one_running ON jobs (forge, repository, pull) WHERE state = 'running';
CREATE INDEX jobs_due ON jobs (due, id) WHERE state = 'queued';
CREATE INDEX jobs_dead ON jobs (forge, repository, pull) WHERE state = 'dead';

-- The newest generation of each pull request. It only grows.
CREATE TABLE pulls (
    forge      TEXT    NOT NULL,
    repository INTEGER NOT NULL,
    pull       INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (forge, repository, pull)
) STRICT, WITHOUT ROWID;

-- One row for each try of an evaluation. A later try begins with what the earlier one had noted.
CREATE TABLE evaluations (
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    generation INTEGER NOT NULL,
    forge      TEXT    NOT NULL,
    repository INTEGER NOT NULL,
    pull       INTEGER NOT NULL,
    started    INTEGER NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('started', 'posting', 'published', 'late')),
    head       TEXT,
    run        INTEGER,
    verdict    TEXT,
    record     BLOB,                                        -- zstd
    PRIMARY KEY (id, generation)
) STRICT;

-- Where readiness is tried out: written and emptied again.
CREATE TABLE probe (bytes BLOB NOT NULL) STRICT;

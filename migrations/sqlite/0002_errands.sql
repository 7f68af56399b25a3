-- Work that is not the judging of one pull request: commands, buttons, pushes to a base, merge groups, looking for what was missed.
CREATE TABLE errands (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    v        INTEGER NOT NULL,                              -- the shape of the errand
    key      TEXT    NOT NULL,                              -- two of one key do one work
    errand   TEXT    NOT NULL,                              -- JSON
    delivery TEXT,
    state    TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'done', 'dead')),
    queued   INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    attempt  INTEGER NOT NULL,                              -- tries begun; while running, the fencing token
    runner   TEXT,
    expires  INTEGER,
    error    TEXT,
    CHECK ((state = 'running') = (runner IS NOT NULL AND expires IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX errands_one_queued ON errands (key) WHERE state = 'queued';
CREATE UNIQUE INDEX errands_one_running ON errands (key) WHERE state = 'running';
CREATE INDEX errands_due ON errands (due, id) WHERE state = 'queued';
CREATE INDEX errands_key ON errands (key);

-- The newest delivery that a job was made for.
ALTER TABLE jobs ADD COLUMN delivery TEXT;

-- Where an evaluation's run can be reached again, and whether nobody has to.
ALTER TABLE evaluations ADD COLUMN name TEXT;
ALTER TABLE evaluations ADD COLUMN installation INTEGER;
ALTER TABLE evaluations ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
CREATE INDEX evaluations_of_a_head ON evaluations (forge, repository, head);
CREATE INDEX evaluations_of_a_pull ON evaluations (forge, repository, pull, generation);
CREATE INDEX evaluations_open ON evaluations (started) WHERE run IS NOT NULL AND state != 'published' AND ended = 0;

-- The one comment of each pull request.
CREATE TABLE comments (
    forge      TEXT    NOT NULL,
    repository INTEGER NOT NULL,
    pull       INTEGER NOT NULL,
    comment    INTEGER NOT NULL,
    PRIMARY KEY (forge, repository, pull)
) STRICT, WITHOUT ROWID;

-- When each regular duty was last taken up, and small things that must outlive a process.
CREATE TABLE marks (
    name  TEXT    NOT NULL PRIMARY KEY,
    at    INTEGER NOT NULL,
    value TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- What was decided, asked for, refused and loaded. Only ever added to.
CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    forge      TEXT,
    repository INTEGER,
    name       TEXT,
    pull       INTEGER,
    who        TEXT,
    delivery   TEXT,
    what       TEXT    NOT NULL,                            -- one line for people
    details    TEXT    NOT NULL                             -- JSON: digests, heads, numbers of runs
) STRICT;
CREATE INDEX audit_of_a_pull ON audit (repository, pull, seq);
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END;

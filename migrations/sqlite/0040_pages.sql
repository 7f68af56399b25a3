-- What a page shows of an evaluation besides its record: source lines beside their observers, and the freezes that stood.
CREATE TABLE exhibits (
    evaluation BLOB    NOT NULL CHECK (length(evaluation) = 16),
    generation INTEGER NOT NULL,
    content    BLOB    NOT NULL,                            -- JSON, zstd
    PRIMARY KEY (evaluation, generation)
) STRICT, WITHOUT ROWID;

-- Passes: each opens the page of one evaluation for whoever has it. The pass itself is kept nowhere, only what it hashes to.
CREATE TABLE passes (
    hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32), -- sha256
    evaluation BLOB    NOT NULL CHECK (length(evaluation) = 16),
    generation INTEGER NOT NULL,
    expires    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passes_by_end ON passes (expires);
CREATE INDEX passes_of_an_evaluation ON passes (evaluation, generation);

-- A repository's page asks for its newest verdicts.
CREATE INDEX evaluations_in_time ON evaluations (forge, repository, started);

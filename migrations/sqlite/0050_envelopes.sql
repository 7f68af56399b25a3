-- Signed records, one after the other in each repository. Only ever added to: the next record names the digest of the one before it.
CREATE TABLE envelopes (
    forge      TEXT    NOT NULL,
    repository INTEGER NOT NULL,
    number     INTEGER NOT NULL,                            -- from 1, without a gap
    name       TEXT    NOT NULL,                            -- the repository's, as it was then
    evaluation BLOB    NOT NULL CHECK (length(evaluation) = 16),
    digest     TEXT    NOT NULL,                            -- sha256 of the signed payload
    signed     INTEGER NOT NULL,
    envelope   BLOB    NOT NULL,                            -- zstd
    PRIMARY KEY (forge, repository, number)
) STRICT;
CREATE INDEX envelopes_of_an_evaluation ON envelopes (evaluation, number);
CREATE TRIGGER envelopes_are_never_changed BEFORE UPDATE ON envelopes BEGIN SELECT RAISE(ABORT, 'signed records are never changed'); END;
CREATE TRIGGER envelopes_are_never_deleted BEFORE DELETE ON envelopes BEGIN SELECT RAISE(ABORT, 'signed records are never deleted'); END;

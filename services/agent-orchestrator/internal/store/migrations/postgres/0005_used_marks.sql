-- +goose Up

-- What may be used once, by a hash of it: states of OAuth authorizations.
CREATE TABLE used_marks (
    mark    text   PRIMARY KEY,
    expires bigint NOT NULL -- and may be forgotten
);
CREATE INDEX used_marks_expires ON used_marks (expires);

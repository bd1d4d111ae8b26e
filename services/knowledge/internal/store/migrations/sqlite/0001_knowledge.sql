-- +goose Up
-- Times are milliseconds since 1970.
CREATE TABLE kb_bases (
  num integer PRIMARY KEY AUTOINCREMENT,
  id text NOT NULL UNIQUE,
  user_id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  chunks integer NOT NULL DEFAULT 0, -- of documents that are completed, and how many terms they have
  terms integer NOT NULL DEFAULT 0,
  created_at integer NOT NULL,
  updated_at integer NOT NULL
);
CREATE INDEX kb_bases_of_user ON kb_bases (user_id, num);

CREATE TABLE kb_documents (
  num integer PRIMARY KEY AUTOINCREMENT,
  id text NOT NULL UNIQUE,
  base_num integer NOT NULL REFERENCES kb_bases (num) ON DELETE CASCADE,
  user_id text NOT NULL,
  file_name text NOT NULL,
  file_type text NOT NULL,
  file_size integer NOT NULL DEFAULT 0,
  status text NOT NULL, -- uploading, pending, processing, completed, failed
  error text,
  progress real NOT NULL DEFAULT 0,
  chunks integer NOT NULL DEFAULT 0,
  model text NOT NULL DEFAULT '', -- what made its vectors
  created_at integer NOT NULL,
  updated_at integer NOT NULL,
  token integer NOT NULL DEFAULT 0, -- of the claim in force
  claimed_until integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0, -- since it was queued
  queued_at integer NOT NULL DEFAULT 0,
  due_at integer NOT NULL DEFAULT 0 -- no worker claims it before
);
CREATE INDEX kb_documents_of_base ON kb_documents (base_num, num);
CREATE INDEX kb_documents_of_user ON kb_documents (user_id);
CREATE INDEX kb_documents_work ON kb_documents (status, model, due_at);

CREATE TABLE kb_parts (
  document_num integer NOT NULL REFERENCES kb_documents (num) ON DELETE CASCADE,
  part integer NOT NULL,
  data blob NOT NULL,
  PRIMARY KEY (document_num, part)
);

CREATE TABLE kb_chunks (
  id integer PRIMARY KEY, -- the document's num and the index, as Go's chunkID says
  base_num integer NOT NULL,
  document_num integer NOT NULL REFERENCES kb_documents (num) ON DELETE CASCADE,
  content text NOT NULL,
  page integer NOT NULL,
  headings text NOT NULL, -- a JSON array
  repeated integer NOT NULL -- how many characters at its beginning are the end of the chunk before
);
CREATE INDEX kb_chunks_of_document ON kb_chunks (document_num);

CREATE TABLE kb_postings (
  base_num integer NOT NULL,
  term text NOT NULL,
  chunk_id integer NOT NULL,
  times integer NOT NULL, -- the term is in the chunk
  length integer NOT NULL, -- of the chunk, in terms
  PRIMARY KEY (base_num, term, chunk_id)
) WITHOUT ROWID;
CREATE INDEX kb_postings_of_chunk ON kb_postings (chunk_id);

CREATE TABLE kb_models (
  name text PRIMARY KEY,
  dimensions integer NOT NULL
);

CREATE TABLE kb_vectors (
  chunk_id integer PRIMARY KEY,
  base_num integer NOT NULL,
  model text NOT NULL,
  vector blob NOT NULL -- float32, little endian, of length 1
);
CREATE INDEX kb_vectors_of_base ON kb_vectors (base_num);

-- +goose Down
DROP TABLE kb_vectors;
DROP TABLE kb_models;
DROP TABLE kb_postings;
DROP TABLE kb_chunks;
DROP TABLE kb_parts;
DROP TABLE kb_documents;
DROP TABLE kb_bases;

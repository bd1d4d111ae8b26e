-- +goose Up

-- What names mean in a run, and which tools it has looked up: JSON.
ALTER TABLE details ADD COLUMN lexicon blob;

-- Which tool a call is of, whatever it is called by now.
ALTER TABLE calls ADD COLUMN tool_key text NOT NULL DEFAULT '';

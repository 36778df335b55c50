-- Whose the objects are that providers store.
CREATE TABLE owned (
	id       TEXT PRIMARY KEY,        -- the provider's
	kind     TEXT NOT NULL,
	key_name TEXT NOT NULL,
	upstream TEXT NOT NULL,
	part_of  TEXT NOT NULL,           -- the response or conversation it is a part of; empty: it is none
	made     INTEGER NOT NULL,        -- microseconds
	tokens   INTEGER NOT NULL,        -- of the whole context it carries
	gone     INTEGER NOT NULL         -- 1: it was deleted
) STRICT, WITHOUT ROWID;

CREATE INDEX owned_made ON owned (made);

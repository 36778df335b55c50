-- Whose the objects are that providers store.
CREATE TABLE owned (
	id       text PRIMARY KEY,        -- the provider's
	kind     text NOT NULL,
	key_name text NOT NULL,
	upstream text NOT NULL,
	part_of  text NOT NULL,           -- the response or conversation it is a part of; empty: it is none
	made     bigint NOT NULL,         -- microseconds
	tokens   bigint NOT NULL,         -- of the whole context it carries
	gone     bigint NOT NULL          -- 1: it was deleted
);

CREATE INDEX owned_made ON owned (made);

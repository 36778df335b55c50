-- Who writes, one row for each slot.
CREATE TABLE writers (
	slot   INTEGER PRIMARY KEY,
	held   INTEGER NOT NULL,          -- 1: somebody has it; 0: nobody, and all its rows are in the sums
	batch  INTEGER NOT NULL,          -- number of the last batch committed; from bit 41 on, how often the slot was taken
	rolled INTEGER NOT NULL,          -- newest row of this writer's that is in the sums
	oldest INTEGER NOT NULL,          -- oldest exchange that is open; 0: none is
	seen   INTEGER NOT NULL           -- microseconds; the last sign of life; 0: the writer has said that it ends
) STRICT;

-- What many rows have in common.
CREATE TABLE series (
	id          INTEGER PRIMARY KEY,
	key_name    TEXT NOT NULL,
	group_names TEXT NOT NULL,
	endpoint    TEXT NOT NULL,
	upstream    TEXT NOT NULL,
	UNIQUE (key_name, group_names, endpoint, upstream)
) STRICT;

CREATE TABLE budgets (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	unit TEXT NOT NULL
) STRICT;

CREATE TABLE prices (
	version TEXT PRIMARY KEY,
	card    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The rows. Ids hold their instant: microseconds, then ten bits for the writer's slot. Charges are JSON,
-- [[budget, amount at the beginning, amount at the end], …]. Money is in nano-dollars, durations in microseconds.
CREATE TABLE begins (
	id       INTEGER PRIMARY KEY,
	series   INTEGER NOT NULL,
	model    TEXT NOT NULL,
	label    TEXT NOT NULL,
	retry    INTEGER NOT NULL,
	stream   INTEGER NOT NULL,
	estimate TEXT NOT NULL,           -- JSON: tokens by part
	input    INTEGER NOT NULL,        -- reserved
	output   INTEGER NOT NULL,
	other    TEXT NOT NULL,           -- JSON: other figures of the usage, where there are any
	reserved INTEGER NOT NULL,
	price    TEXT NOT NULL,
	charges  TEXT NOT NULL
) STRICT;

CREATE TABLE draws (
	id       INTEGER NOT NULL,
	step     INTEGER NOT NULL,
	input    INTEGER NOT NULL,
	output   INTEGER NOT NULL,
	other    TEXT NOT NULL,
	reserved INTEGER NOT NULL,
	charges  TEXT NOT NULL,
	PRIMARY KEY (id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE ends (
	seq         INTEGER PRIMARY KEY,
	id          INTEGER NOT NULL UNIQUE,
	status      INTEGER NOT NULL,
	ending      TEXT NOT NULL,
	basis       TEXT NOT NULL,
	served      TEXT NOT NULL,
	input       INTEGER NOT NULL,
	cached      INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	other       TEXT NOT NULL,
	cost        INTEGER NOT NULL,
	took        INTEGER NOT NULL,
	first_token INTEGER NOT NULL,
	upstream_id TEXT NOT NULL,
	charges     TEXT NOT NULL
) STRICT;

-- A correction has what its sums are told apart by, as it may come when its exchange is no longer kept.
CREATE TABLE corrections (
	seq         INTEGER PRIMARY KEY,
	id          INTEGER NOT NULL,
	series      INTEGER NOT NULL,
	model       TEXT NOT NULL,
	served      TEXT NOT NULL,
	label       TEXT NOT NULL,
	was         TEXT NOT NULL,
	basis       TEXT NOT NULL,
	input       INTEGER NOT NULL,
	cached      INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	other       TEXT NOT NULL,
	cost        INTEGER NOT NULL,
	charges     TEXT NOT NULL,
	reason      TEXT NOT NULL
) STRICT;

CREATE INDEX corrections_of ON corrections (id);

-- Sums. They are kept for ever, and hold every row up to each writer's `rolled`.
CREATE TABLE hours (
	hour         INTEGER NOT NULL,    -- Unix seconds
	series       INTEGER NOT NULL,
	model        TEXT NOT NULL,
	served       TEXT NOT NULL,
	label        TEXT NOT NULL,
	requests     INTEGER NOT NULL,
	failed       INTEGER NOT NULL,
	unreported   INTEGER NOT NULL,
	counted      INTEGER NOT NULL,
	retries      INTEGER NOT NULL,
	input        INTEGER NOT NULL,
	cached       INTEGER NOT NULL,
	cache_write  INTEGER NOT NULL,
	output       INTEGER NOT NULL,
	reasoning    INTEGER NOT NULL,
	images       INTEGER NOT NULL,
	milliseconds INTEGER NOT NULL,
	characters   INTEGER NOT NULL,
	cost         INTEGER NOT NULL,
	PRIMARY KEY (hour, series, model, served, label)
) STRICT, WITHOUT ROWID;

-- The same by day of UTC: reports of months are made from these.
CREATE TABLE days (
	day          INTEGER NOT NULL,    -- Unix seconds
	series       INTEGER NOT NULL,
	model        TEXT NOT NULL,
	served       TEXT NOT NULL,
	label        TEXT NOT NULL,
	requests     INTEGER NOT NULL,
	failed       INTEGER NOT NULL,
	unreported   INTEGER NOT NULL,
	counted      INTEGER NOT NULL,
	retries      INTEGER NOT NULL,
	input        INTEGER NOT NULL,
	cached       INTEGER NOT NULL,
	cache_write  INTEGER NOT NULL,
	output       INTEGER NOT NULL,
	reasoning    INTEGER NOT NULL,
	images       INTEGER NOT NULL,
	milliseconds INTEGER NOT NULL,
	characters   INTEGER NOT NULL,
	cost         INTEGER NOT NULL,
	PRIMARY KEY (day, series, model, served, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE spent (
	budget INTEGER NOT NULL,
	slot   INTEGER NOT NULL,          -- Unix seconds; a quarter of an hour each; 0: all that is older
	n      INTEGER NOT NULL,
	PRIMARY KEY (budget, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusals (
	hour     INTEGER NOT NULL,
	key_name TEXT NOT NULL,
	model    TEXT NOT NULL,
	code     TEXT NOT NULL,
	n        INTEGER NOT NULL,
	PRIMARY KEY (hour, key_name, model, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE notices (
	budget    TEXT NOT NULL,
	ends      INTEGER NOT NULL,       -- Unix seconds at which the budget's period ends; 0: never
	threshold TEXT NOT NULL,
	PRIMARY KEY (budget, ends, threshold)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The rows of all exchanges that ended at this instant or later are kept.
INSERT INTO facts (name, value) VALUES ('kept', 0);

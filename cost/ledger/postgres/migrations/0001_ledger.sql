-- Who writes, one row for each slot.
CREATE TABLE writers (
	slot   bigint PRIMARY KEY,
	held   bigint NOT NULL,           -- 1: somebody has it; 0: nobody, and all its rows are in the sums
	batch  bigint NOT NULL,           -- number of the last batch committed; from bit 41 on, how often the slot was taken
	rolled bigint NOT NULL,           -- newest row of this writer's that is in the sums
	oldest bigint NOT NULL,           -- oldest exchange that is open; 0: none is
	seen   bigint NOT NULL           -- microseconds; the last sign of life; 0: the writer has said that it ends
) WITH (fillfactor = 50); -- every commit updates a row: where there is room beside it, no index needs to know

-- What many rows have in common.
CREATE TABLE series (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key_name    text NOT NULL,
	group_names text NOT NULL,
	endpoint    text NOT NULL,
	upstream    text NOT NULL
);

-- A key may be in more groups than fit into an index.
CREATE UNIQUE INDEX series_named ON series (key_name, endpoint, upstream, hashtextextended(group_names, 0));

CREATE TABLE budgets (
	id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL UNIQUE,
	unit text NOT NULL
);

CREATE TABLE prices (
	version text PRIMARY KEY,
	card    text NOT NULL
);

-- The rows. Ids hold their instant: microseconds, then ten bits for the writer's slot. Charges are JSON,
-- [[budget, amount at the beginning, amount at the end], …]. Money is in nano-dollars, durations in microseconds.
CREATE TABLE begins (
	id       bigint PRIMARY KEY,
	series   bigint NOT NULL,
	model    text NOT NULL,
	label    text NOT NULL,
	retry    bigint NOT NULL,
	stream   bigint NOT NULL,
	estimate text NOT NULL,           -- JSON: tokens by part
	input    bigint NOT NULL,         -- reserved
	output   bigint NOT NULL,
	other    text NOT NULL,           -- JSON: other figures of the usage, where there are any
	reserved bigint NOT NULL,
	price    text NOT NULL,
	charges  text NOT NULL
);

CREATE TABLE draws (
	id       bigint NOT NULL,
	step     bigint NOT NULL,
	input    bigint NOT NULL,
	output   bigint NOT NULL,
	other    text NOT NULL,
	reserved bigint NOT NULL,
	charges  text NOT NULL,
	PRIMARY KEY (id, step)
);

CREATE TABLE ends (
	seq         bigint PRIMARY KEY,
	id          bigint NOT NULL UNIQUE,
	status      bigint NOT NULL,
	ending      text NOT NULL,
	basis       text NOT NULL,
	served      text NOT NULL,
	input       bigint NOT NULL,
	cached      bigint NOT NULL,
	cache_write bigint NOT NULL,
	output      bigint NOT NULL,
	reasoning   bigint NOT NULL,
	other       text NOT NULL,
	cost        bigint NOT NULL,
	took        bigint NOT NULL,
	first_token bigint NOT NULL,
	upstream_id text NOT NULL,
	charges     text NOT NULL
);

-- A correction has what its sums are told apart by, as it may come when its exchange is no longer kept.
CREATE TABLE corrections (
	seq         bigint PRIMARY KEY,
	id          bigint NOT NULL,
	series      bigint NOT NULL,
	model       text NOT NULL,
	served      text NOT NULL,
	label       text NOT NULL,
	was         text NOT NULL,
	basis       text NOT NULL,
	input       bigint NOT NULL,
	cached      bigint NOT NULL,
	cache_write bigint NOT NULL,
	output      bigint NOT NULL,
	reasoning   bigint NOT NULL,
	other       text NOT NULL,
	cost        bigint NOT NULL,
	charges     text NOT NULL,
	reason      text NOT NULL
);

CREATE INDEX corrections_of ON corrections (id);

-- Sums. They are kept for ever, and hold every row up to each writer's `rolled`.
CREATE TABLE hours (
	hour         bigint NOT NULL,     -- Unix seconds
	series       bigint NOT NULL,
	model        text NOT NULL,
	served       text NOT NULL,
	label        text NOT NULL,
	requests     bigint NOT NULL,
	failed       bigint NOT NULL,
	unreported   bigint NOT NULL,
	counted      bigint NOT NULL,
	retries      bigint NOT NULL,
	input        bigint NOT NULL,
	cached       bigint NOT NULL,
	cache_write  bigint NOT NULL,
	output       bigint NOT NULL,
	reasoning    bigint NOT NULL,
	images       bigint NOT NULL,
	milliseconds bigint NOT NULL,
	characters   bigint NOT NULL,
	cost         bigint NOT NULL,
	PRIMARY KEY (hour, series, model, served, label)
);

-- The same by day of UTC: reports of months are made from these.
CREATE TABLE days (
	day          bigint NOT NULL,     -- Unix seconds
	series       bigint NOT NULL,
	model        text NOT NULL,
	served       text NOT NULL,
	label        text NOT NULL,
	requests     bigint NOT NULL,
	failed       bigint NOT NULL,
	unreported   bigint NOT NULL,
	counted      bigint NOT NULL,
	retries      bigint NOT NULL,
	input        bigint NOT NULL,
	cached       bigint NOT NULL,
	cache_write  bigint NOT NULL,
	output       bigint NOT NULL,
	reasoning    bigint NOT NULL,
	images       bigint NOT NULL,
	milliseconds bigint NOT NULL,
	characters   bigint NOT NULL,
	cost         bigint NOT NULL,
	PRIMARY KEY (day, series, model, served, label)
);

CREATE TABLE spent (
	budget bigint NOT NULL,
	slot   bigint NOT NULL,           -- Unix seconds; a quarter of an hour each; 0: all that is older
	n      bigint NOT NULL,
	PRIMARY KEY (budget, slot)
);

CREATE TABLE refusals (
	hour     bigint NOT NULL,
	key_name text NOT NULL,
	model    text NOT NULL,
	code     text NOT NULL,
	n        bigint NOT NULL,
	PRIMARY KEY (hour, key_name, model, code)
);

CREATE TABLE notices (
	budget    text NOT NULL,
	ends      bigint NOT NULL,        -- Unix seconds at which the budget's period ends; 0: never
	threshold text NOT NULL,
	PRIMARY KEY (budget, ends, threshold)
);

CREATE TABLE facts (
	name  text PRIMARY KEY,
	value bigint NOT NULL
);

-- The rows of all exchanges that ended at this instant or later are kept.
INSERT INTO facts (name, value) VALUES ('kept', 0);

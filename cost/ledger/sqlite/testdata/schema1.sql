-- A ledger as a program of schema version 1 wrote it: its tables, and rows of every kind. It is frozen. Nothing here is ever
-- edited, whatever becomes of the schema: ledgers like this one are out there, and every later program has to open them. What it
-- must say then, package ledgertest knows.

PRAGMA application_id = 1953195617;
PRAGMA user_version = 1;

CREATE TABLE writers (
	slot   INTEGER PRIMARY KEY,
	held   INTEGER NOT NULL,          -- 1: somebody has it; 0: nobody, and all its rows are in the sums
	batch  INTEGER NOT NULL,          -- number of the last batch committed; from bit 41 on, how often the slot was taken
	rolled INTEGER NOT NULL,          -- newest row of this writer's that is in the sums
	oldest INTEGER NOT NULL,          -- oldest exchange that is open; 0: none is
	seen   INTEGER NOT NULL           -- microseconds; the last sign of life; 0: the writer has said that it ends
) STRICT;

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

CREATE INDEX corrections_of ON corrections (id);

INSERT INTO writers VALUES (0,1,4398046511115,1815699701760000000,1815699886080000000,1773144450000000);

INSERT INTO series VALUES (1,'alice','eng,research','/v1/chat/completions','openai');
INSERT INTO series VALUES (2,'bob','ops','/v1/chat/completions','openai');
INSERT INTO series VALUES (3,'bob','ops','/v1/images/generations','azure');
INSERT INTO series VALUES (4,'bob','ops','/v1/audio/transcriptions','openai');

INSERT INTO budgets VALUES (1,'group eng: tokens each day','tokens');
INSERT INTO budgets VALUES (2,'key alice: dollars each month','dollars');
INSERT INTO budgets VALUES (3,'key alice: uncached input tokens each day','uncached input tokens');
INSERT INTO budgets VALUES (4,'key bob: dollars in total','dollars');
INSERT INTO budgets VALUES (5,'key bob: input tokens each hour','input tokens');
INSERT INTO budgets VALUES (6,'key bob: output tokens each hour','output tokens');
INSERT INTO budgets VALUES (7,'key bob: requests each day','requests');

INSERT INTO prices VALUES ('p1','{"input":"0.15","output":"0.6"}');
INSERT INTO prices VALUES ('p2','{"input":"1.25","cached_input":"0.125","output":"10"}');

INSERT INTO begins VALUES (1815653376000000000,1,'gpt-4o-mini','nightly',0,1,'{"basis":"exact","messages":100,"overhead":20,"max_output":400}',120,400,'',258000,'p1','[[2,258000],[1,520],[3,0,120]]');
INSERT INTO begins VALUES (1815654604800000000,1,'gpt-5','',0,0,'{"basis":"assumed","messages":500,"tools":250,"response_format":100,"other":50,"max_output":1000,"basis_of":{"tools":"formula","response_format":"approximate"}}',900,1000,'',11125000,'p2','[[2,11125000],[1,1900],[3,0,900]]');
INSERT INTO begins VALUES (1815688396800000000,1,'gpt-4o-mini','nightly',2,1,'{"basis":"exact","messages":50,"max_output":200}',50,200,'',127500,'p1','[[2,127500],[1,250],[3,0,50]]');
INSERT INTO begins VALUES (1815689011200000000,1,'gpt-5','',0,1,'{"basis":"formula","messages":80,"files":100,"prediction":20,"hosted tools":100,"max_output":500,"beyond":7,"hosted_calls":2,"hosted_tokens":50,"hosted_fee":10000000,"fees":20000000}',300,500,'',5375000,'p2','[[2,5375000],[1,800],[3,0,300]]');
INSERT INTO begins VALUES (1815689625600000000,2,'gpt-4o-mini','',0,0,'{"basis":"exact","messages":10,"max_output":20}',10,20,'',13500,'p1','[[7,1],[4,13500],[6,0,20],[5,0,10]]');
INSERT INTO begins VALUES (1815690240000000000,2,'gpt-5','évaluation “Ω”',0,0,'{"basis":"exact","messages":700,"max_output":300}',700,300,'',3875000,'p2','[[7,1],[4,3875000],[6,0,300],[5,0,700]]');
INSERT INTO begins VALUES (1815691161600000000,3,'gpt-image-1','',0,0,'{"basis":"formula","messages":10,"images":30,"max_output":2200,"pictures":2}',40,2200,'{"image_input":30,"image_output":2200,"images":2}',90000000,'p2','[[7,1],[4,90000000],[6,0,2200],[5,0,40]]');
INSERT INTO begins VALUES (1815691468800000000,4,'whisper-1','',0,0,'{"basis":"exact","audio":25,"milliseconds":61500,"characters":400}',25,50,'{"audio_input":25,"milliseconds":61500,"characters":400,"cached":5,"cache_write":2,"reasoning":1}',6150000,'','[[7,1],[4,6150000],[6,0,50],[5,0,25]]');
INSERT INTO begins VALUES (1815692083200000000,1,'gpt-5','',0,0,'{"basis":"exact","messages":40,"max_output":60}',40,60,'',650000,'p2','[[2,650000],[1,100],[3,0,40]]');
INSERT INTO begins VALUES (1815699763200000000,2,'gpt-4o-mini','évaluation “Ω”',0,1,'{"basis":"exact","messages":33,"max_output":90}',33,90,'',58950,'p1','[[7,1],[4,58950],[6,0,90],[5,0,33]]');
INSERT INTO begins VALUES (1815699824640000000,1,'gpt-4o-mini','nightly',1,0,'{"basis":"exact","messages":64,"max_output":16}',64,16,'',19200,'p1','[[2,19200],[1,80],[3,0,64]]');
INSERT INTO begins VALUES (1815699886080000000,2,'gpt-5','',0,1,'{"basis":"exact","messages":500,"max_output":100}',500,100,'',1625000,'p2','[[7,1],[4,1625000],[6,0,100],[5,0,500]]');

INSERT INTO draws VALUES (1815689011200000000,1,0,500,'',5000000,'[[2,5000000],[1,500]]');
INSERT INTO draws VALUES (1815689011200000000,2,0,250,'{"audio_output":100}',2500000,'[[2,2500000],[1,250]]');
INSERT INTO draws VALUES (1815692083200000000,1,0,60,'',600000,'[[2,600000],[1,60]]');
INSERT INTO draws VALUES (1815699886080000000,1,0,200,'',2000000,'[[4,2000000],[6,0,200]]');

INSERT INTO ends VALUES (1815653378560000000,1815653376000000000,200,'complete','reported','',118,64,0,210,0,'{"tier":3}',138900,2500000,310005,'req_8f14e45fceea167a','[[2,138900],[1,328],[3,0,54]]');
INSERT INTO ends VALUES (1815655833856000000,1815654604800000000,200,'complete','reported','gpt-5-2025-08-07',950,512,128,1400,1100,'',15000000,1200250000,0,'','[[2,11125000,3875000],[1,1900,450],[3,0,438]]');
INSERT INTO ends VALUES (1815688397824000000,1815688396800000000,200,'broken_stream','counted','',48,0,0,20,0,'',19200,1000000,200000,'','[[2,19200],[1,68],[3,0,48]]');
INSERT INTO ends VALUES (1815689134080000000,1815689011200000000,0,'broken','unreported','',300,0,0,1250,0,'{"audio_output":100}',12875000,120000000,0,'','[[2,12875000],[1,1550],[3,0,300]]');
INSERT INTO ends VALUES (1815689626009600000,1815689625600000000,429,'refused','nothing','',0,0,0,0,0,'',0,400000,390000,'req_c9f0f895fb98ab91','[]');
INSERT INTO ends VALUES (1815690243072000000,1815690240000000000,200,'complete','distrusted','',700,0,0,300,0,'',3875000,3000000,0,'','[[7,1],[4,3875000],[6,0,300],[5,0,700]]');
INSERT INTO ends VALUES (1815691182080000000,1815691161600000000,200,'complete','reported','',38,12,0,2000,0,'{"image_input":28,"cached_image":12,"image_output":2000,"images":2,"fees":10000000,"tier":4}',81000000,20000000,0,'','[[7,1],[4,81000000],[6,0,2000],[5,0,38]]');
INSERT INTO ends VALUES (1815691472896000000,1815691468800000000,200,'complete','reported','',25,5,0,31,0,'{"audio_input":25,"cached_audio":5,"milliseconds":61500,"characters":388}',6100000,4000000,0,'','[[7,1],[4,6100000],[6,0,31],[5,0,25]]');
INSERT INTO ends VALUES (1815692206080000000,1815692083200000000,0,'crashed','unreported','',40,0,0,120,0,'',1250000,0,0,'','[[2,1250000],[1,160],[3,0,40]]');
INSERT INTO ends VALUES (1815699764224000000,1815699763200000000,200,'broken_stream','counted','',33,0,0,45,0,'',31950,1000000,250000,'','[[7,1],[4,31950],[6,0,45],[5,0,33]]');
INSERT INTO ends VALUES (1815699825664000000,1815699824640000000,200,'complete','reported','',64,0,0,9,0,'',15000,1000000,0,'','[[2,15000],[1,73],[3,0,64]]');

INSERT INTO corrections VALUES (1815690854400000000,1815688396800000000,1,'gpt-4o-mini','','nightly','counted','reported',0,0,0,5,0,'',3000,'[[2,3000],[1,5]]','bill');
INSERT INTO corrections VALUES (1815693926400000000,1814719180800000000,2,'gpt-5','gpt-5-2025-08-07','','counted','reported',0,0,0,10,8,'',100000,'[[4,100000],[6,10]]','bill');
INSERT INTO corrections VALUES (1815699701760000000,1815689011200000000,1,'gpt-5','','','unreported','reported',0,0,0,-650,0,'{"audio_output":-100}',-6500000,'[[2,-6500000],[1,-650]]','bill');
INSERT INTO corrections VALUES (1815699804160000000,1815688396800000000,1,'gpt-4o-mini','','nightly','reported','reported',-8,0,0,-1,0,'',-1800,'[[2,-1800],[1,-9],[3,-8]]','by hand');

INSERT INTO hours VALUES (1772186400,1,'gpt-4o-mini','','',1,0,0,0,0,30,0,0,70,0,0,0,0,46500);
INSERT INTO hours VALUES (1772186400,2,'gpt-5','gpt-5-2025-08-07','',1,0,0,0,0,200,0,0,100,8,0,0,0,1250000);
INSERT INTO hours VALUES (1773097200,1,'gpt-4o-mini','','nightly',1,0,0,0,0,118,64,0,210,0,0,0,0,138900);
INSERT INTO hours VALUES (1773097200,1,'gpt-5','gpt-5-2025-08-07','',1,0,0,0,0,950,512,128,1400,1100,0,0,0,15000000);
INSERT INTO hours VALUES (1773133200,1,'gpt-4o-mini','','nightly',1,0,0,0,1,48,0,0,25,0,0,0,0,22200);
INSERT INTO hours VALUES (1773133200,1,'gpt-5','','',1,0,0,0,0,300,0,0,600,0,0,0,0,6375000);
INSERT INTO hours VALUES (1773133200,2,'gpt-4o-mini','','',1,1,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO hours VALUES (1773133200,2,'gpt-5','','évaluation “Ω”',1,0,1,0,0,700,0,0,300,0,0,0,0,3875000);
INSERT INTO hours VALUES (1773133200,3,'gpt-image-1','','',1,0,0,0,0,38,12,0,2000,0,2,0,0,81000000);
INSERT INTO hours VALUES (1773133200,4,'whisper-1','','',1,0,0,0,0,25,5,0,31,0,0,61500,388,6100000);
INSERT INTO hours VALUES (1773136800,1,'gpt-5','','',1,0,1,0,0,40,0,0,120,0,0,0,0,1250000);

INSERT INTO days VALUES (1772150400,1,'gpt-4o-mini','','',1,0,0,0,0,30,0,0,70,0,0,0,0,46500);
INSERT INTO days VALUES (1772150400,2,'gpt-5','gpt-5-2025-08-07','',1,0,0,0,0,200,0,0,100,8,0,0,0,1250000);
INSERT INTO days VALUES (1773014400,1,'gpt-4o-mini','','nightly',1,0,0,0,0,118,64,0,210,0,0,0,0,138900);
INSERT INTO days VALUES (1773014400,1,'gpt-5','gpt-5-2025-08-07','',1,0,0,0,0,950,512,128,1400,1100,0,0,0,15000000);
INSERT INTO days VALUES (1773100800,1,'gpt-4o-mini','','nightly',1,0,0,0,1,48,0,0,25,0,0,0,0,22200);
INSERT INTO days VALUES (1773100800,1,'gpt-5','','',2,0,1,0,0,340,0,0,720,0,0,0,0,7625000);
INSERT INTO days VALUES (1773100800,2,'gpt-4o-mini','','',1,1,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO days VALUES (1773100800,2,'gpt-5','','évaluation “Ω”',1,0,1,0,0,700,0,0,300,0,0,0,0,3875000);
INSERT INTO days VALUES (1773100800,3,'gpt-image-1','','',1,0,0,0,0,38,12,0,2000,0,2,0,0,81000000);
INSERT INTO days VALUES (1773100800,4,'whisper-1','','',1,0,0,0,0,25,5,0,31,0,0,61500,388,6100000);

INSERT INTO spent VALUES (1,1772186400,100);
INSERT INTO spent VALUES (1,1773099000,328);
INSERT INTO spent VALUES (1,1773099900,1900);
INSERT INTO spent VALUES (1,1773100800,450);
INSERT INTO spent VALUES (1,1773133200,973);
INSERT INTO spent VALUES (1,1773136800,160);
INSERT INTO spent VALUES (2,1772186400,46500);
INSERT INTO spent VALUES (2,1773099000,138900);
INSERT INTO spent VALUES (2,1773099900,11125000);
INSERT INTO spent VALUES (2,1773100800,3875000);
INSERT INTO spent VALUES (2,1773133200,6397200);
INSERT INTO spent VALUES (2,1773136800,1250000);
INSERT INTO spent VALUES (3,1772186400,30);
INSERT INTO spent VALUES (3,1773099000,54);
INSERT INTO spent VALUES (3,1773100800,438);
INSERT INTO spent VALUES (3,1773133200,348);
INSERT INTO spent VALUES (3,1773136800,40);
INSERT INTO spent VALUES (4,1772186400,1250000);
INSERT INTO spent VALUES (4,1773135000,3875000);
INSERT INTO spent VALUES (4,1773135900,87100000);
INSERT INTO spent VALUES (5,1772186400,200);
INSERT INTO spent VALUES (5,1773135000,700);
INSERT INTO spent VALUES (5,1773135900,63);
INSERT INTO spent VALUES (6,1772186400,100);
INSERT INTO spent VALUES (6,1773135000,300);
INSERT INTO spent VALUES (6,1773135900,2031);
INSERT INTO spent VALUES (7,1772186400,1);
INSERT INTO spent VALUES (7,1773135000,1);
INSERT INTO spent VALUES (7,1773135900,2);

INSERT INTO refusals VALUES (1773097200,'alice','gpt-4o-mini','rate_limit_exceeded',3);
INSERT INTO refusals VALUES (1773133200,'alice','gpt-5','request_exceeds_budget',1);
INSERT INTO refusals VALUES (1773133200,'bob','gpt-5','insufficient_quota',2);
INSERT INTO refusals VALUES (1773144000,'bob','gpt-5','insufficient_quota',1);

INSERT INTO notices VALUES ('key alice: dollars each month',1775001600,'80%');
INSERT INTO notices VALUES ('key bob: dollars in total',0,'50%');

INSERT INTO facts VALUES ('kept',1772186705000001);

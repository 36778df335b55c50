-- What tells this ledger from others: a journal that was left beside a file is of the ledger that has the same number.
INSERT INTO facts (name, value) VALUES ('identity', random());

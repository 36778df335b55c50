// Package postgres keeps a ledger in a Postgres database, for up to 1,024 processes that write and any number that read.
//
// Each process that writes has a slot for itself, and shows every few seconds that it is alive. One that does not is adopted
// by another: what it had begun and never ended is charged all that was reserved, and its slot is free. Should it live after
// all, its next commit fails with [ledger.ErrFenced] and writes nothing, so nothing is charged twice.
//
// It takes Postgres 11 or later, a database of the encoding UTF8, and a role that may make tables in it. The tables are made
// in the first schema of the search path, which the URL may set: postgres://user@host/database?search_path=tokenfare.
package postgres

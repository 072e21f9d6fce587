// Package store holds every SQL statement, the schemas of both databases and their migrations:
// SQLite in one file, or PostgreSQL when many instances share the work. Both pass one suite.
//
// It keeps sources, what polls left of them, items with their posts, the river's search index,
// refreshes, the event log and leases. What follows from a poll is decided by package freshet; the
// store calls those decisions inside the transaction that writes their result (D7a, F4, P3).
//
// A method is a transaction. Nothing of a database leaks out: no rows, no transactions, no dialect.
// It does not fetch, schedule or know what a page looks like.
package store

-- +goose Up
-- Where the reader is in a river (freshet.Visit): places as cursors, '' for the river of everything.
create table visits (
  river text primary key, seen text not null, line text not null, at integer not null
) strict, without rowid;

-- Filters that have a name: the query of the address that they stand for.
create table rivers (name text primary key, query text not null, created_at integer not null) strict, without rowid;

-- +goose Down
drop table rivers; drop table visits;

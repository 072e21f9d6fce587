-- +goose Up
-- Times are Unix milliseconds, ids are made by the program (freshet.IDs), hashes are bytes.

-- A counter whose value is taken in the transaction that uses it: numbers without gaps in commit order.
create table counters (name text primary key, value integer not null) strict, without rowid;
insert into counters (name, value) values ('event', 0), ('lease', 0);

-- Who holds what until when: shards of hosts, nodes, jobs that one instance does for all.
create table leases (
  name text primary key, owner text not null, epoch integer not null, expires_at integer not null
) strict, without rowid;

create table hosts (
  id integer primary key,
  name text not null unique,
  not_before integer,
  failures integer not null default 0,
  status integer not null default 0
) strict;
create index hosts_cooling on hosts (not_before) where not_before is not null;

-- What people edit.
create table sources (
  id integer primary key,
  host_id integer not null references hosts (id),
  type text not null,
  url text not null,
  moved_from text not null default '',
  normalized_url text not null unique,
  title text not null default '',
  feed_title text not null default '',
  site_url text not null default '',
  folder text not null default '',
  in_river integer not null default 1,
  enabled integer not null default 1,
  disabled_reason text not null default '',
  config text not null default '{}',
  asked integer not null default 0,
  created_at integer not null,
  updated_at integer not null,
  removed_at integer
) strict;
create index sources_host on sources (host_id);
create index sources_removed on sources (removed_at) where removed_at is not null;

-- What every poll writes: narrow. The validators are bytes because they go back byte for byte (F2).
-- refresh_id is the refresh that waits for the source, refreshed_id the last one that was done with it, and how.
create table poll_state (
  source_id integer primary key references sources (id) on delete cascade,
  host_id integer not null,
  shard integer not null,
  seq integer not null default 0,
  next_poll_at integer,
  last_poll_at integer,
  last_success_at integer,
  failures integer not null default 0,
  permanent_failures integer not null default 0,
  failure text,
  cursor text not null default '{}',
  etag blob not null default x'',
  last_modified blob not null default x'',
  history blob not null default x'',
  refresh_id integer,
  refreshed_id integer,
  refreshed_as text not null default '',
  refreshed_new integer not null default 0
) strict;
create index poll_due on poll_state (shard, next_poll_at, host_id) where next_poll_at is not null;
create index poll_host on poll_state (host_id);
create index poll_refresh on poll_state (refresh_id) where refresh_id is not null;
create index poll_refreshed on poll_state (refreshed_id) where refreshed_id is not null;

-- What a source has given: a packed window (freshet.Seen) that outlives the items (D7a).
create table seen (source_id integer primary key references sources (id) on delete cascade, win blob not null) strict;

create table items (
  id integer primary key,
  source_id integer not null,
  in_river integer not null default 1,
  guid text not null,
  url text not null,
  canonical_url text not null,
  title text not null,
  snippet text not null,
  author text not null,
  image text not null,
  published_at integer not null,
  ingested_at integer not null,
  updated_at integer not null
) strict;
create index items_river on items (published_at desc, ingested_at desc, id desc) where in_river = 1;
create index items_hidden on items (published_at) where in_river = 0;

create table bodies (
  item_id integer primary key references items (id) on delete cascade,
  body text not null,
  enclosures text not null default '[]'
) strict;

-- The identities of an item (D1); has_guid tells the key of a URL whether its item also has a guid.
create table item_keys (
  key blob primary key, item_id integer not null references items (id) on delete cascade, has_guid integer not null
) strict, without rowid;
create index item_keys_item on item_keys (item_id);

-- One post: what a source gave. The item's sort key is copied so that the river of chosen sources is an index walk.
create table posts (
  source_id integer not null,
  published_at integer not null,
  ingested_at integer not null,
  item_id integer not null references items (id) on delete cascade,
  guid text not null,
  url text not null,
  content_hash blob not null,
  first_seen_at integer not null,
  primary key (source_id, published_at desc, ingested_at desc, item_id desc)
) strict, without rowid;
create index posts_item on posts (item_id);

-- Full text, indexed behind the polls: pending names the items whose text is not in the index yet.
-- A text's row number is its place: the second it was published, then 18 bits that tell the texts of a second apart.
-- So matches are read in the river's order, and only as many as a page holds.
create virtual table search using fts5 (doc, content='', contentless_delete=1, tokenize='ascii');
insert into search (search, rank) values ('automerge', 16); -- half the rewriting of what is indexed; a search looks in more segments
create table search_places (place integer primary key, item_id integer not null unique references items (id) on delete cascade) strict;
create table search_pending (item_id integer primary key references items (id) on delete cascade) strict;

-- A refresh is carried out by whoever polls its sources; whole ones asked for every source.
create table refreshes (
  id integer primary key,
  kind text not null,
  whole integer not null,
  requested_at integer not null,
  finished_at integer,
  total integer not null,
  done integer not null default 0,
  failed integer not null default 0,
  put_off integer not null default 0,
  new_items integer not null default 0
) strict;

create table events (seq integer primary key, at integer not null, kind text not null, data text not null) strict;

-- +goose Down
drop table events; drop table refreshes; drop table search_pending; drop table search_places; drop table search; drop table posts; drop table item_keys;
drop table bodies; drop table items; drop table seen; drop table poll_state; drop table sources; drop table hosts; drop table leases; drop table counters;

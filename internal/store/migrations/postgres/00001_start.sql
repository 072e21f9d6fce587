-- +goose Up
-- Times are Unix milliseconds, ids are made by the program (freshet.IDs), hashes are bytes.

-- A counter whose value is taken in the transaction that uses it: numbers without gaps in commit order.
create table counters (name text primary key, value bigint not null);
insert into counters (name, value) values ('event', 0), ('lease', 0);

-- Who holds what until when: shards of hosts, nodes, jobs that one instance does for all.
create table leases (
  name text primary key, owner text not null, epoch bigint not null, expires_at bigint not null
);

create table hosts (
  id bigint primary key,
  name text not null unique,
  not_before bigint,
  failures bigint not null default 0,
  status bigint not null default 0
);
create index hosts_cooling on hosts (not_before) where not_before is not null;

-- What people edit.
create table sources (
  id bigint primary key,
  host_id bigint not null references hosts (id),
  type text not null,
  url text not null,
  moved_from text not null default '',
  normalized_url text not null unique,
  title text not null default '',
  feed_title text not null default '',
  site_url text not null default '',
  folder text not null default '',
  in_river bigint not null default 1,
  enabled bigint not null default 1,
  disabled_reason text not null default '',
  config text not null default '{}',
  asked bigint not null default 0,
  created_at bigint not null,
  updated_at bigint not null,
  removed_at bigint
);
create index sources_host on sources (host_id);
create index sources_removed on sources (removed_at) where removed_at is not null;

-- What every poll writes: narrow. The validators are bytes because they go back byte for byte (F2).
-- refresh_id is the refresh that waits for the source, refreshed_id the last one that was done with it, and how.
create table poll_state (
  source_id bigint primary key references sources (id) on delete cascade,
  host_id bigint not null,
  shard bigint not null,
  seq bigint not null default 0,
  next_poll_at bigint,
  last_poll_at bigint,
  last_success_at bigint,
  failures bigint not null default 0,
  permanent_failures bigint not null default 0,
  failure text,
  cursor text not null default '{}',
  etag bytea not null default '',
  last_modified bytea not null default '',
  history bytea not null default '',
  refresh_id bigint,
  refreshed_id bigint,
  refreshed_as text not null default '',
  refreshed_new bigint not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
create index poll_due on poll_state (shard, next_poll_at, host_id) where next_poll_at is not null;
create index poll_host on poll_state (host_id);
create index poll_refresh on poll_state (refresh_id) where refresh_id is not null;
create index poll_refreshed on poll_state (refreshed_id) where refreshed_id is not null;

-- What a source has given: a packed window (freshet.Seen) that outlives the items (D7a).
create table seen (source_id bigint primary key references sources (id) on delete cascade, win bytea not null);

create table items (
  id bigint primary key,
  source_id bigint not null,
  in_river bigint not null default 1,
  guid text not null,
  url text not null,
  canonical_url text not null,
  title text not null,
  snippet text not null,
  author text not null,
  image text not null,
  published_at bigint not null,
  ingested_at bigint not null,
  updated_at bigint not null
);
create index items_river on items (published_at desc, ingested_at desc, id desc) where in_river = 1;
create index items_hidden on items (published_at) where in_river = 0;

create table bodies (
  item_id bigint primary key references items (id) on delete cascade,
  body text not null,
  enclosures text not null default '[]'
);

-- The identities of an item (D1); has_guid tells the key of a URL whether its item also has a guid.
create table item_keys (
  key bytea primary key, item_id bigint not null references items (id) on delete cascade, has_guid bigint not null
);
create index item_keys_item on item_keys (item_id);

-- One post: what a source gave. The item's sort key is copied so that the river of chosen sources is an index walk.
create table posts (
  source_id bigint not null,
  published_at bigint not null,
  ingested_at bigint not null,
  item_id bigint not null references items (id) on delete cascade,
  guid text not null,
  url text not null,
  content_hash bytea not null,
  first_seen_at bigint not null,
  primary key (source_id, published_at, ingested_at, item_id)
);
create index posts_item on posts (item_id);

-- Full text, indexed behind the polls: pending names the items whose text is not in the index yet.
-- A text also holds the hour it was published as a word, so that a search reads the newest hours first.
create table search (item_id bigint primary key references items (id) on delete cascade, doc tsvector not null);
create index search_doc on search using gin (doc) with (gin_pending_list_limit = 512); -- what a search reads one by one
create table search_pending (item_id bigint primary key references items (id) on delete cascade);

-- A refresh is carried out by whoever polls its sources; whole ones asked for every source.
create table refreshes (
  id bigint primary key,
  kind text not null,
  whole bigint not null,
  requested_at bigint not null,
  finished_at bigint,
  total bigint not null,
  done bigint not null default 0,
  failed bigint not null default 0,
  put_off bigint not null default 0,
  new_items bigint not null default 0
);

create table events (seq bigint primary key, at bigint not null, kind text not null, data text not null);

-- +goose Down
drop table events; drop table refreshes; drop table search_pending; drop table search; drop table posts; drop table item_keys;
drop table bodies; drop table items; drop table seen; drop table poll_state; drop table sources; drop table hosts; drop table leases; drop table counters;

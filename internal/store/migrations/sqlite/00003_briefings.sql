-- +goose Up
-- What a source's briefings ask of it (freshet.BriefingPolicy) and whose credentials it is polled with (S7), kept up to date when
-- briefings change, so that a poll reads one row.
alter table sources add column briefing text not null default '';
alter table sources add column owner text not null default '';

create table briefings (
  id integer primary key,
  name text not null unique,
  owner text not null,
  max_age integer not null,
  asked integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

-- aggregate is null where the source's kind decides (B2).
create table briefing_sources (
  briefing_id integer not null references briefings (id) on delete cascade,
  source_id integer not null references sources (id) on delete cascade,
  aggregate integer,
  added_at integer not null,
  primary key (briefing_id, source_id)
) strict, without rowid;
create index briefing_sources_source on briefing_sources (source_id);

-- An article keeps its own text: retention may take the posts that it was made of (D8).
create table articles (
  id integer primary key,
  briefing_id integer not null references briefings (id) on delete cascade,
  source_id integer not null,
  title text not null,
  url text not null,
  author text not null,
  body text not null,
  published_at integer not null,
  created_at integer not null,
  processed_at integer
) strict;
create index articles_waiting on articles (briefing_id, published_at, id) where processed_at is null;
create index articles_processed on articles (briefing_id, processed_at, id) where processed_at is not null;

-- Which posts an article stands for. A copy that made no article of its own is linked to the first one's (B3).
create table post_articles (
  briefing_id integer not null,
  source_id integer not null,
  item_id integer not null,
  article_id integer not null references articles (id) on delete cascade,
  content_hash blob not null,
  primary key (briefing_id, source_id, item_id)
) strict, without rowid;
create index post_articles_article on post_articles (article_id);
create index post_articles_item on post_articles (briefing_id, item_id);
create index post_articles_hash on post_articles (briefing_id, content_hash);
create index post_articles_post on post_articles (source_id, item_id);

-- +goose Down
drop table post_articles; drop table articles; drop table briefing_sources; drop table briefings;
alter table sources drop column owner; alter table sources drop column briefing;

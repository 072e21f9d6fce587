-- +goose Up
-- Tokens of other services, sealed (S7). key_id names the master key; one key seals them all.
create table credentials (
  owner text not null,
  provider text not null,
  key_id text not null,
  sealed bytea not null,
  updated_at bigint not null,
  primary key (owner, provider)
);
insert into counters (name, value) values ('credential', 0);

-- What was read in a month with an owner's token and is paid for.
create table spend (
  owner text not null,
  provider text not null,
  month text not null,
  reads bigint not null,
  primary key (owner, provider, month)
);

-- +goose Down
drop table spend; drop table credentials;
delete from counters where name = 'credential';

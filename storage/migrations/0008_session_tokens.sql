-- The token that a step-up has replaced. It is good for a few minutes more: requests with it may be under way, and a person may
-- have a second window open.
alter table session
  add column previous_token_sha256 bytea,
  add column previous_until timestamptz;
create index session_by_previous_token on session (previous_token_sha256) where previous_token_sha256 is not null;

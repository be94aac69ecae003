-- What was asked of banking partners over HTTP, one row per attempt, without secrets.
create table provider_call (
  id uuid primary key,
  connection_id uuid not null,
  operation text not null,
  method text not null,
  target text not null,
  status smallint,
  fault text,
  message text,
  latency_ms integer not null,
  request_bytes integer not null,
  answer_bytes integer not null,
  request text,
  answer text,
  at timestamptz not null
);
create index provider_call_connection on provider_call (connection_id, id);
create index provider_call_old on provider_call (at);

-- Nodes keep connections open; this tells them to open one anew. A trigger, so that no way of changing one can leave it out.
create function provider_connection_told() returns trigger language plpgsql as $$
begin
  perform pg_notify('provider_connection', new.id::text);
  return null;
end
$$;
create trigger provider_connection_told after update of provider, environment, status, settings, credentials, webhook_secret on provider_connection
  for each row execute function provider_connection_told();

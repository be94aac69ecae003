-- An endpoint is told of the events whose transactions were not over when the endpoint was created: the snapshot of its
-- insertion tells them apart. Events can be relayed long after their commit, so the moment of the relay does not.
-- Endpoints from before this column have none and are told of every event that is relayed.
alter table webhook_endpoint add column created_snapshot pg_snapshot;
alter table webhook_endpoint alter column created_snapshot set default pg_current_snapshot();

-- What follows from payments that have ended (when their recipients were last paid, who is told) is read off their events,
-- beside the commits that write them. How far that has come: every event written in a transaction before `position`. One row.
create table payment_follow_up (
  position xid8 not null,
  -- When it last moved, by the service's clock; much older partitions need not be looked at.
  moved_at timestamptz
);
insert into payment_follow_up (position) values ((pg_current_xact_id()::text::bigint + 1)::text::xid8);

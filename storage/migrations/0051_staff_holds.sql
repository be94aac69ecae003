-- Holds that the operator's staff place for an order of an authority or by hand. The hold itself is a row of `hold`; this row keeps
-- the reason, which customers never see, and the due time of a hold that ends by itself.
create table staff_hold (
  id uuid primary key,
  balance_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  subject_type text not null,
  amount bigint not null,
  currency char(3) not null,
  status text not null default 'active',
  reason text not null,
  placed_by uuid not null,
  placed_by_name text not null,
  release_reason text,
  version integer not null default 1,
  expires_at timestamptz,
  resolved_at timestamptz,
  created_at timestamptz not null
);
create index staff_hold_balance on staff_hold (balance_id, id);
create index staff_hold_due on staff_hold (expires_at) where status = 'active' and expires_at is not null;
create trigger work_inserted after insert on staff_hold for each row when (new.expires_at is not null) execute function work_due('staff_hold');
create trigger work_hastened after update of expires_at on staff_hold for each row
  when (new.expires_at < coalesce(old.expires_at, 'infinity')) execute function work_due('staff_hold');

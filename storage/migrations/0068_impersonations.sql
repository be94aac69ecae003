-- A session in which staff read the data of one customer. Another session of the same person opens it, and it ends with that one.
alter table session
  add column impersonated_customer_id uuid,
  add column impersonation_reason text,
  add column opened_by_session_id uuid,
  add constraint session_impersonation
    check (num_nulls(impersonated_customer_id, impersonation_reason, opened_by_session_id) in (0, 3));
create index session_opened_by on session (opened_by_session_id) where opened_by_session_id is not null;

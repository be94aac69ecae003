-- What operators set for the people of their customers and for payments.
alter table operator
  add column payments_step_up_amount bigint not null default 0,
  add column payments_step_up_currency char(3) not null default 'EUR',
  add column kyb_require_all_persons_verified boolean not null default true,
  add column session_idle_minutes integer not null default 15,
  add column session_absolute_hours integer not null default 12,
  add column recovered_factor_wait_hours integer not null default 24;

-- A second factor that was added with a recovery code proves no more than a recovery code until then.
alter table mfa_factor add column waits_until timestamptz;

-- A mail with a link is not sent after the end of the link.
alter table mail add column valid_until timestamptz;

-- Payments wait while their customer does not pay by its status, too: rejected after a new review, or under review again.
drop index balance_stopped;
create index balance_stopped on balance (id) where status = 'frozen' or customer_measure is not null
  or customer_status in ('draft', 'onboarding', 'in_review', 'info_required', 'rejected');

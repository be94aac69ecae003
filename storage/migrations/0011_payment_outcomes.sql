-- What becomes of a payment after it has left: money that comes back, and what its customer asks the recipient's bank for.
-- recall_due_at is when somebody has to look after a recall that is open: to pass it on, or to give it up.
alter table payment
  add column returned_amount bigint,
  add column return_info text,
  add column recall text,
  add column recall_due_at timestamptz,
  add constraint payment_returned_within check (returned_amount > 0 and returned_amount <= amount);
-- No move that every payment makes writes it, so their updates stay heap-only.
create index payment_recall_due on payment (recall_due_at) where recall_due_at is not null;

-- An order may have more than one message to come: `steps` is what is planned from the next one on, where that is more than
-- next_event alone; event_number tells the messages of an order apart.
alter table sandbox_order
  add column steps text,
  add column event_number smallint not null default 1;

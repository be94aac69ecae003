-- What makes the journal provable to an outsider: chains of hashes over lines, and the partner's statement beside the ledger.
--
-- Nothing of it is on a payment's way but one entry of an index for postings that touch no balance, of which a payment has
-- one. Chains are written beside the commits, by a pass that reads what is new.

-- How far the chain of a balance has come. The chain of postings that touch no balance has an id of zeros.
create table journal_chain (
  chain_id uuid primary key,
  sequence bigint not null,
  hash bytea not null
) with (fillfactor = 50);

-- Consecutive lines of one chain. hash is over the checkpoint before it and the digests of its lines; marks are the first
-- eight bytes of each digest, by which a line that was changed is found again. Postings that touch no balance have no
-- numbers of their own: theirs are counted, in the order of booked_until, cause, rule.
create table journal_checkpoint (
  chain_id uuid not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  block bigint not null,
  hash bytea not null,
  marks bytea not null,
  booked_from timestamptz,
  booked_until timestamptz,
  primary key (chain_id, first_sequence)
);
create index journal_checkpoint_block on journal_checkpoint (block);

-- The checkpoints of one pass. hash is over the block before it and the hashes of its checkpoints: whoever has kept the
-- newest one elsewhere can tell whether anything before it was written anew.
create table journal_block (
  number bigint primary key,
  hash bytea not null,
  lines bigint not null,
  made_at timestamptz not null
);

create index posting_internal on posting (booked_at) where debit_sequence is null and credit_sequence is null;
-- A day of postings, wherever they belong: the books are written in the order of time, so a summary of pages is enough.
create index posting_booked on posting using brin (booked_at) with (pages_per_range = 32, autosummarize = on);

-- What the sandbox bank booked, in its own words. Orders for payments say it themselves: settled_at is when it debited them.
-- Everything else that moved money at the bank is a booking. Nothing of ours reads them except through the ports.
alter table sandbox_order
  add column connection_id uuid,
  add column settled_at timestamptz;
create index sandbox_order_settled on sandbox_order using brin (settled_at) with (autosummarize = on);
alter table sandbox_fx_order
  add column connection_id uuid,
  add column settled_at timestamptz;
create index sandbox_fx_order_settled on sandbox_fx_order (connection_id, settled_at) where settled_at is not null;
create table sandbox_booking (
  -- The bank's own id of it.
  id uuid primary key,
  connection_id uuid not null,
  currency char(3) not null,
  reference uuid not null,
  -- As camt says it, from the account's side: CRDT came in, DBIT went out.
  direction char(4) not null,
  amount bigint not null,
  -- In the future, where the bank has planned it.
  booked_at timestamptz not null,
  code text not null,
  text text
);
create index sandbox_booking_day on sandbox_booking (connection_id, currency, booked_at);

-- One day of one account at a partner, compared with the ledger. A row is made for every day that has ended; status queued is
-- the work to do, and taken_until who does it now.
create table reconciliation (
  id uuid primary key,
  operator_id uuid not null,
  connection_id uuid not null,
  currency char(3) not null,
  day date not null,
  status text not null,
  attempts smallint not null default 0,
  taken_until timestamptz,
  error text,
  -- The partner's statement: its own id, the digest of its bytes, what it says.
  statement_ref text,
  statement_sha256 bytea,
  entries integer,
  partner_opening bigint,
  partner_closing bigint,
  nostro_opening bigint,
  nostro_closing bigint,
  matched integer,
  timing integer,
  breaks integer,
  -- What neither books nor items explain; anything but zero is an alarm.
  unexplained bigint,
  -- The newest block of the journal's chain when it was made.
  block bigint,
  block_hash bytea,
  requested_by uuid,
  version integer not null default 1,
  started_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index reconciliation_day on reconciliation (connection_id, currency, day);
create index reconciliation_operator on reconciliation (operator_id, id);
create index reconciliation_queued on reconciliation (id) where status in ('queued', 'running');

create table bank_statement_entry (
  reconciliation_id uuid not null,
  ordinal integer not null,
  -- Ours, where the partner says one.
  reference uuid,
  direction char(4) not null,
  amount bigint not null,
  booked_on date not null,
  value_date date not null,
  bank_ref text,
  code text,
  text text,
  primary key (reconciliation_id, ordinal)
);
create index bank_statement_entry_reference on bank_statement_entry (reference) where reference is not null;

-- What one side has and the other has not, or has otherwise. cleared_on is the day from which both sides agree again.
create table reconciliation_item (
  id uuid primary key,
  operator_id uuid not null,
  connection_id uuid not null,
  currency char(3) not null,
  reconciliation_id uuid not null,
  kind text not null,
  status text not null,
  direction char(4) not null,
  reference uuid,
  our_amount bigint,
  partner_amount bigint,
  -- Ours: what caused it, and its entry. The partner's: the line of its statement.
  source_object text,
  entry_id uuid,
  bank_ref text,
  text text,
  found_on date not null,
  cleared_on date,
  -- The incoming payment that an unexplained credit was booked as.
  suspense_id uuid,
  proposal text,
  outcome text,
  evidence text,
  resolved_by uuid,
  resolved_by_name text,
  resolved_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index reconciliation_item_account on reconciliation_item (connection_id, currency, id);
create index reconciliation_item_uncleared on reconciliation_item (connection_id, currency) where cleared_on is null;
create index reconciliation_item_open on reconciliation_item (operator_id, id) where status in ('open', 'in_suspense');

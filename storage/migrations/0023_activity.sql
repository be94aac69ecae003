-- Files of customers and operators, in pieces, so that every node can serve them and none has to hold one whole. A file
-- whose writing was never finished, or that nobody came to keep, is removed when its time is over, like one that was lent.
create table stored_file (
  id uuid primary key,
  tenant_id uuid not null,
  file_name text not null,
  content_type text not null,
  -- Null while it is being written.
  size_bytes bigint,
  sha256 bytea,
  expires_at timestamptz,
  created_at timestamptz not null,
  constraint stored_file_size_positive check (size_bytes >= 0)
);
create index stored_file_expiring on stored_file (expires_at) where expires_at is not null;

create table stored_file_piece (
  file_id uuid not null,
  nth integer not null,
  bytes bytea not null,
  primary key (file_id, nth)
);
-- Documents are compressed already.
alter table stored_file_piece alter column bytes set storage external;

-- ── Transactions ───────────────────────────────────────────────────────────────────────────────────────────────────────
-- What a customer sees of every movement of money, whatever caused it, one row each: written beside the commits, from the
-- rows that cause movements and the postings that book them (storage/transactions/transactions.ts says why).

-- An id that follows from another: its last two digits XORed with a mark.
create function marked_id(id uuid, mark integer) returns uuid
  language sql immutable strict parallel safe
  return (substr(id::text, 1, 34) || lpad(to_hex(('x' || substr(id::text, 35, 2))::bit(8)::integer # mark), 2, '0'))::uuid;

-- The transaction that a line of a balance belongs to. What makes a movement gives its id to it; the other side of a transfer
-- or an exchange has mark 1, what comes back of a payment mark 2. Every other line is a transaction of its own, and has its id.
create function transaction_of_line(rule text, side text, source_id uuid, entry_id uuid, ordinal integer) returns uuid
  language sql immutable strict parallel safe
  return case
    when rule in ('L01', 'L04', 'L06', 'L10', 'L12', 'L30', 'L35', 'L43', 'L81') or (rule = 'L20' and side = 'debit') then source_id
    when rule in ('L20', 'L33') then marked_id(source_id, 1)
    when rule in ('L13', 'L80') then marked_id(source_id, 2)
    else marked_id(entry_id, ordinal * 2 + case side when 'debit' then 0 else 1 end)
  end;

create table account_transaction (
  id uuid primary key,
  customer_id uuid not null,
  balance_id uuid not null,
  type text not null,
  status text not null,
  direction text not null,
  currency char(3) not null,
  amount bigint not null,
  fee bigint not null default 0,
  order_id text,
  description text not null,
  counterparty_name text,
  counterparty_identifier text,
  recipient_id uuid,
  reference text,
  rail text,
  category text,
  source_object text not null,
  source_id uuid not null,
  -- Of the row that causes it: what was read earlier never replaces what was read later.
  source_version bigint not null,
  -- Of what is booked for good.
  running_balance bigint,
  booked_at timestamptz,
  value_date date,
  attachment_count integer not null default 0,
  annotation_count integer not null default 0,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint account_transaction_amount_positive check (amount > 0)
) with (fillfactor = 80);
create index account_transaction_created on account_transaction (customer_id, created_at, id);
-- What is not booked comes first: it is still to come.
create index account_transaction_booked on account_transaction (customer_id, coalesce(booked_at, 'infinity'::timestamptz), id);
create index account_transaction_amount on account_transaction (customer_id, amount, id);
create index account_transaction_balance on account_transaction (balance_id, created_at, id);
create index account_transaction_source on account_transaction (source_id);
create index account_transaction_recipient on account_transaction (recipient_id, created_at, id) where recipient_id is not null;
create index account_transaction_category on account_transaction (customer_id, category, created_at, id) where category is not null;
-- The rare ones, found without passing by all the others.
create index account_transaction_unsettled on account_transaction (customer_id, created_at, id) where status <> 'completed';
-- Of most customers nearly all are payments of one direction; what is not is in these.
create index account_transaction_besides_out on account_transaction (customer_id, created_at, id) where type <> 'outgoing_payment';
create index account_transaction_besides_in on account_transaction (customer_id, created_at, id) where type <> 'incoming_payment';
create index account_transaction_attached on account_transaction (customer_id, created_at, id) where attachment_count > 0;
create index account_transaction_annotated on account_transaction (customer_id, created_at, id) where annotation_count > 0;
create index account_transaction_search on account_transaction using gin ((search_words(customer_id,
  description || ' ' || coalesce(counterparty_name, '') || ' ' || coalesce(reference, '') || ' ' || coalesce(order_id, ''))));

-- How far the events have been followed. One row.
create table transaction_following (
  position xid8 not null,
  moved_at timestamptz
);
insert into transaction_following (position) values ((pg_current_xact_id()::text::bigint + 1)::text::xid8);

-- What was there before: walked through by id, from the beginning. A row goes when its table has been read to the end.
create table transaction_backfill (
  object text primary key,
  after_id uuid not null
);
insert into transaction_backfill (object, after_id)
  select object, '00000000-0000-0000-0000-000000000000'::uuid from unnest(array['payment', 'transfer', 'incoming_payment', 'exchange']) object;

create table annotation (
  id uuid primary key,
  transaction_id uuid not null,
  customer_id uuid not null,
  text text not null,
  author_id uuid not null,
  author_name text not null,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index annotation_transaction on annotation (transaction_id, id);

-- Files that somebody has put into the service: attachments of transactions, and documents with a purpose. A scan decides
-- whether they may be downloaded; scan_due_at is when it is asked for or asked about next.
create table document (
  id uuid primary key,
  customer_id uuid not null,
  shard smallint not null,
  -- Of an attachment; documents have a purpose instead.
  transaction_id uuid,
  purpose text,
  file_id uuid not null,
  file_name text not null,
  content_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  status text not null,
  scan_due_at timestamptz,
  attempts smallint not null default 0,
  created_by uuid not null,
  created_by_name text not null,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint document_belongs check ((transaction_id is null) <> (purpose is null))
);
create index document_customer on document (customer_id, id) where purpose is not null;
create index document_attached on document (customer_id, id) where transaction_id is not null;
create index document_transaction on document (transaction_id, id) where transaction_id is not null;
create index document_scan_due on document (scan_due_at) where scan_due_at is not null;

-- What needs a document, which cannot be deleted until it does not.
create table document_use (
  document_id uuid not null,
  object text not null,
  object_id uuid not null,
  primary key (document_id, object_id)
);
create index document_use_object on document_use (object_id);

-- Files of direct debits: what was sent to banks in files, and what banks answered in files.
alter index collection_file rename to collection_of_file;

create table collection_file (
  id uuid primary key,
  operator_id uuid not null,
  connection_id uuid not null,
  kind text not null,
  scheme text not null,
  -- Null for a file of instructions.
  sequence_type text,
  currency char(3) not null,
  creditor_id text not null,
  creditor_name text not null,
  settlement_date date not null,
  format text not null,
  message_id text not null,
  status text not null,
  line_count integer not null default 0,
  control_sum bigint not null default 0,
  sha256 text,
  stored_file_id uuid,
  -- While it is gathered: when an attempt is due.
  due_at timestamptz,
  created_at timestamptz not null,
  generated_at timestamptz,
  downloaded_at timestamptz,
  constraint collection_file_sums check (line_count >= 0 and control_sum >= 0),
  constraint collection_file_written check (status = 'gathering' or (sha256 is not null and stored_file_id is not null))
);
create index collection_file_operator on collection_file (operator_id, id);
create unique index collection_file_message on collection_file (operator_id, message_id);
-- The collections of a group go into one file at a time.
create unique index collection_file_gathering on collection_file
  (connection_id, kind, scheme, coalesce(sequence_type, ''), currency, creditor_id, creditor_name, settlement_date) where status = 'gathering';
create trigger task_added after insert or update of due_at on collection_file for each row when (new.due_at is not null)
  execute function add_task('direct-debits.file', 'id', 'due_at');

-- A line: a collection, or a mandate that is lodged. The amendment is that of the mandate when the line was gathered.
create table collection_file_line (
  file_id uuid not null,
  object_id uuid not null,
  amount bigint not null,
  amendment text,
  represented boolean not null default false,
  instruction text,
  primary key (file_id, object_id)
);
create index collection_file_line_object on collection_file_line (object_id);
-- A mandate is lodged once, and its end is told once.
create unique index collection_file_line_instruction on collection_file_line (object_id, instruction) where instruction is not null;

-- The amendment of its mandate that the presentation of a collection tells.
alter table collection add column amendment text;

-- The pending collections whose cut-off comes.
create index collection_cut_off on collection (submission_deadline, id) where status = 'pending';

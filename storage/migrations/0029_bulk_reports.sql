-- Reports on files of payments: the file that was written last, and what it was written of. Files expire by themselves; a report
-- whose file is gone is written anew when somebody asks.

create table bulk_payment_report (
  bulk_payment_id uuid not null,
  format text not null,
  state text not null,
  file_id uuid not null,
  primary key (bulk_payment_id, format)
);

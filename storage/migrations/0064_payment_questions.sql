-- Questions of staff about a payment that is held, and the customer's answers. The customer sees the question, and nothing of the hold.
create table payment_question (
  id uuid primary key,
  hold_id uuid not null,
  payment_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  text text not null,
  asked_by uuid not null,
  asked_by_name text not null,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index payment_question_hold on payment_question (hold_id, id);
create index payment_question_payment on payment_question (payment_id, id);

-- The documents of an answer are used by it (document_use) and are listed in the order in which the customer named them.
create table payment_answer (
  id uuid primary key,
  question_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  text text not null,
  document_ids uuid[] not null,
  answered_by uuid not null,
  answered_by_name text not null,
  created_at timestamptz not null
);
create index payment_answer_question on payment_answer (question_id, id);

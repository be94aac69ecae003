-- The onboarding of customers: one KYB case each, with the people and companies behind the customer, and its documents.
create table kyb_case (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  status text not null,
  mode text not null,
  provider text not null,
  applicant_id text,
  company jsonb not null,
  personal jsonb,
  expected_activity jsonb,
  attestations jsonb not null default '{}',
  terms jsonb,
  capabilities text[] not null,
  info_requested jsonb not null default '[]',
  result jsonb,
  assignee_id uuid,
  next_review_at timestamptz,
  submitted_at timestamptz,
  reviewed_at timestamptz,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index kyb_case_customer on kyb_case (customer_id);
create index kyb_case_queue on kyb_case (operator_id, status, submitted_at, id);

create table kyb_person (
  id uuid primary key,
  customer_id uuid not null,
  kind text not null,
  roles text[] not null default '{}',
  details jsonb not null,
  ownership_percent text,
  owned_by jsonb,
  nominee boolean not null default false,
  status text not null default 'draft',
  applicant_id text,
  reject_labels text[] not null default '{}',
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index kyb_person_customer on kyb_person (customer_id, id);

-- A document of a case, under the id of its file in the store.
create table kyb_document (
  id uuid primary key,
  customer_id uuid not null,
  type text not null,
  person_id uuid,
  requirement text,
  expires_on date,
  created_at timestamptz not null
);
create index kyb_document_customer on kyb_document (customer_id, id);

-- Customers of before were approved without a case, or have not begun theirs.
insert into kyb_case (id, customer_id, operator_id, status, mode, provider, company, capabilities, submitted_at, reviewed_at, created_at, updated_at)
  select gen_random_uuid(), c.id, c.operator_id,
    case c.status when 'in_review' then 'in_review' when 'info_required' then 'info_requested' when 'rejected' then 'rejected'
      when 'draft' then 'draft' when 'onboarding' then 'draft' else 'approved' end,
    'wizard',
    case when exists (select from provider_connection p where p.operator_id = c.operator_id and p.provider = 'sandbox') then 'sandbox' else 'manual' end,
    jsonb_build_object('legalName', c.legal_name, 'tradingName', c.trading_name, 'registrationNumber', c.registration_number,
      'incorporationCountry', c.incorporation_country, 'incorporationDate', to_char(c.incorporation_date, 'YYYY-MM-DD'),
      'legalForm', null, 'website', null, 'industryCode', null, 'taxId', null),
    '{receive,send,exchange}',
    case when c.status in ('draft', 'onboarding') then null else coalesce(c.approved_at, c.updated_at) end, c.approved_at, c.created_at, c.updated_at
  from customer c;

-- Everyone who shaped the terms of what is approved, and what was changed of a payment while it waited for its approval.

-- Ids of the people and keys who shaped the terms, beside `requested_by`.
alter table approval add column requesters jsonb not null default '[]';
-- Counted up when the approvals start anew; only decisions of the current round count.
alter table approval add column round smallint not null default 1;
-- What was changed of the subject since the approval opened: who, when, which members.
alter table approval add column subject_changes jsonb not null default '[]';

alter table approval_decision add column round smallint not null default 1;
-- False for an approval whose giver could no longer give it when the last decision was made.
alter table approval_decision add column counted boolean not null default true;
drop index approval_decision_once;
-- A person decides once in a round.
create unique index approval_decision_once on approval_decision (approval_id, user_id, round) where step_up_method is not null;

-- Who changed the terms of these, each person or key once, with the time of the last change: [{"id", "at"}], `at` in epoch
-- milliseconds. Drafts keep the same in `payment.details`.
alter table recipient add column editors jsonb not null default '[]';
alter table bulk_payment add column editors jsonb not null default '[]';
alter table scheduled_payment add column editors jsonb not null default '[]';
-- Whose limits its payments count for; null: those of whoever created it.
alter table scheduled_payment add column amount_set_by uuid;

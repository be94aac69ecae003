-- The queue of recipient reviews is filtered by the occasion of a review. Of the existing reviews, the first one of each recipient
-- counts as that of a new recipient.
alter table recipient_review add column kind text;
update recipient_review v set kind = case
    when exists (select from recipient_review e where e.recipient_id = v.recipient_id and e.id < v.id) then 'changed_recipient'
    else 'new_recipient' end;
alter table recipient_review alter column kind set not null;

-- Cases that were in review before providers reviewed any have no applicants there, so no provider's answer will come:
-- staff review them by themselves.
update kyb_case k set provider = 'manual', version = version + 1
  where k.provider = 'sandbox' and k.status in ('submitted', 'in_review')
    and not exists (select from kyc_applicant a where a.case_id = k.id);

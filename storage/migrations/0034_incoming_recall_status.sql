-- A recall that nobody has decided is `requested`, as that of a payment is.
update incoming_payment set recall = replace(recall, '"status":"pending"', '"status":"requested"') where recall::json->>'status' = 'pending';

/**
 * SQL condition: names that cannot be checked stop payments of a customer `c` of the operator `o`, because either of
 * them requires it.
 */
export const REQUIRES_VERIFICATION = `(o.recipient_require_verification
      or coalesce((select (s.value->>'requireVerification')::boolean from setting s where s.owner_id = c.id and s.name = 'preferences'), false))`

/** Notifies users of a sign-in from a new device or address, so that they can react if the sign-in was not theirs. */
import type { IdSource } from '../../lib/base/ids.ts'
import { insertNotices } from '../notices/notices.ts'
import type { TransactionClient } from '../db/transaction.ts'

// The same device is the device's own id, or else the same browser at the same address. Sessions are kept for thirty
// days. A user without any other session is a new user and gets no notice.
const NEW_HERE = `select s.address, coalesce(s.device_name, s.user_agent, 'an unknown device') as device, array(
    select m.tenant_id from membership m left join setting a on a.owner_id = m.tenant_id and a.name = 'alerts'
    where m.user_id = s.user_id and m.status = 'active' and coalesce((a.value->'login'->>'enabled')::boolean, true) order by m.id)::text[] as tenants
  from session s where s.id = $1
    and exists (select from session o where o.user_id = s.user_id and o.id <> s.id)
    and not exists (select from session o where o.user_id = s.user_id and o.id <> s.id
      and (o.device_id = s.device_id or (o.device_id is not distinct from s.device_id and o.user_agent is not distinct from s.user_agent and o.address = s.address)))`

/**
 * Notifies a user of a session that has just become active: a notice for each of the user's tenants that wants it, and
 * one mail.
 */
export async function tellOfNewLogin(
  client: TransactionClient,
  ids: IdSource,
  { sessionId, userId, now }: { readonly sessionId: string; readonly userId: string; readonly now: number },
): Promise<void> {
  const {
    rows: [login],
  } = await client.query<{ address: string; device: string; tenants: string[] }>({
    name: 'new_login',
    text: NEW_HERE,
    values: [sessionId],
  })
  if (login === undefined) return
  const title = 'A new sign-in to your account'
  const text = `Somebody signed in as you from ${login.device}, address ${login.address}. If it was not you, end the session and change your password.`
  for (const [index, tenantId] of login.tenants.entries()) {
    await insertNotices(
      client,
      ids,
      [userId],
      { tenantId, type: 'new_login', title, text, object: { type: 'session', id: sessionId } },
      now,
      { byMail: index === 0 },
    )
  }
}

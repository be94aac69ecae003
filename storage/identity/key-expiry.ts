/** Warnings of API keys that expire soon: one 14 days before, one 3 days before. */
import type { IdSource } from '../../lib/base/ids.ts'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { insertNotices, peopleInRoles } from '../notices/notices.ts'
import { inTransaction } from '../db/transaction.ts'

/** Days before the end, the later warning first. */
const WARNED_DAYS = [3, 14] as const
/** Keys taken per pass. */
const TAKEN_MAX = 100
/** Roles that may make and replace keys, and therefore receive the warnings. */
const KEY_MANAGERS = ['owner', 'admin', 'operator_admin', 'integration']

// A key that is being replaced needs no warning, because its end is intended.
const TAKE = `with due as materialized (
    select id from api_key where status = 'active' and expires_at > $1::timestamptz and expires_at <= $2::timestamptz and coalesce(expiry_warned_days, 1000) > $3
    order by expires_at limit $4 for update skip locked)
  update api_key k set expiry_warned_days = $3 from due where k.id = due.id returning k.id, k.tenant_id, k.name, k.prefix, k.expires_at`

/**
 * Writes warnings of keys that expire soon, as notices and mails, each once even when several nodes run this.
 */
export async function tellOfExpiringKeys(database: Database, ids: IdSource, now: number): Promise<void> {
  await inTransaction(database, async (client) => {
    for (const days of WARNED_DAYS) {
      const { rows } = await client.query<{
        id: string
        tenant_id: string
        name: string
        prefix: string
        expires_at: Date
      }>({
        name: 'take_expiring_keys',
        text: TAKE,
        values: [timestamp(now), timestamp(now + days * DAY_MS), days, TAKEN_MAX],
      })
      for (const { id, tenant_id: tenantId, name, prefix, expires_at: expiresAt } of rows) {
        const title = `The API key ${name} expires soon`
        const text = `The key ${name} (${prefix}…) stops working on ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. Rotate it before then.`
        const people = await peopleInRoles(client, tenantId, KEY_MANAGERS)
        await insertNotices(
          client,
          ids,
          people,
          { tenantId, type: 'api_key_expiring', title, text, object: { type: 'api_key', id } },
          now,
        )
      }
    }
  })
}

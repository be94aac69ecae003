/** Messages about mandates and collections that changed nothing. */
import { timestamp } from '../../lib/base/clock.ts'
import type { DirectDebitMessageType } from '../../lib/providers/messages.ts'
import type { Database } from '../db/database.ts'

/** Keeps a message that fits no row of the tables; one that is kept, or was used, already stays. */
export async function keepDebitMessage(
  database: Database,
  {
    id,
    type,
    connectionId,
    objectId,
    code,
  }: {
    readonly id: string
    readonly type: DirectDebitMessageType
    readonly connectionId: string
    readonly objectId: string
    readonly code: string | null
  },
  now: number,
): Promise<void> {
  await database.query({
    name: 'keep_debit_message',
    text: `insert into provider_event (id, connection_id, type, object_id, code, received_at)
      values ($1, $2, $3, $4, $5, $6::timestamptz) on conflict (id) do nothing`,
    values: [id, connectionId, type, objectId, code, timestamp(now)],
  })
}

/** Tells whether a message has counted, or was kept, before. */
export async function isDebitMessageKept(database: Pick<Database, 'query'>, id: string): Promise<boolean> {
  const rows = await database.query({
    name: 'debit_message_kept',
    text: 'select from provider_event where id = $1',
    values: [id],
  })
  return rows.length > 0
}

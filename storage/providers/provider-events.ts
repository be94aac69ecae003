/**
 * Messages of partners that caused no change. They are recorded too: each once, under the partner's own id.
 *
 * Written by hand: one statement keeps a batch of the partner's messages, which come with each payment.
 */
import type { BankMessageType } from '../../lib/providers/messages.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

export interface KeptMessage {
  readonly id: string
  readonly type: BankMessageType
  /** The id of its payment. */
  readonly reference: string
  readonly schemeCode: string | null
}

/** Records messages that are not recorded yet. `now` is epoch milliseconds. @throws the driver's errors */
export async function keepMessages(database: Database, messages: readonly KeptMessage[], now: number): Promise<void> {
  await database.query({
    name: 'keep_messages',
    text: `insert into provider_event (id, connection_id, type, object_id, code, received_at)
      select u.id, p.connection_id, u.type, p.id, u.code, $5::timestamptz
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as u(id, type, reference, code) join payment p on p.id = u.reference
      on conflict (id) do nothing`,
    values: [
      plainArray(messages.map(({ id }) => id)),
      textArray(messages.map(({ type }) => type)),
      plainArray(messages.map(({ reference }) => reference)),
      textArray(messages.map(({ schemeCode }) => schemeCode)),
      timestamp(now),
    ],
  })
}

/** Whether a commit failed because the message was recorded before: the earlier commit has applied it fully. */
export function isKeptAlready(error: unknown): boolean {
  return (error as { readonly constraint?: unknown } | null)?.constraint === 'provider_event_pkey'
}

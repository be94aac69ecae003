/** Events of KYC providers, as rows. */
import { timestamp } from '../../lib/base/clock.ts'
import { KYC_EVENTS_KEPT_MS, type KycEvent, type KycEventStatus } from '../../lib/kyc/event.ts'
import type { Database } from '../db/database.ts'
import { entitiesOfEveryTenant } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { KycEventRow } from './kyc-event-entity.ts'

const REASON = 'the service works through the events of providers'
/** Events that are removed with one statement. */
const REMOVED_MAX = 1_000

/**
 * Keeps an event; it is due at once.
 *
 * @returns false when the provider had sent it before; then nothing was written
 */
export async function keepKycEvent(client: TransactionClient, event: KycEvent): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'keep_kyc_event',
    text: `insert into kyc_event (id, connection_id, operator_id, provider_event_id, type, body, occurred_at, received_at, due_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $8) on conflict (connection_id, provider_event_id) do nothing`,
    values: [
      event.id,
      event.connectionId,
      event.operatorId,
      event.providerEventId,
      event.type,
      event.body,
      event.occurredAt === null ? null : timestamp(event.occurredAt),
      timestamp(event.receivedAt),
    ],
  })
  return rowCount === 1
}

/** Locks an event that waits until the transaction ends; null when it was used. */
export async function lockKycEvent(client: TransactionClient, id: string): Promise<KycEvent | null> {
  const row = await entitiesOfEveryTenant(client, REASON).lock(KycEventRow, { id })
  return row === null || row.dueAt == null ? null : { ...row, occurredAt: row.occurredAt ?? null }
}

/** The outcome of an event. */
export interface KycEventEnd {
  readonly status: Exclude<KycEventStatus, 'received'>
  readonly reason: string | null
  readonly customerId: string | null
  readonly subjectId: string | null
}

/** Notes what became of an event. */
export async function endKycEvent(client: TransactionClient, id: string, end: KycEventEnd): Promise<void> {
  const rows = entitiesOfEveryTenant(client, REASON)
  Object.assign(await rows.get(KycEventRow, id), end, { dueAt: null })
  await rows.save()
}

/** Removes events that were kept for long enough. @returns how many were removed, of a bounded number */
export async function removeOldKycEvents(database: Database, now: number): Promise<number> {
  const rows = await database.query({
    name: 'remove_kyc_events',
    values: [timestamp(now - KYC_EVENTS_KEPT_MS), REMOVED_MAX],
    text: `delete from kyc_event where id in (select id from kyc_event where received_at < $1 order by received_at limit $2) returning 1`,
  })
  return rows.length
}

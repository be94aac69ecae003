/**
 * The terms of a collection that fails or comes back: the fee of the customer's price list, whether and when it is
 * presented again, and until when a claim can be challenged.
 */
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { challengeUntil, nextAttemptDate, schemeDate } from '../../lib/direct-debits/dates.ts'
import type { CollectionMessage } from '../../lib/direct-debits/debit-messages.ts'
import { DEBIT_SCHEMES, rTypeOf } from '../../lib/direct-debits/schemes.ts'
import { feeOf } from '../../lib/pricing/fees.ts'
import { shiftOpenDays, zonedMoment } from '../../lib/rails/calendar-days.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { feeRulesOf } from '../../storage/pricing/pricing.ts'

/** In a sandbox a collection is presented again after this time, so that a developer need not wait for days. */
const SANDBOX_RETRY_MS = 10_000
/** A presentation begins early on the day of its submission, before any cut-off. */
const BEGINS_AT = '00:05'

export interface ReturnTermsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly sandbox: boolean
}

/** The fee of a return, minor units, and the time of a retry; times are epoch milliseconds. */
export interface TermsOfReturn {
  readonly fee: bigint
  readonly retryAt: number | null
  readonly challengeUntil: string | null
}

/** Determines the terms of a collection that fails or comes back with a message. @throws the driver's errors */
export async function returnTermsOf(
  { database, clock, sandbox }: ReturnTermsDeps,
  collection: CollectionRecord,
  { type, reasonCode, rType }: Pick<CollectionMessage, 'type' | 'reasonCode' | 'rType'>,
): Promise<TermsOfReturn> {
  const isReturn = type === 'collection.returned'
  if (!isReturn && type !== 'collection.rejected') return { fee: 0n, retryAt: null, challengeUntil: null }
  const now = clock.now()
  const scheme = DEBIT_SCHEMES[collection.scheme]
  const claims = isReturn && (rType ?? rTypeOf(collection.scheme, reasonCode, true)) === 'indemnity_claim'
  const rules = isReturn
    ? await inTransaction(database, async (client) => await feeRulesOf(client, collection.balanceId))
    : []
  return {
    fee: feeOf(rules, null, collection.amount, 'collection_return'),
    retryAt: retryAtOf(collection, reasonCode, { now, sandbox }),
    challengeUntil: claims ? challengeUntil(scheme, schemeDate(scheme, now)) : null,
  }
}

/**
 * Computes when a collection is presented again that has failed: only where its client asked for it, for a reason that
 * the scheme takes for lack of funds, and while presentations are left. Epoch milliseconds; null: not again.
 */
export function retryAtOf(
  { scheme: name, retry, attempts, dueDate }: Pick<CollectionRecord, 'scheme' | 'retry' | 'attempts' | 'dueDate'>,
  reasonCode: string | null,
  { now, sandbox }: { readonly now: number; readonly sandbox: boolean },
): number | null {
  const scheme = DEBIT_SCHEMES[name]
  if (retry === null || !retry.enabled || reasonCode === null || !scheme.retry.codes.includes(reasonCode)) return null
  const made = Math.max(attempts.length, 1)
  const date = nextAttemptDate(
    scheme,
    { firstDueDate: attempts[0]?.dueDate ?? dueDate, made, retry, schemeMax: scheme.retry.max },
    now,
  )
  if (sandbox) return made > Math.min(retry.maxAttempts, scheme.retry.max) ? null : now + SANDBOX_RETRY_MS
  if (date === null) return null
  const day = shiftOpenDays(scheme.calendar, date, -Math.max(scheme.daysToSettle, scheme.earliestDays))
  return Math.max(zonedMoment(scheme.zone, day, BEGINS_AT), now + MINUTE_MS)
}

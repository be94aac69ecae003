/** Reads Column's transfers and events from JSON: a member that is missing or of another type is null. Pure. */
import { asObject, instantOf, type JsonObject } from '../../../../lib/base/json.ts'

const TEXT_MAX = 255
const REFERENCE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A text that is not empty; a text with NUL cannot be stored. */
export function textIn(object: JsonObject | null, member: string): string | null {
  const value = object?.[member]
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value.slice(0, TEXT_MAX) : null
}

export const timeIn = (object: JsonObject | null, member: string): number | null => instantOf(textIn(object, member))

/** The objects of a list. */
export const objectsIn = (object: JsonObject | null, member: string): readonly JsonObject[] => {
  const value = object?.[member]
  return Array.isArray(value) ? value.map(asObject).filter((each) => each !== null) : []
}

/** An amount in cents; null when it is none. */
export function centsIn(object: JsonObject | null, member: string): bigint | null {
  const value = object?.[member]
  return Number.isSafeInteger(value) && (value as number) >= 0 ? BigInt(value as number) : null
}

/** Our reference, which is the idempotency key of the transfer; null when the transfer is none of ours. */
export function referenceOf(transfer: JsonObject | null): string | null {
  const key = textIn(transfer, 'idempotency_key')
  return key !== null && REFERENCE.test(key) ? key.toLowerCase() : null
}

/** The reason where the bank has said none: the payment was called off before it left. */
const CALLED_OFF = 'CANC'
/** The reason of a return that names none: not specified. */
const UNNAMED = 'MS03'

const PENDING: ReadonlySet<string> = new Set([
  'INITIATED',
  'SCHEDULED',
  'PENDING_SUBMISSION',
  'MANUAL_REVIEW',
  'SUBMITTED',
  'ACKNOWLEDGED',
])
const SETTLED: ReadonlySet<string> = new Set(['SETTLED', 'COMPLETED'])
const REJECTED: ReadonlySet<string> = new Set(['CANCELED', 'CANCELLED', 'REJECTED', 'FAILED'])

/** How far a transfer has come. Amounts are minor units. */
export type ColumnTransferState =
  | { readonly kind: 'pending' | 'settled' }
  | { readonly kind: 'rejected'; readonly schemeCode: string }
  | { readonly kind: 'returned'; readonly schemeCode: string; readonly amount: bigint }

/** How far a transfer has come; null for a status that the documentation does not have. */
export function statusOf(transfer: JsonObject): ColumnTransferState | null {
  const status = textIn(transfer, 'status')?.toUpperCase() ?? ''
  if (PENDING.has(status)) return { kind: 'pending' }
  if (SETTLED.has(status)) return { kind: 'settled' }
  if (REJECTED.has(status)) return { kind: 'rejected', schemeCode: returnCodeOf(transfer) ?? CALLED_OFF }
  if (status !== 'RETURNED') return null
  const schemeCode = returnCodeOf(transfer) ?? UNNAMED
  // A transfer that comes back before it has settled never reached the payee.
  if (timeIn(transfer, 'settled_at') === null) return { kind: 'rejected', schemeCode }
  const amount = centsIn(transfer, 'amount')
  return amount === null ? null : { kind: 'returned', schemeCode, amount }
}

/** The code of the last return, such as `R03`. */
const returnCodeOf = (transfer: JsonObject): string | null =>
  textIn(objectsIn(transfer, 'return_details').at(-1) ?? null, 'return_code')

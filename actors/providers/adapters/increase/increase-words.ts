/** The words of Increase, read: transfers, errors and signatures. Pure. */
import { asObject, commentIn, idIn, instantOf, type JsonObject } from '../../../../lib/base/json.ts'
import { normaliseUuid } from '../../../../lib/base/ids.ts'
import { hmacFits, soleHeader, type SignedBody } from '../../../../lib/security/signed-body.ts'

/** How a transfer ended; null: it is under way. `settledAt`: it was settled before. */
export interface TransferEnd {
  readonly kind: 'settled' | 'rejected' | 'returned'
  readonly schemeCode: string | null
  readonly wasSettled: boolean
}

export interface IncreaseTransfer {
  readonly id: string
  readonly accountId: string
  /** Our reference. */
  readonly reference: string
  readonly amount: bigint
  readonly end: TransferEnd | null
  /** A text that is the same for the same state of the same transfer. */
  readonly state: string
}

const TOLERANCE_MS = 300_000
const ERROR_TYPE = /^[a-z_]{1,60}$/
const ENDED_EARLY: ReadonlySet<string> = new Set(['rejected', 'canceled'])

/** Reads a transfer; null when it is none of ours: a debit, or one that was not made with a reference of ours. */
export function transferIn(value: unknown): IncreaseTransfer | null {
  const object = asObject(value)
  if (object === null) return null
  const id = idIn(object, 'id')
  const accountId = idIn(object, 'account_id')
  const reference = normaliseUuid(idIn(object, 'idempotency_key') ?? '')
  const status = idIn(object, 'status')
  const { amount } = object
  if (id === null || accountId === null || reference === null || status === null) return null
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount <= 0) return null
  const settledAt = timeIn(asObject(object.settlement), 'settled_at')
  const returned = asObject(object.return)
  const returnedAt = timeIn(returned, 'created_at')
  return {
    id,
    accountId,
    reference,
    amount: BigInt(amount),
    end: endOf(status, settledAt, returned, returnedAt),
    state: [id, status, settledAt ?? '', returnedAt ?? ''].join('/'),
  }
}

const timeIn = (object: JsonObject | null, member: string): number | null =>
  object === null ? null : instantOf(commentIn(object, member))

function endOf(
  status: string,
  settledAt: number | null,
  returned: JsonObject | null,
  returnedAt: number | null,
): TransferEnd | null {
  if (returned !== null) {
    const schemeCode = idIn(returned, 'raw_return_reason_code')
    const wasSettled = settledAt !== null && (returnedAt === null || settledAt <= returnedAt)
    return { kind: wasSettled ? 'returned' : 'rejected', schemeCode, wasSettled }
  }
  // Increase gives no code with these two.
  if (ENDED_EARLY.has(status)) return { kind: 'rejected', schemeCode: status, wasSettled: false }
  return settledAt === null ? null : { kind: 'settled', schemeCode: null, wasSettled: true }
}

/** The type of an error; null when it is no error of Increase's, as a page of something in between. */
export function errorTypeIn(value: unknown): string | null {
  const type = asObject(value)?.type
  return typeof type === 'string' && ERROR_TYPE.test(type) ? type : null
}

/** The entries of a list with the cursor of the next page; null when it is no list. */
export function pageIn(value: unknown): { readonly data: readonly unknown[]; readonly next: string | null } | null {
  const object = asObject(value)
  if (object === null || !Array.isArray(object.data)) return null
  const { next_cursor: next } = object
  return { data: object.data, next: typeof next === 'string' && next !== '' ? next : null }
}

/**
 * Judges a signature by the rules of Standard Webhooks: an HMAC over id, time and body, under the secret as it is.
 * Returns the id of the webhook, or what is wrong.
 */
export function judgeSignature(
  request: SignedBody,
  secret: string,
  now: number,
): { readonly id: string } | { readonly reason: string } {
  const id = soleHeader(request, 'webhook-id')
  const time = soleHeader(request, 'webhook-timestamp')
  const signatures = soleHeader(request, 'webhook-signature')
  if (id === null || id === '' || time === null || signatures === null) return { reason: 'A header is missing.' }
  if (secret === '') return { reason: 'There is no secret.' }
  const at = /^[0-9]{1,12}$/.test(time) ? Number(time) * 1_000 : Number.NaN
  if (!(Math.abs(now - at) <= TOLERANCE_MS)) return { reason: 'The signature is too old, or its time is wrong.' }
  const fits = signatures.split(' ').some((each) => {
    const [version, sent] = each.split(',', 2)
    const parts = [`${id}.${time}.`, request.bytes]
    return version === 'v1' && sent !== undefined && hmacFits('sha256', secret, parts, Buffer.from(sent, 'base64'))
  })
  return fits ? { id } : { reason: 'The signature is wrong.' }
}

/**
 * The webhooks of the built-in sandbox bank, signed by Standard Webhooks. The body is `{id, type, occurredAt, data}`:
 *
 *  * `payment.settled`, `.rejected`, `.returned`, `.pending`, `.unclear`, `.recall_rejected`: `{reference, schemeCode?, amountMinor?}`
 *  * `exchange.settled`, `.refused`, `.unclear`: `{reference, soldMinor?, boughtMinor?, reason?}`
 *  * `account.credited`: `{reference, account?, amountMinor, currency, payerName?, payerIdentifier?, payerBankName?,
 *    payerCountry?, remittance?, rail?, endToEndId?, uetr?, valueDate}`; `account.credit_returned`: `{reference}`
 *  * `debit.announced`, `.booked`: `{reference, account?, scheme, amountMinor, currency, creditorName, creditorId?,
 *    mandateReference?, remittance?, endToEndId?, dueDate}`; `debit.withdrawn`, `.given_back`: `{reference, reasonCode?,
 *    amountMinor?}`
 *
 * Pure.
 */
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import { asObject, commentIn, idIn, instantOf, objectOf, type JsonObject } from '../../lib/base/json.ts'
import type { DebitFacts } from '../../lib/incoming-debits/decide-debit.ts'
import { MANDATE_SCHEMES } from '../../lib/rails/debit-schemes.ts'
import {
  BANK_MESSAGE_TYPES,
  DEBIT_MESSAGE_TYPES,
  FX_MESSAGE_TYPES,
  type BankMessageType,
  type DebitMessageType,
  type FxMessageType,
} from '../../lib/providers/messages.ts'
import { RAILS, type Rail } from '../../lib/rails/rails.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { isStandardSigned } from '../../lib/security/standard-webhooks.ts'
import type { InboxMessage, RawProviderEvent, Verification } from '../providers/adapters/adapter.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'

/** The type of an event that cannot be read. */
const UNREADABLE = 'unreadable'

/** Judges the signature of a webhook, which is good for five minutes. */
export function verifySandboxWebhook(request: SignedBody, secret: string, now: number): Verification {
  if (!isStandardSigned(request, secret, now))
    return { valid: false, reason: 'The signature is missing, wrong or too old.' }
  const body = objectOf(request.bytes)
  // An event without an id is known by its bytes.
  return {
    valid: true,
    eventId: (body === null ? null : idIn(body, 'id')) ?? '',
    type: (body === null ? null : idIn(body, 'type')) ?? UNREADABLE,
  }
}

const none = (reason: string, isFault: boolean): readonly InboxMessage[] => [{ port: 'none', reason, isFault }]

const wordOf = <Word extends string>(words: readonly Word[], type: string, prefix: string): Word | null =>
  words.find((word) => type === `${prefix}.${word}`) ?? null

/** Translates an event of a connection. */
export function translateSandboxEvent(connectionId: string, event: RawProviderEvent): readonly InboxMessage[] {
  const body = objectOf(event.body)
  const type = body === null ? null : idIn(body, 'type')
  if (body === null || type === null) return none('The body is no JSON object with a type.', true)
  const data = asObject(body['data']) ?? {}
  const reference = idIn(data, 'reference')
  const id = derivedId(connectionId, event.eventId)
  const payment = wordOf(BANK_MESSAGE_TYPES, type, 'payment')
  const exchange = wordOf(FX_MESSAGE_TYPES, type, 'exchange')
  const isCredit = type === 'account.credited' || type === 'account.credit_returned'
  const debit = DEBIT_MESSAGE_TYPES.find((word) => word === type) ?? null
  if (payment === null && exchange === null && debit === null && !isCredit)
    return none(`Events of the type ${type} are not used.`, false)
  if (reference === null) return none('The event names no reference.', true)
  if (payment !== null) return [{ port: 'bank', message: bankMessage(data, { id, reference, type: payment }) }]
  if (exchange !== null) return [{ port: 'fx', message: fxMessage(data, { id, reference, type: exchange }) }]
  if (debit !== null) return debitMessages(connectionId, data, { id, reference, type: debit })
  if (type === 'account.credit_returned') return [{ port: 'credit', message: { id, type, reference } }]
  const credit = creditFacts(data, reference)
  if (credit === null) return none('The credit has no amount, currency or value date.', true)
  return [
    {
      port: 'credit',
      message: { id, type: 'account.credited', reference, connectionId, account: idIn(data, 'account'), credit },
    },
  ]
}

const bankMessage = (
  data: JsonObject,
  named: { readonly id: string; readonly reference: string; readonly type: BankMessageType },
) => ({ ...named, schemeCode: idIn(data, 'schemeCode'), amount: amountIn(data, 'amountMinor') })

const fxMessage = (
  data: JsonObject,
  named: { readonly id: string; readonly reference: string; readonly type: FxMessageType },
) => ({
  ...named,
  sold: amountIn(data, 'soldMinor'),
  bought: amountIn(data, 'boughtMinor'),
  reason: idIn(data, 'reason'),
})

function debitMessages(
  connectionId: string,
  data: JsonObject,
  { id, reference, type }: { readonly id: string; readonly reference: string; readonly type: DebitMessageType },
): readonly InboxMessage[] {
  if (type === 'debit.withdrawn' || type === 'debit.given_back') {
    const reasonCode = idIn(data, 'reasonCode')
    return [
      { port: 'incoming_debit', message: { id, type, reference, reasonCode, amount: amountIn(data, 'amountMinor') } },
    ]
  }
  const debit = debitFacts(data, reference)
  if (debit === null) return none('The debit has no scheme, amount, currency, creditor or due date.', true)
  const account = idIn(data, 'account')
  return [{ port: 'incoming_debit', message: { id, type, reference, connectionId, account, debit } }]
}

function debitFacts(data: JsonObject, reference: string): DebitFacts | null {
  const amount = amountIn(data, 'amountMinor')
  const currency = idIn(data, 'currency')
  const scheme = MANDATE_SCHEMES.find((word) => word === data['scheme'])
  const creditorName = commentIn(data, 'creditorName')
  const dueDate = idIn(data, 'dueDate')
  if (amount === null || amount === 0n || currency === null || !/^[A-Z]{3}$/.test(currency)) return null
  if (scheme === undefined || creditorName === null || dueDate === null || !isDay(dueDate)) return null
  return {
    reference,
    scheme,
    amount,
    currency,
    creditorName,
    creditorId: idIn(data, 'creditorId'),
    mandateReference: idIn(data, 'mandateReference'),
    remittance: commentIn(data, 'remittance'),
    endToEndId: idIn(data, 'endToEndId'),
    dueDate,
  }
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && instantOf(`${text}T00:00:00Z`) !== null

function creditFacts(data: JsonObject, reference: string): CreditFacts | null {
  const amount = amountIn(data, 'amountMinor')
  const currency = idIn(data, 'currency')
  const valueDate = idIn(data, 'valueDate')
  const rail = idIn(data, 'rail')
  const uetr = idIn(data, 'uetr')
  const country = idIn(data, 'payerCountry')
  if (amount === null || amount === 0n || currency === null || !/^[A-Z]{3}$/.test(currency)) return null
  if (valueDate === null || !isDay(valueDate)) return null
  return {
    reference,
    amount,
    currency,
    payerName: commentIn(data, 'payerName'),
    payerIdentifier: idIn(data, 'payerIdentifier'),
    payerBankName: commentIn(data, 'payerBankName'),
    payerCountry: country !== null && /^[A-Z]{2}$/.test(country) ? country : null,
    remittance: commentIn(data, 'remittance'),
    rail: rail !== null && RAILS.has(rail as Rail) ? (rail as Rail) : null,
    endToEndId: idIn(data, 'endToEndId'),
    uetr: uetr !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uetr) ? uetr : null,
    valueDate,
  }
}

/** An amount in minor units as text. */
function amountIn(data: JsonObject, member: string): bigint | null {
  const text = idIn(data, member)
  return text !== null && /^(0|[1-9][0-9]{0,17})$/.test(text) ? BigInt(text) : null
}

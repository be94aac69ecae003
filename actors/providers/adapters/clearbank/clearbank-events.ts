/**
 * Translates ClearBank's webhooks and the rows of its lists. A message has the same id by either way: payments are
 * named by our reference and the outcome, other money by the bank's id of the transaction.
 */
import { asObject, objectOf, type JsonObject } from '../../../../lib/base/json.ts'
import { maskAccountNumber, maskIban } from '../../../../lib/recipients/masking.ts'
import type { Rail } from '../../../../lib/rails/rails.ts'
import { isUuid } from '../../../../lib/base/ids.ts'
import { timestamp } from '../../../../lib/base/clock.ts'
import type { InboxMessage, RawProviderEvent } from '../adapter.ts'
import { derivedId } from '../derived-id.ts'
import { isDuplicate, reasonOf, sentenceReason, stateOf } from './clearbank-codes.ts'
import { objectsIn, penceIn, textIn, textsIn, timeIn } from './clearbank-json.ts'
import { referenceOf } from './clearbank-requests.ts'
import { LISTED } from './clearbank-transactions.ts'

const unused = (reason: string): readonly InboxMessage[] => [{ port: 'none', reason, isFault: false }]
const fault = (reason: string): readonly InboxMessage[] => [{ port: 'none', reason, isFault: true }]

type Translation = (connectionId: string, payload: JsonObject) => readonly InboxMessage[]

/** The bank spells the first of these so in its examples, and in full in its tables. */
const WEBHOOKS: Readonly<Record<string, Translation>> = {
  TransactionSettled: settled,
  TransactionRejected: rejected,
  PaymentMessageAssesmentFailed: (connectionId, payload) => failed(connectionId, payload, 'AssesmentFailure'),
  PaymentMessageAssessmentFailed: (connectionId, payload) => failed(connectionId, payload, 'AssessmentFailure'),
  PaymentMessageValidationFailed: (connectionId, payload) => failed(connectionId, payload, 'ValidationFailure'),
  OutboundHeldTransaction: held,
  InboundHeldTransaction: () => unused('The bank holds a credit for its own checks; it tells when it has decided.'),
  FITestEvent: () => unused('A test of the bank.'),
}

export function translateEvent(connectionId: string, { type, body }: RawProviderEvent): readonly InboxMessage[] {
  const content = objectOf(body)
  if (content === null) return fault('The body is no JSON object.')
  if (type === LISTED) return listed(connectionId, content)
  const word = textIn(content, 'Type') ?? ''
  const translation = Object.hasOwn(WEBHOOKS, word) ? WEBHOOKS[word] : undefined
  if (translation === undefined) return unused('The service uses no events of this type.')
  const payload = asObject(content['Payload'])
  // The bank's own test sends a text.
  return payload === null && word !== 'FITestEvent'
    ? fault('The event has no payload.')
    : translation(connectionId, payload ?? {})
}

const RAILS: Readonly<Record<string, Rail>> = { FasterPayments: 'faster_payments', Chaps: 'chaps', Bacs: 'bacs' }

/** Money has moved: a payment of ours is out, a payment came back, a credit came in, or a returned credit has left. */
function settled(connectionId: string, payload: JsonObject): readonly InboxMessage[] {
  const isCredit = payload['DebitCreditCode'] === 'Credit'
  const reference = referenceOf(textIn(payload, 'EndToEndTransactionId'))
  const returnedScheme = supplement(payload, 'ReturnedPaymentFpId')
  const isReturn = payload['IsReturn'] === true || payload['IsReturn'] === 'True' || returnedScheme !== null
  const transactionId = transactionIdIn(payload)
  if (transactionId === null) return fault('The transaction has no id.')
  if (isCredit && isReturn) return returned(connectionId, payload, transactionId, reference ?? returnedScheme)
  if (isCredit) return credited(connectionId, payload, transactionId)
  if (isReturn) return creditReturned(connectionId, returnedScheme)
  if (reference === null) return unused('Money that left the account, but not by a payment of this service.')
  const schemeId = textIn(payload, 'ActualEndToEndTransactionId')
  return [
    {
      port: 'bank',
      message: {
        id: derivedId(connectionId, reference, 'settled'),
        type: 'settled',
        reference,
        schemeCode: null,
        amount: null,
        // A payment that comes back may name only this one.
        ...(schemeId !== null && { providerRef: schemeId }),
      },
    },
  ]
}

/**
 * The id of the message about money that came in. A list shows a payment that came back as a credit like any other; by
 * its id the service knows that a webhook has told of the money before.
 */
const incomingId = (connectionId: string, transactionId: string): string =>
  derivedId(connectionId, transactionId, 'incoming')

function returned(
  connectionId: string,
  payload: JsonObject,
  transactionId: string,
  reference: string | null,
): readonly InboxMessage[] {
  const amount = penceIn(payload, 'Amount')
  if (reference === null) return fault('A payment came back, and the event does not tell which.')
  if (amount === null) return fault('A payment came back, and its amount cannot be read.')
  const code = supplement(payload, 'PaymentReturnCode')
  return [
    {
      port: 'bank',
      message: {
        id: incomingId(connectionId, transactionId),
        type: 'returned',
        reference,
        schemeCode: code === null ? null : reasonOf(code),
        amount,
      },
    },
  ]
}

function creditReturned(connectionId: string, schemeId: string | null): readonly InboxMessage[] {
  if (schemeId === null) return fault('A return has left, and the event does not tell of which credit.')
  const message = { id: derivedId(connectionId, schemeId, 'credit_returned'), reference: schemeId }
  return [{ port: 'credit', message: { ...message, type: 'account.credit_returned' } }]
}

function credited(connectionId: string, payload: JsonObject, transactionId: string): readonly InboxMessage[] {
  const payer = asObject(payload['CounterpartAccount'])
  const name = textIn(payer, 'TransactionOwnerName') ?? textIn(payer, 'OwnerName')
  return credit(connectionId, {
    transactionId,
    iban: textIn(asObject(payload['Account']), 'IBAN'),
    amount: penceIn(payload, 'Amount'),
    currency: textIn(payload, 'CurrencyCode') ?? 'GBP',
    payerName: name === 'Not Provided' ? null : name,
    payerIban: textIn(payer, 'IBAN'),
    payerNumber: textIn(payer, 'BBAN'),
    payerBankName: textIn(payer, 'InstitutionName'),
    remittance: textIn(payload, 'Reference'),
    rail: RAILS[textIn(payload, 'Scheme') ?? ''] ?? null,
    endToEndId: textIn(payload, 'ActualEndToEndTransactionId') ?? textIn(payload, 'EndToEndTransactionId'),
    at: timeIn(payload, 'TimestampSettled'),
  })
}

interface Credit {
  readonly transactionId: string
  readonly iban: string | null
  readonly amount: bigint | null
  readonly currency: string
  readonly payerName: string | null
  readonly payerIban: string | null
  readonly payerNumber: string | null
  readonly payerBankName: string | null
  readonly remittance: string | null
  readonly rail: Rail | null
  readonly endToEndId: string | null
  readonly at: number | null
}

function credit(connectionId: string, told: Credit): readonly InboxMessage[] {
  const { transactionId, iban, amount, payerIban, payerNumber, at } = told
  if (amount === null || at === null) return fault('A credit without an amount or a time that can be read.')
  if (told.currency !== 'GBP') return fault('A credit in another currency than pounds.')
  return [
    {
      port: 'credit',
      message: {
        id: incomingId(connectionId, transactionId),
        type: 'account.credited',
        // By this id the bank is asked to return the credit.
        reference: transactionId,
        connectionId,
        account: iban,
        credit: {
          reference: transactionId,
          amount,
          currency: told.currency,
          payerName: told.payerName,
          payerIdentifier:
            payerIban !== null ? maskIban(payerIban) : payerNumber === null ? null : maskAccountNumber(payerNumber),
          payerBankName: told.payerBankName,
          payerCountry: countryOf(payerIban),
          remittance: told.remittance,
          rail: told.rail,
          endToEndId: told.endToEndId,
          uetr: null,
          valueDate: timestamp(at).slice(0, 10),
        },
      },
    },
  ]
}

const countryOf = (iban: string | null): string | null => /^([A-Z]{2})\d{2}/.exec(iban ?? '')?.[1] ?? null

function rejected(connectionId: string, payload: JsonObject): readonly InboxMessage[] {
  if (payload['DebitCreditCode'] !== 'Debit') return unused('The bank turned a credit away.')
  if (payload['IsReturn'] === true || payload['IsReturn'] === 'True')
    return fault('The bank could not return a credit; the money is still on the account.')
  const reference = referenceOf(textIn(payload, 'EndToEndTransactionId'))
  if (reference === null) return unused('A payment that is none of this service.')
  const code = textIn(payload, 'CancellationCode')
  return [rejection(connectionId, reference, code === null ? null : reasonOf(code))]
}

const rejection = (connectionId: string, reference: string, schemeCode: string | null): InboxMessage => ({
  port: 'bank',
  message: {
    id: derivedId(connectionId, reference, 'rejected'),
    type: 'rejected',
    reference,
    schemeCode,
    amount: null,
  },
})

/** A payment failed the bank's assessment or validation after it was accepted. */
function failed(connectionId: string, payload: JsonObject, member: string): readonly InboxMessage[] {
  const messages = objectsIn(payload[member]).flatMap((failure): readonly InboxMessage[] => {
    const reference = referenceOf(textIn(failure, 'EndToEndId'))
    const reasons = textsIn(failure, 'Reasons')
    if (reference === null) return unused('A payment that is none of this service.')
    // The bank has the payment from before, and what becomes of that one is told by itself.
    if (isDuplicate(reasons)) return unused('The bank ignored a payment that it has already.')
    return [rejection(connectionId, reference, sentenceReason(reasons))]
  })
  return messages.length === 0 ? fault('The event names no payment.') : messages
}

function held(connectionId: string, payload: JsonObject): readonly InboxMessage[] {
  const reference = referenceOf(textIn(payload, 'EndToEndTransactionId'))
  if (reference === null) return unused('A payment that is none of this service.')
  const id = derivedId(connectionId, reference, 'held')
  return [{ port: 'bank', message: { id, type: 'pending', reference, schemeCode: null, amount: null } }]
}

/** A row of a list, as `listTransactions` keeps it. */
function listed(connectionId: string, content: JsonObject): readonly InboxMessage[] {
  const transaction = asObject(content['transaction'])
  const transactionId = transactionIdIn(transaction, 'transactionId')
  if (transaction === null || transactionId === null) return fault('The transaction has no id.')
  const state = stateOf(textIn(transaction, 'status') ?? '')
  const endToEndId = textIn(transaction, 'endToEndIdentifier')
  const reference = referenceOf(endToEndId)
  if (textIn(transaction, 'debitCreditCode') === 'DBIT') {
    if (reference === null) return unused('Money that left the account, but not by a payment of this service.')
    if (state === 'pending') return unused('A payment that is still on its way.')
    // The list has no reason; when the webhook never comes, the question about the payment tells that it failed.
    if (state === 'rejected') return unused('A payment that was rejected: a webhook tells why.')
    const id = derivedId(connectionId, reference, 'settled')
    return [{ port: 'bank', message: { id, type: 'settled', reference, schemeCode: null, amount: null } }]
  }
  if (state !== 'settled') return unused('A credit that has not arrived.')
  if (reference !== null) return fault('A credit with the id of a payment of ours: staff decide whether it came back.')
  const amount = asObject(transaction['amount'])
  const payer = asObject(asObject(transaction['counterpartAccount'])?.['identification'])
  return credit(connectionId, {
    transactionId,
    iban:
      textIn(asObject(transaction['ultimateBeneficiaryAccount']), 'iban') ??
      textIn(asObject(content['account']), 'iban'),
    amount: penceIn(amount, 'instructedAmount'),
    currency: textIn(amount, 'currency') ?? '',
    payerName: textIn(payer, 'accountHolderName') ?? textIn(payer, 'accountName'),
    payerIban: textIn(payer, 'iban'),
    payerNumber: textIn(payer, 'accountNumber'),
    payerBankName: null,
    remittance: textIn(transaction, 'transactionReference'),
    rail: null,
    endToEndId,
    at: timeIn(transaction, 'transactionTime'),
  })
}

/** The bank's id of a transaction, in the form in which ids are stored; null when it is none. */
function transactionIdIn(object: JsonObject | null, member = 'TransactionId'): string | null {
  const id = textIn(object, member)
  return id !== null && isUuid(id) ? id.toLowerCase() : null
}

/** A value of the supplementary data of a transaction. */
function supplement(payload: JsonObject, name: string): string | null {
  const found = objectsIn(payload['SupplementaryData']).find((each) => textIn(each, 'Name') === name)
  return textIn(found ?? null, 'Value')
}

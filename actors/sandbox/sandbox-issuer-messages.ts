/**
 * The messages of the sandbox's issuer, signed by Standard Webhooks: `{id, type, occurredAt, data}`, whose type is
 * `card.` and the phase, or `card.stand_in`. `data`: `{cardId, ref, amountMinor, currency, merchantName?, mcc?,
 * merchantCountry?, relatedRef?, channel?, network?, merchantAmountMinor?, merchantCurrency?, rate?, final?, declineReason?}`. The
 * answer is `{approved, declineReason, cardTransactionId, misfit}`.
 *
 * Pure.
 */
import { asObject, commentIn, idIn, objectOf, type JsonObject } from '../../lib/base/json.ts'
import { CARD_NETWORKS } from '../../lib/cards/authorisation-expiry.ts'
import { CARD_CHANNELS } from '../../lib/cards/card-limits.ts'
import type { CardMessage } from '../../lib/cards/card-message.ts'
import { CARD_DECLINE_REASONS, CARD_PHASES, type CardPhase } from '../../lib/cards/card-transaction.ts'
import { isCurrencyCode } from '../../lib/base/currency.ts'
import { isUuid } from '../../lib/base/ids.ts'
import { parseRate } from '../../lib/exchange/rate.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import type { CardInstruction, IssuerMessages, RawCardMessage } from '../providers/issuer-messages.ts'

/** Networks wait some two seconds. */
const DECISION_MS = 1_500
const PREFIX = 'card.'
const STAND_IN = 'stand_in'
const CASH_MCC = '6011'
const OTHER_MCC = '5999'
/** The phases that the network asks about; it tells of the others. */
const ASKED: ReadonlySet<CardPhase> = new Set<CardPhase>(['authorisation', 'increment', 'atm'])

/** Creates the network of a connection. */
export const sandboxIssuerMessages = (connectionId: string): IssuerMessages => ({
  decisionMs: DECISION_MS,
  translate: (event) => translateCardEvent(connectionId, event),
  answer: (decision) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(decision),
  }),
})

const wordIn = <Word extends string>(words: readonly Word[], data: JsonObject, member: string): Word | null =>
  words.find((word) => word === data[member]) ?? null

function translateCardEvent(connectionId: string, event: RawCardMessage): CardInstruction | null {
  const body = objectOf(event.body)
  const type = body === null ? null : idIn(body, 'type')
  if (body === null || type === null || !type.startsWith(PREFIX)) return null
  const word = type.slice(PREFIX.length)
  const phase = word === STAND_IN ? 'decline' : CARD_PHASES.find((each) => each === word)
  const data = asObject(body['data']) ?? {}
  const [cardId, ref, currency] = [idIn(data, 'cardId'), idIn(data, 'ref'), idIn(data, 'currency')]
  if (phase === undefined || cardId === null || !isUuid(cardId) || ref === null || currency === null) return null
  const message = messageOf(data, { id: derivedId(connectionId, event.eventId), phase, ref, currency })
  if (message === null) return null
  const kind = word === STAND_IN ? 'stand_in' : ASKED.has(phase) ? 'question' : 'fact'
  return { kind, cardId, message, currency }
}

function messageOf(
  data: JsonObject,
  { currency, ...named }: Pick<CardMessage, 'id' | 'phase' | 'ref'> & { readonly currency: string },
): CardMessage | null {
  const isCash = named.phase === 'atm'
  const amount = amountIn(data, 'amountMinor')
  const merchantCurrency = idIn(data, 'merchantCurrency') ?? currency
  const merchantAmount = data['merchantAmountMinor'] === undefined ? amount : amountIn(data, 'merchantAmountMinor')
  const rate = idIn(data, 'rate')
  const [mcc, country] = [idIn(data, 'mcc') ?? (isCash ? CASH_MCC : OTHER_MCC), idIn(data, 'merchantCountry')]
  if (amount === null || merchantAmount === null || !isCurrencyCode(merchantCurrency) || !/^\d{4}$/.test(mcc))
    return null
  if ((rate === null) !== (merchantCurrency === currency) || (rate !== null && parseRate(rate) === null)) return null
  return {
    ...named,
    relatedRef: idIn(data, 'relatedRef'),
    amount,
    isFinal: data['final'] !== false,
    network: wordIn(CARD_NETWORKS, data, 'network') ?? 'visa',
    channel: isCash ? 'atm' : (wordIn(CARD_CHANNELS, data, 'channel') ?? 'ecommerce'),
    mcc,
    merchantName: commentIn(data, 'merchantName') ?? 'Merchant',
    merchantCountry: country !== null && /^[A-Z]{2}$/.test(country) ? country : null,
    merchantAmount,
    merchantCurrency,
    rate,
    declined: wordIn(CARD_DECLINE_REASONS, data, 'declineReason'),
  }
}

/** An amount above zero in minor units as text. */
function amountIn(data: JsonObject, member: string): bigint | null {
  const text = idIn(data, member)
  return text !== null && /^[1-9][0-9]{0,17}$/.test(text) ? BigInt(text) : null
}

/**
 * Simulated messages of the card network. The sandbox's network tells a message at once, and the answer of the
 * simulation says what the card has decided.
 */
import { createHash } from 'node:crypto'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import type { CardMessage } from '../../lib/cards/card-message.ts'
import type { SimCard } from '../../lib/cards/card-schema.ts'
import type { CardMisfit, CardPhase } from '../../lib/cards/card-transaction.ts'
import type { CardRecord } from '../../lib/cards/card.ts'
import { showing } from '../../lib/commands/answer.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { baseRate } from '../../lib/exchange/market.ts'
import { boughtFor, formatRate, rateOf } from '../../lib/exchange/rate.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { sandboxDecline } from '../../lib/sandbox/cards.ts'
import { runOnce } from '../commands/run-once.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import type { CardDeps } from './card-operations.ts'
import type { CardMessages } from './card-messages.ts'

const REF_LENGTH = 12
/** Digits and capital letters, of which a drawn reference is made. */
const REF_BASE = 36
const MERCHANT = { name: 'Sandbox Merchant', mcc: '5411', channel: 'pos_chip' } as const
/** The channel of a withdrawal that names none. */
const CASH = { mcc: '6011', channel: 'atm' } as const

/** The phases that begin a transaction. */
const OPENING: ReadonlySet<CardPhase> = new Set<CardPhase>(['authorisation', 'force_post', 'atm', 'decline'])

/**
 * Lets a card be used.
 *
 * @throws ProblemError `not-found`, `validation-error`, `simulation-not-possible`, and what `runOnce` throws
 */
export async function simulateCard(
  deps: CardDeps,
  messages: CardMessages,
  by: Caller,
  cardId: string,
  { body, idempotency, deadline }: Command<SimCard>,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { ids } = deps
  // The message has the id of its request, so a request that is sent again tells the network's message again.
  const id = idempotency === null ? ids.next() : derivedId(cardId.toLowerCase(), idempotency.id)
  const named = refsOf(body, id)
  const found = await messages.reading.read({ cardId, ...named })
  if (found === null || found.card.customerId !== by.tenant.id) refuseNotFound()
  const { card, provider } = found
  const message = messageOf(card, { id, ...named }, body)
  const taken =
    provider === 'sandbox'
      ? await messages.take(card.id, message, deadline, { fingerprint: idempotency?.fingerprint, known: found })
      : null
  const result = (): SimulationResult => {
    const extra = (currentStatus: string | null) => ({ extra: { currentStatus, connectionProvider: provider } })
    if (provider !== 'sandbox')
      refuse('simulation-not-possible', 'Only cards of the sandbox bank can be simulated.', extra(card.status))
    if (taken?.kind === 'other_content')
      refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', {
        extra: { firstUsedAt: taken.decidedAt },
      })
    if (taken === null || taken.kind === 'card_misfit')
      refuse(
        'simulation-not-possible',
        `A ${body.phase} does not fit the transaction: ${MISFITS[taken?.misfit ?? 'needs_transaction']}`,
        extra(taken?.misfit ?? null),
      )
    const { transactionId, approved, declineReason } = taken.answer
    return {
      simulationId: ids.next(),
      kind: 'card_transaction' as const,
      status: 'applied' as const,
      provider: 'sandbox' as const,
      providerEventIds: [id],
      providerReference: message.ref,
      details: {
        ref: message.ref,
        cardTransactionId: transactionId,
        approved,
        declineReason,
        amount: moneyJson({ amountMinor: message.amount, currency: card.currency }),
      },
    }
  }
  // Without a key there is nothing to keep beside the decision.
  if (idempotency === null)
    return showing({ status: 202, body: JSON.stringify(result()), contentType: 'application/json', replayed: false })
  return await runOnce(deps, idempotency, 202, async () => result())
}

const MISFITS: Readonly<Record<CardMisfit | 'balance_closed', string>> = {
  needs_transaction: 'relatedRef names no transaction of the card.',
  needs_no_transaction: 'the reference is of a transaction that has begun.',
  other_card: 'the reference is of a transaction of another card.',
  declined: 'the authorisation was declined.',
  nothing_held: 'nothing is reserved.',
  settled: 'everything was given back.',
  not_settled: 'nothing was cleared.',
  above_authorised: 'the amount is above what is left of the authorisation.',
  above_cleared: 'the amount is above what was cleared and not given back.',
  above_refunded: 'the amount is above what was refunded.',
  above_disputed: 'the amount is above what is disputed.',
  balance_closed: 'the balance is closed.',
}

/** The references of a simulated message: its transaction's, and that of another one which it belongs to. */
function refsOf({ phase, ref, relatedRef }: SimCard, id: string): Pick<CardMessage, 'ref' | 'relatedRef'> {
  const isApart =
    relatedRef != null && (phase === 'force_post' || (phase === 'refund' && (ref ?? relatedRef) !== relatedRef))
  return isApart
    ? { ref: ref ?? drawnRef(id), relatedRef }
    : { ref: relatedRef ?? ref ?? drawnRef(id), relatedRef: null }
}

/** Makes the network's message of a simulation. @throws ProblemError `validation-error` */
function messageOf(
  card: CardRecord,
  named: Pick<CardMessage, 'id' | 'ref' | 'relatedRef'>,
  body: SimCard,
): CardMessage {
  const { phase, final: isFinal = true } = body
  const begins = OPENING.has(phase) || (phase === 'refund' && named.ref !== body.relatedRef)
  if (!begins && body.relatedRef == null)
    refuseField('/relatedRef', 'required', `The phase ${phase} names the transaction that it is about.`)
  if (begins && body.relatedRef != null && named.relatedRef === null)
    refuseField('/relatedRef', 'not_applicable', `A ${phase} begins a transaction.`)
  if (!begins && body.ref != null && body.ref !== body.relatedRef)
    refuseField('/ref', 'not_applicable', 'The transaction is named by relatedRef.')
  if (body.declineReason != null && phase !== 'decline')
    refuseField('/declineReason', 'not_applicable', 'Only a decline has a reason.')
  if (phase === 'atm' && body.channel != null && body.channel !== CASH.channel)
    refuseField('/channel', 'not_applicable', 'A withdrawal comes by the channel atm.')
  const { amount, rate } = billed(card, body)
  const base = phase === 'atm' ? CASH : MERCHANT
  return {
    ...named,
    phase,
    amount,
    isFinal,
    network: 'visa',
    channel: body.channel ?? base.channel,
    mcc: body.mcc ?? base.mcc,
    merchantName: body.merchantName ?? MERCHANT.name,
    merchantCountry: body.merchantCountry ?? null,
    merchantAmount: BigInt(body.amount.amountMinor),
    merchantCurrency: body.amount.currency,
    rate,
    declined: body.declineReason ?? (phase === 'authorisation' ? sandboxDecline(amount) : null),
  }
}

/** Converts the amount to the card's currency at the sandbox's rate, as the scheme would. */
function billed(
  { currency }: CardRecord,
  { amount }: SimCard,
): { readonly amount: bigint; readonly rate: string | null } {
  const charged = BigInt(amount.amountMinor)
  if (amount.currency === currency) return { amount: charged, rate: null }
  const fraction = baseRate(amount.currency as CurrencyCode, currency)
  if (fraction === null) refuseField('/amount/currency', 'invalid_value', `${amount.currency} is not quoted.`)
  const rate = rateOf(fraction)
  const converted = boughtFor({ sellCurrency: amount.currency as CurrencyCode, buyCurrency: currency }, charged, rate)
  if (converted === 0n) refuseField('/amount', 'too_small', `The amount is below the smallest unit of ${currency}.`)
  return { amount: converted, rate: formatRate(rate) }
}

const drawnRef = (id: string): string =>
  `SBX${BigInt(`0x${createHash('sha256').update(id).digest('hex')}`)
    .toString(REF_BASE)
    .toUpperCase()
    .slice(0, REF_LENGTH)}`

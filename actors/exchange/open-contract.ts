/**
 * Brings contracts to the balances that decide on them: opening.
 *
 * The contract as it was read travels with the command, and its version is the fence. When another change came in
 * between, the commit reports it, and the flow reads and asks again.
 */
import type { MarketRates } from '../../lib/exchange/market.ts'
import { MINUTE_MS, dateIn } from '../../lib/base/clock.ts'
import { takenExternalId, usedQuote } from '../../lib/exchange/book-exchange.ts'
import type { Contract } from '../../lib/exchange/contract.ts'
import { NEW_EXCHANGE, type ForwardType } from '../../lib/exchange/exchange.ts'
import { drawdownFromRefusal, settlementDateRefusal } from '../../lib/exchange/forward-terms.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import { contractOf } from '../../lib/exchange/open-contract.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import type { Problem } from '../../lib/base/problems.ts'
import { partnerKeepsDeposits } from '../../storage/exchange/contracts.ts'
import type { ExchangeFacts } from '../../storage/exchange/exchange-facts.ts'
import { contractBalance, type ContractCommand } from '../balances/balance.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import {
  accountsOfContract,
  refuseError,
  type ContractAsker,
  type ContractDeps,
  type ContractOutcome,
} from './exchange-contracts.ts'

/** The terms of a forward that its quote does not contain. */
export interface ForwardTerms {
  readonly forwardType: ForwardType
  /** For open forwards only. */
  readonly drawdownFrom: string | null
  /** The balance that pays the deposit at once. */
  readonly depositBalanceId: string | null
}

export const PLAIN_TERMS: ForwardTerms = { forwardType: 'fixed', drawdownFrom: null, depositBalanceId: null }

/** A requested contract, with its quote and balances. */
export interface ContractInput {
  readonly quote: QuoteRecord
  readonly desk: ExchangeFacts
  readonly sellBalance: { readonly id: string; readonly name: string }
  readonly buyBalanceId: string
  readonly terms: ForwardTerms
  readonly reference: string | null
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly rates: MarketRates
}

/**
 * Opens a forward or a held rate.
 *
 * @throws ProblemError when the terms do not fit the quote; Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to
 *   repeat under the same key
 */
export async function openExchangeContract(
  deps: ContractDeps,
  caller: ContractAsker,
  input: ContractInput,
): Promise<ContractOutcome> {
  const { quote, desk, terms } = input
  checkTerms(deps, input)
  const number = orderNumber('EXC', await deps.orderNumbers.take())
  const pays =
    quote.kind === 'forward' && terms.depositBalanceId !== null && (quote.depositRequired ?? 0n) > 0n
      ? { places: await partnerKeepsDeposits(deps.database, desk.connectionId) }
      : null
  let refusal: Problem | null = null
  const makeCommand = async (): Promise<ContractCommand> => {
    const now = deps.clock.now()
    const { ids, sandbox } = deps
    const contract = newContract(deps, caller, input, number, now)
    return {
      kind: 'open_contract',
      customerId: caller.customerId,
      key: caller.key,
      problemRequest: caller.problemRequest,
      contract,
      quote,
      pays,
      sellBalance: input.sellBalance,
      refusal,
      seed: ids.next(),
      approving: {
        requestedByName: caller.createdByName,
        sandboxDecision: sandbox ? sandboxDecisionIn([input.reference ?? '']) : null,
        rates: input.rates,
      },
      context: { accounts: await accountsOfContract(deps, contract), valueDate: dateIn(now, 'UTC'), sandbox },
    }
  }
  const id = pays === null ? input.sellBalance.id : (terms.depositBalanceId as string)
  return await askUntilDecided(
    { ...caller, system: deps.system, actor: contractBalance, id },
    makeCommand,
    (conflict) => {
      switch (conflict.kind) {
        case 'quote_used':
          refusal = usedQuote(quote.id, conflict.existingId)
          return 'again'
        case 'external_id_used':
          refusal = takenExternalId(input.externalId, conflict.existingId)
          return 'again'
        default:
          throw new Error(`Opening a contract met ${conflict.kind}.`)
      }
    },
    'balance',
  )
}

/** Builds the contract that is to be opened. */
function newContract(
  { ids, sandbox }: ContractDeps,
  caller: ContractAsker,
  input: ContractInput,
  number: string,
  now: number,
): Contract {
  const { quote, desk, terms } = input
  const base = {
    ...NEW_EXCHANGE,
    id: ids.next(),
    customerId: caller.customerId,
    operatorId: desk.operatorId,
    connectionId: desk.connectionId,
    shard: desk.shard,
    number,
    externalId: input.externalId,
    quoteId: quote.id,
    sellBalanceId: input.sellBalance.id,
    buyBalanceId: input.buyBalanceId,
    sellCurrency: quote.sellCurrency,
    buyCurrency: quote.buyCurrency,
    sellAmount: quote.sellAmount,
    buyAmount: quote.buyAmount,
    rate: quote.rate,
    partnerRate: quote.partnerRate,
    fixedSide: quote.fixedSide,
    fee: 0n,
    tradeDate: dateIn(now, 'UTC'),
    settlementDate: settlementDateOf(quote, now),
    reference: input.reference,
    forwardType: quote.kind === 'forward' ? terms.forwardType : null,
    drawdownFrom: terms.drawdownFrom,
    createdBy: caller.createdBy,
    createdVia: caller.createdVia,
    metadata: inStoredOrder(input.metadata),
    createdAt: now,
    updatedAt: now,
    kind: quote.kind as Contract['kind'],
  } as const
  return contractOf(base, quote, now, sandbox)
}

/**
 * The settlement date of a contract. A held rate settles through its drawdowns; its date is the day on which the hold
 * ends.
 */
function settlementDateOf({ settlementDate, holdMinutes }: QuoteRecord, now: number): string {
  return settlementDate ?? dateIn(now + (holdMinutes ?? 0) * MINUTE_MS, 'UTC')
}

function checkTerms(
  { clock }: ContractDeps,
  { quote, desk, terms: { forwardType, drawdownFrom, depositBalanceId } }: ContractInput,
): void {
  if (quote.kind !== 'forward') {
    if (drawdownFrom !== null)
      refuseError({ field: '/drawdownFrom', code: 'not_applicable', message: 'A held rate has no window.' })
    if (depositBalanceId !== null)
      refuseError({ field: '/depositBalanceId', code: 'not_applicable', message: 'A held rate has no deposit.' })
    return
  }
  const now = clock.now()
  const settlementDate = quote.settlementDate as string
  const late = settlementDateRefusal(settlementDate, {
    now,
    calendar: desk.calendar,
    maxTenorMonths: desk.terms.maxTenorMonths,
  })
  if (late !== null) refuseError({ field: '/quoteId', ...late })
  if (forwardType === 'fixed' && drawdownFrom !== null)
    refuseError({
      field: '/drawdownFrom',
      code: 'not_applicable',
      message: 'A fixed forward is drawn on its settlement date.',
    })
  if (forwardType === 'open' && drawdownFrom === null)
    refuseError({ field: '/drawdownFrom', code: 'required', message: 'An open forward is drawn from some day on.' })
  const early = drawdownFrom === null ? null : drawdownFromRefusal(drawdownFrom, { now, settlementDate })
  if (early !== null) refuseError({ field: '/drawdownFrom', ...early })
}

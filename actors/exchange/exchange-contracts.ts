/**
 * Brings contracts to the balances that decide on them: opening, deposits, drawdowns, unwinding.
 *
 * The contract as it was read travels with the command, and its version is the fence. When another change came in
 * between, the commit reports it, and the flow reads and asks again.
 */
import { MINUTE_MS, dateIn, timestamp, type Clock } from '../../lib/base/clock.ts'
import type { Convert } from '../../lib/approvals/policy.ts'
import { takenExternalId, usedQuote } from '../../lib/exchange/book-exchange.ts'
import { asContract, isContract, notNow, type Contract, type ContractMove } from '../../lib/exchange/contract.ts'
import type { DrawdownOrder } from '../../lib/exchange/draw-contract.ts'
import { exchangeJson, type ExchangeRecord, type ForwardType } from '../../lib/exchange/exchange.ts'
import {
  drawdownFromRefusal,
  isPartnerDay,
  partnerDate,
  settlementDateRefusal,
} from '../../lib/exchange/forward-terms.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import { contractOf } from '../../lib/exchange/open-contract.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import type { InternalAccounts } from '../../lib/ledger/entry.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { refuse, type FieldError, type Problem } from '../../lib/base/problems.ts'
import type { StoredOutcome } from '../../storage/commit/commit.ts'
import { partnerKeepsDeposits } from '../../storage/exchange/contracts.ts'
import type { Database } from '../../storage/db/database.ts'
import type { ExchangeDesk, ExchangeDesks } from '../../storage/exchange/exchange-desks.ts'
import { findExchange } from '../../storage/exchange/exchanges.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { contractBalance, type ContractCommand, type ContractReply } from '../balances/balance.ts'
import { Overloaded } from '../runtime/lane.ts'
import type { ActorSystem } from '../runtime/system.ts'
import type { Caller } from '../commands/caller.ts'

export interface ContractDeps {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly desks: Pick<ExchangeDesks, 'of'>
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly ids: IdSource
  readonly clock: Clock
  readonly sandbox: boolean
}

/** The caller: a person, a key, or the service itself for a contract that is due. */
export type ContractAsker = Pick<
  Caller,
  'customerId' | 'shard' | 'createdBy' | 'createdByName' | 'key' | 'deadline' | 'problemText' | 'problemStatus'
> & { readonly createdVia: ExchangeRecord['createdVia'] }

export type ContractOutcome =
  | ContractReply
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

function invalid(error: FieldError): never {
  refuse('validation-error', error.message, { errors: [error] })
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')

/** Reads a contract of a customer. @throws ProblemError `not-found` */
export async function contractOfCustomer(
  database: Database,
  customerId: string,
  id: string,
  kind: Contract['kind'],
): Promise<Contract> {
  const found = await findExchange(database, id)
  if (found === null || found.customerId !== customerId || found.kind !== kind || !isContract(found)) return gone()
  return found
}

/** Reads the internal accounts of the sold currency, for a forward including the customer's deposits. */
export async function accountsOfContract(
  { accounts }: Pick<ContractDeps, 'accounts'>,
  {
    operatorId,
    connectionId,
    sellCurrency,
    customerId,
    kind,
  }: Pick<Contract, 'operatorId' | 'connectionId' | 'sellCurrency' | 'customerId' | 'kind'>,
): Promise<InternalAccounts> {
  const scope = { operatorId, connectionId, currency: sellCurrency }
  return kind === 'forward'
    ? await accounts.accountsWith(scope, 'fx_deposit', customerId)
    : await accounts.accounts(scope)
}

const answerOf = (exchange: ExchangeRecord): string => JSON.stringify(exchangeJson(exchange))

// ── Opening ───────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  readonly desk: ExchangeDesk
  readonly sellBalance: { readonly id: string; readonly name: string }
  readonly buyBalanceId: string
  readonly terms: ForwardTerms
  readonly reference: string | null
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly convert: Convert
}

/**
 * Opens a forward or a held rate (rules F1, F2, H1, X1).
 *
 * @throws ProblemError when the terms do not fit the quote; Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to
 *   repeat under the same key
 */
export async function openExchangeContract(
  world: ContractDeps,
  caller: ContractAsker,
  input: ContractInput,
): Promise<ContractOutcome> {
  const { quote, desk, terms } = input
  checkTerms(world, input)
  const number = orderNumber('EXC', await world.orderNumbers.take())
  const pays =
    quote.kind === 'forward' && terms.depositBalanceId !== null && (quote.depositRequired ?? 0n) > 0n
      ? { places: await partnerKeepsDeposits(world.database, desk.connectionId) }
      : null
  let refusal: Problem | null = null
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const now = world.clock.now()
    const { ids, sandbox } = world
    const base = {
      id: ids.next(),
      customerId: caller.customerId,
      operatorId: desk.operatorId,
      connectionId: desk.connectionId,
      shard: desk.shard,
      number,
      externalId: input.externalId,
      version: 1,
      quoteId: quote.id,
      parentExchangeId: null,
      paymentId: null,
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
      holdId: null,
      approvalId: null,
      tradeDate: dateIn(now, 'UTC'),
      settlementDate: settlementDateOf(quote, now),
      settledAt: null,
      reference: input.reference,
      drawdownCount: 0,
      forwardType: quote.kind === 'forward' ? terms.forwardType : null,
      drawdownFrom: terms.drawdownFrom,
      depositUsed: 0n,
      depositPlacedUsed: 0n,
      failure: null,
      exception: null,
      providerRef: null,
      partnerSold: null,
      partnerBought: null,
      createdBy: caller.createdBy,
      createdVia: caller.createdVia,
      metadata: inStoredOrder(input.metadata),
      createdAt: now,
      updatedAt: now,
      kind: quote.kind as Contract['kind'],
    } as const
    const contract = contractOf(base, quote, now, sandbox)
    const command: ContractCommand = {
      kind: 'open_contract',
      customerId: caller.customerId,
      key: caller.key,
      problemText: caller.problemText,
      problemStatus: caller.problemStatus,
      contract,
      quote,
      pays,
      sellBalance: input.sellBalance,
      refusal,
      answer: answerOf,
      approving: {
        ids,
        requestedByName: caller.createdByName,
        sandboxDecision: sandbox ? sandboxDecisionIn([input.reference ?? '']) : null,
        convert: input.convert,
      },
      context: { ids, accounts: await accountsOfContract(world, contract), valueDate: dateIn(now, 'UTC'), sandbox },
    }
    const outcome = await world.system.ask(
      contractBalance,
      pays === null ? input.sellBalance.id : (terms.depositBalanceId as string),
      caller.shard,
      command,
      caller.deadline,
    )
    switch (outcome.kind) {
      case 'decided':
        return outcome.reply
      case 'recorded':
        return outcome
      case 'quote_used':
        refusal = usedQuote(quote.id, outcome.existingId)
        break
      case 'external_id_used':
        refusal = takenExternalId(input.externalId, outcome.existingId)
        break
      default:
        throw new Error(`Opening a contract met ${outcome.kind}.`)
    }
  }
  throw new Overloaded('The balance keeps changing; try again.')
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
      invalid({ field: '/drawdownFrom', code: 'not_applicable', message: 'A held rate has no window.' })
    if (depositBalanceId !== null)
      invalid({ field: '/depositBalanceId', code: 'not_applicable', message: 'A held rate has no deposit.' })
    return
  }
  const now = clock.now()
  const settlementDate = quote.settlementDate as string
  const late = settlementDateRefusal(settlementDate, {
    now,
    calendar: desk.calendar,
    maxTenorMonths: desk.terms.maxTenorMonths,
  })
  if (late !== null) invalid({ field: '/quoteId', ...late })
  if (forwardType === 'fixed' && drawdownFrom !== null)
    invalid({
      field: '/drawdownFrom',
      code: 'not_applicable',
      message: 'A fixed forward is drawn on its settlement date.',
    })
  if (forwardType === 'open' && drawdownFrom === null)
    invalid({ field: '/drawdownFrom', code: 'required', message: 'An open forward is drawn from some day on.' })
  const early = drawdownFrom === null ? null : drawdownFromRefusal(drawdownFrom, { now, settlementDate })
  if (early !== null) invalid({ field: '/drawdownFrom', ...early })
}

// ── Deposits ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Pays a deposit (F2).
 *
 * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same key
 */
export async function payDeposit(
  world: ContractDeps,
  caller: ContractAsker,
  contractId: string,
  {
    balanceId,
    amount,
  }: {
    readonly balanceId: string
    readonly amount: { readonly amountMinor: string; readonly currency: string } | null
  },
): Promise<ContractOutcome> {
  const known = await contractOfCustomer(world.database, caller.customerId, contractId, 'forward')
  if (amount !== null && amount.currency !== known.sellCurrency)
    invalid({
      field: '/amount/currency',
      code: 'currency_mismatch',
      message: `The deposit is in ${known.sellCurrency}.`,
    })
  const places = await partnerKeepsDeposits(world.database, known.connectionId)
  return await moveAtBalance(
    world,
    caller,
    known,
    balanceId,
    { kind: 'deposit', amount: amount === null ? null : BigInt(amount.amountMinor), places },
    { by: 'member', message: 'Deposit paid.' },
  )
}

/** Brings a move to a balance, and repeats it until it was decided on the current contract. */
export async function moveAtBalance(
  world: ContractDeps,
  caller: ContractAsker,
  known: Contract,
  balanceId: string,
  move: Extract<ContractMove, { kind: 'deposit' | 'close_out' }>,
  { by, message }: { readonly by: 'member' | 'system'; readonly message: string },
): Promise<ContractOutcome> {
  const accounts = await accountsOfContract(world, known)
  let contract = known
  let suspenseId: string | undefined
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const command: ContractCommand = {
      kind: 'move_contract',
      customerId: caller.customerId,
      key: caller.key,
      problemText: caller.problemText,
      problemStatus: caller.problemStatus,
      contract,
      move,
      answer: answerOf,
      context: {
        ids: world.ids,
        accounts,
        by,
        message,
        valueDate: dateIn(world.clock.now(), 'UTC'),
        sandbox: world.sandbox,
        suspenseId,
      },
    }
    const outcome = await world.system.ask(contractBalance, balanceId, caller.shard, command, caller.deadline)
    switch (outcome.kind) {
      case 'decided':
        return outcome.reply
      case 'recorded':
        return outcome
      case 'exchange_stale': {
        contract = asContract((await findExchange(world.database, known.id)) ?? gone())
        // A close-out was due on the contract as it was read; the changed contract is judged again.
        if (move.kind === 'close_out') return { kind: 'refused', problem: notNow(contract).refused, body: null }
        break
      }
      // The suspense id for the returned deposit, used when the contract's balance is closed.
      case 'credit_refused':
        suspenseId ??= world.ids.next()
        break
      default:
        throw new Error(`Moving a contract met ${outcome.kind}.`)
    }
  }
  throw new Overloaded('The contract keeps changing; try again.')
}

// ── Drawdowns ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A drawdown as the API takes it, checked for shape. */
export interface DrawdownInput {
  readonly amount: { readonly amountMinor: string; readonly currency: string }
  readonly sellBalanceId?: string | null
  readonly buyBalanceId?: string | null
  readonly reference?: string | null
  readonly externalId?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

export interface DrawdownDeps extends ContractDeps {
  readonly balances: { find(id: string): Promise<{ readonly customerId: string; readonly currency: string } | null> }
}

/**
 * Draws from a contract (F4, H2, D1).
 *
 * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same key
 */
export async function drawFromContract(
  world: DrawdownDeps,
  caller: ContractAsker,
  contractId: string,
  kind: Contract['kind'],
  input: DrawdownInput,
): Promise<ContractOutcome> {
  const contract = await contractOfCustomer(world.database, caller.customerId, contractId, kind)
  const { amount, buyBalanceId = null } = input
  if (amount.currency !== contract.sellCurrency && amount.currency !== contract.buyCurrency) {
    invalid({
      field: '/amount/currency',
      code: 'currency_mismatch',
      message: `The contract is of ${contract.sellCurrency} and ${contract.buyCurrency}.`,
    })
  }
  if (buyBalanceId !== null) {
    const found = await world.balances.find(buyBalanceId)
    if (found === null || found.customerId !== caller.customerId)
      invalid({ field: '/buyBalanceId', code: 'not_found', message: 'No such balance.' })
    if (found.currency !== contract.buyCurrency)
      invalid({
        field: '/buyBalanceId',
        code: 'currency_mismatch',
        message: `The contract buys ${contract.buyCurrency}.`,
      })
  }
  const move = {
    kind: 'draw',
    side: amount.currency === contract.sellCurrency ? ('sell' as const) : ('buy' as const),
    amount: BigInt(amount.amountMinor),
  } as const
  return await draw(world, caller, contract, move, {
    sellBalanceId: input.sellBalanceId ?? contract.sellBalanceId,
    buyBalanceId: buyBalanceId ?? contract.buyBalanceId,
    reference: input.reference ?? null,
    externalId: input.externalId ?? null,
    metadata: inStoredOrder(input.metadata ?? {}),
  })
}

/** Draws the remaining amount automatically (F6, F8). */
export async function drawRest(
  world: ContractDeps,
  caller: ContractAsker,
  contract: Contract,
): Promise<ContractOutcome> {
  return await draw(
    world,
    caller,
    contract,
    { kind: 'draw', side: 'sell', amount: contract.remainingSell, automatic: true },
    {
      sellBalanceId: contract.sellBalanceId,
      buyBalanceId: contract.buyBalanceId,
      reference: contract.reference,
      externalId: null,
      metadata: {},
    },
  )
}

async function draw(
  world: ContractDeps,
  caller: ContractAsker,
  known: Contract,
  move: Extract<ContractMove, { kind: 'draw' }>,
  order: Pick<DrawdownOrder, 'sellBalanceId' | 'buyBalanceId' | 'reference' | 'externalId' | 'metadata'>,
): Promise<ContractOutcome> {
  const { operatorId, connectionId, buyCurrency } = known
  const accounts = await accountsOfContract(world, known)
  const exchangeAccounts = {
    sell: accounts,
    buy: await world.accounts.accounts({ operatorId, connectionId, currency: buyCurrency }),
  }
  const number = orderNumber('DRW', await world.orderNumbers.take())
  const calendar = (await world.desks.of(known.customerId))?.calendar ?? null
  let contract = known
  let refusal: Problem | null = null
  let creditRefused = false
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const now = world.clock.now()
    const command: ContractCommand = {
      kind: 'draw_contract',
      customerId: caller.customerId,
      key: caller.key,
      problemText: caller.problemText,
      problemStatus: caller.problemStatus,
      contract,
      move,
      order: { ...order, id: world.ids.next(), number, createdBy: caller.createdBy, createdVia: caller.createdVia },
      context: {
        ids: world.ids,
        accounts,
        exchangeAccounts,
        by: move.automatic === true ? 'system' : 'member',
        valueDate: dateIn(now, 'UTC'),
        sandbox: world.sandbox,
      },
      refusal: refusal ?? (move.automatic === true ? null : windowRefusal(contract, now, calendar)),
      creditRefused,
      answer: answerOf,
    }
    const outcome = await world.system.ask(contractBalance, order.sellBalanceId, caller.shard, command, caller.deadline)
    switch (outcome.kind) {
      case 'decided':
        return outcome.reply
      case 'recorded':
        return outcome
      case 'exchange_stale': {
        contract = asContract((await findExchange(world.database, known.id)) ?? gone())
        if (move.automatic === true) return { kind: 'refused', problem: notNow(contract).refused, body: null }
        break
      }
      case 'external_id_used':
        refusal = takenExternalId(order.externalId, outcome.existingId)
        break
      case 'credit_refused':
        creditRefused = true
        break
      default:
        throw new Error(`Drawing from a contract met ${outcome.kind}.`)
    }
  }
  throw new Overloaded('The contract keeps changing; try again.')
}

/** Returns the reason why a contract cannot be drawn from today or any more; null when it can. */
function windowRefusal(contract: Contract, now: number, calendar: ExchangeDesk['calendar']): Problem | null {
  const no = (detail: string) => notNow(contract, detail).refused
  if (contract.kind === 'held_rate')
    return contract.heldUntil !== null && contract.heldUntil <= now
      ? no(`The rate was held until ${timestamp(contract.heldUntil)}.`)
      : null
  const today = partnerDate(now)
  const from =
    contract.forwardType === 'open' && contract.drawdownFrom !== null ? contract.drawdownFrom : contract.settlementDate
  if (today < from) return no(`It can be drawn from ${from} on.`)
  if (today > contract.settlementDate) return no(`It could be drawn until ${contract.settlementDate}.`)
  return isPartnerDay(today, calendar) ? null : no('The bank does not work today.')
}

// ── By the service itself ─────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Makes the service the caller, for the contract's customer and under the name of its creator. It has no key to record
 * answers under; the contract's version prevents repeats.
 */
export function serviceFor({ customerId, shard, createdBy }: Contract, deadline: number): ContractAsker {
  return {
    customerId,
    shard,
    createdBy,
    createdByName: 'system',
    createdVia: 'system',
    key: null,
    deadline,
    problemText: () => '',
    problemStatus: () => 500,
  }
}

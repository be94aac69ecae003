/** The pure moves of exchanges and of the contracts that are drawn from, by the triggers of the contract. */
import { DEFAULT_TIER, type PolicyTerms } from '../../lib/approvals/policy.ts'
import { CHART } from '../../lib/ledger/chart.ts'
import { bookApproved, withdrawExchange } from '../../lib/exchange/approval.ts'
import { bookExchange } from '../../lib/exchange/book-exchange.ts'
import {
  asContract,
  begun,
  firstDeposit,
  moveContract,
  type Contract,
  type ContractMove,
} from '../../lib/exchange/contract.ts'
import { contractEffects } from '../../lib/exchange/contract-effects.ts'
import { NEW_EXCHANGE, type ExchangeRecord, type ExchangeStatus } from '../../lib/exchange/exchange.ts'
import { NO_MARKET } from '../../lib/exchange/market.ts'
import { moveExchange, type ExchangeCommand } from '../../lib/exchange/moves.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import { parseRate } from '../../lib/exchange/rate.ts'
import { balanceState, ids, MONDAY, newKey, problemRequest } from '../support/commands.ts'
import { EXCHANGE_MOVES, FORWARD_MOVES, HELD_RATE_MOVES } from './data/money-moves.ts'
import { moved, type Machine, type Outcome } from './walk.ts'

const accounts = Object.fromEntries(CHART.map(({ key }) => [key, key]))
const context = {
  ids,
  accounts: { sell: accounts, buy: accounts },
  valueDate: '2026-05-04',
  sandbox: false,
  queueDelayMs: 0,
}

const EXCHANGE: ExchangeRecord = {
  ...NEW_EXCHANGE,
  id: ids.next(),
  customerId: ids.next(),
  operatorId: ids.next(),
  connectionId: ids.next(),
  shard: 7,
  number: 'EXC0000000001',
  externalId: null,
  kind: 'spot',
  status: 'processing',
  quoteId: ids.next(),
  sellBalanceId: 'sold',
  buyBalanceId: 'bought',
  sellCurrency: 'EUR',
  buyCurrency: 'USD',
  sellAmount: 10_000n,
  buyAmount: 10_746n,
  rate: parseRate('1.0746')!,
  partnerRate: parseRate('1.08')!,
  fixedSide: 'sell',
  fee: 25n,
  tradeDate: '2026-05-04',
  settlementDate: '2026-05-04',
  reference: null,
  createdBy: ids.next(),
  createdVia: 'api_key',
  metadata: {},
  createdAt: MONDAY,
  updatedAt: MONDAY,
}

// ── Spot exchanges and drawdowns
// ─────────────────────────────────────────────────────────────────────────────────────

const byPartner =
  (command: ExchangeCommand) =>
  (state: string): Outcome | null => {
    if (state === 'none') return null
    const exchange = { ...EXCHANGE, status: state as ExchangeStatus }
    const { reply, effects } = moveExchange({ exchange, contract: null, payment: null }, command, MONDAY)
    return reply.kind === 'ignored' ? 'refused' : moved(reply.exchange.status, effects)
  }

const POLICY: PolicyTerms = {
  enabled: true,
  currency: 'EUR',
  tiers: [DEFAULT_TIER],
  appliesTo: null,
  exemptOwnAccounts: false,
  recipientMode: 'none',
}

const booked =
  (policy: PolicyTerms | null) =>
  (state: string): Outcome | null => {
    if (state !== 'none') return null
    const balance = balanceState({ available: 100_000n, exchangePolicy: policy })
    const exchange = { ...EXCHANGE, customerId: balance.customerId, sellBalanceId: balance.id }
    const quote = {
      id: ids.next(),
      sellCurrency: 'EUR',
      buyCurrency: 'USD',
      kind: 'spot',
      holdMinutes: null,
      expiresAt: MONDAY + 30_000,
    } as QuoteRecord
    const { reply, effects } = bookExchange(
      balance,
      {
        kind: 'book_exchange',
        customerId: balance.customerId,
        exchange,
        quote,
        holdId: ids.next(),
        accounts: context.accounts,
        valueDate: context.valueDate,
        approving: { requestedByName: 'Key', sandboxDecision: null, rates: NO_MARKET },
        seed: ids.next(),
        refusal: null,
        creditRefused: false,
        key: newKey(),
        problemRequest,
      },
      MONDAY,
    )
    return reply.kind === 'exchange_booked' ? moved(reply.exchange.status, effects) : 'refused'
  }

/** The end of a waiting exchange; the approval asks for it only while the exchange waits. */
const waiting = { ...EXCHANGE, status: 'pending_approval' as const, holdId: ids.next() }
const ended =
  (status: 'rejected' | 'cancelled') =>
  (state: string): Outcome | null => {
    if (state !== 'pending_approval') return null
    const effects = withdrawExchange(waiting, { status, message: '', failure: null, by: 'member' }, 'none', ids, MONDAY)
    return moved(effects.exchangeChanges![0]!.status, effects)
  }

const message = { id: ids.next(), type: 'settled' as const }
export const EXCHANGES: Machine = {
  name: 'exchange',
  moves: EXCHANGE_MOVES,
  states: ['none', 'pending_approval', 'processing', 'completed', 'failed', 'rejected', 'cancelled', 'exception'],
  decide: {
    'create, a policy applies': booked(POLICY),
    create: booked(null),
    approve: (state) => {
      if (state !== 'pending_approval') return null
      const effects = bookApproved(waiting, null, () => 'none', { ...context, now: MONDAY })
      return moved(effects.exchangeChanges![0]!.status, effects)
    },
    'partner settles': byPartner({ kind: 'settle', sold: 9_990n, bought: 10_800n, netted: false, message, context }),
    'partner refuses': byPartner({ kind: 'refuse', reason: 'FX01', message: { ...message, type: 'refused' }, context }),
    timeout: byPartner({ kind: 'doubt', why: 'timeout', message: null, context }),
    cancel: ended('cancelled'),
    reject: ended('rejected'),
  },
}

// ── Forwards and held rates
// ─────────────────────────────────────────────────────────────────────────────────────────

const DEPOSIT = {
  status: 'received',
  currency: 'EUR',
  required: 500n,
  received: 500n,
  placed: 0n,
  dueAt: null,
} as const
const CALLED = { ...DEPOSIT, status: 'margin_call', required: 800n, dueAt: MONDAY } as const
const FIRST = { ...DEPOSIT, status: 'awaiting', received: 0n, dueAt: MONDAY } as const

const contract = (change: Partial<Contract>): Contract =>
  asContract({
    ...EXCHANGE,
    kind: 'forward',
    status: 'active',
    remainingSell: EXCHANGE.sellAmount,
    remainingBuy: EXCHANGE.buyAmount,
    deposit: DEPOSIT,
    settlementDate: '2026-12-01',
    ...change,
  })
const DRAWN = { remainingSell: 4_000n, remainingBuy: 4_298n } as const

/** A forward in each of its states. */
export const FORWARDS_BY_STATE: Readonly<Record<string, Contract>> = {
  pending_approval: contract({ status: 'pending_approval', deposit: { ...FIRST, dueAt: null } }),
  awaiting_deposit: contract({ status: 'awaiting_deposit', deposit: FIRST }),
  called: contract({ status: 'awaiting_deposit', deposit: CALLED }),
  called_drawn: contract({ status: 'awaiting_deposit', deposit: CALLED, ...DRAWN }),
  active: contract({}),
  partially_drawn: contract({ status: 'partially_drawn', ...DRAWN }),
  overdue: contract({ status: 'overdue', ...DRAWN }),
  completed: contract({ status: 'completed', remainingSell: 0n, remainingBuy: 0n }),
  cancelled: contract({ status: 'cancelled', deposit: { ...DEPOSIT, status: 'released' } }),
  closed_out: contract({ status: 'closed_out', deposit: { ...DEPOSIT, status: 'forfeited' } }),
  rejected: contract({ status: 'rejected' }),
}
const HELD = { kind: 'held_rate', deposit: null, heldUntil: MONDAY + 1 } as const
/** A held rate in each of its states. */
export const HELD_RATES_BY_STATE: Readonly<Record<string, Contract>> = {
  pending_approval: contract({ ...HELD, status: 'pending_approval', heldUntil: null }),
  active: contract(HELD),
  partially_drawn: contract({ ...HELD, status: 'partially_drawn', ...DRAWN }),
  completed: contract({ ...HELD, status: 'completed', remainingSell: 0n, remainingBuy: 0n }),
  expired: contract({ ...HELD, status: 'expired' }),
  cancelled: contract({ ...HELD, status: 'cancelled' }),
  rejected: contract({ ...HELD, status: 'rejected' }),
}

const nameOf = ({ status, deposit, remainingSell }: Pick<Contract, 'status' | 'deposit' | 'remainingSell'>): string =>
  status !== 'awaiting_deposit' || deposit?.status !== 'margin_call'
    ? status
    : remainingSell === EXCHANGE.sellAmount
      ? 'called'
      : 'called_drawn'

/** Decides a move in each state; `books`: also what it posts. */
const byContract =
  (contracts: Readonly<Record<string, Contract>>, moveOf: (contract: Contract) => ContractMove, books = false) =>
  (state: string): Outcome | null => {
    const before = contracts[state]
    if (before === undefined) return null
    const decision = moveContract(before, moveOf(before))
    if ('refused' in decision) return 'refused'
    const to = nameOf(decision.change)
    if (!books) return { to }
    const effects = contractEffects(before, decision, {
      ids,
      now: MONDAY,
      accounts,
      by: 'member',
      valueDate: '2026-05-04',
      message: '',
      payingBalanceId: 'sold',
      sandbox: false,
    })
    return { to, ledger: (effects.postings ?? []).map(({ rule }) => rule) }
  }

const part: ContractMove = { kind: 'draw', side: 'sell', amount: 1_000n }
const rest = ({ remainingSell }: Contract): ContractMove => ({
  kind: 'draw',
  side: 'sell',
  amount: remainingSell || 1n,
})
const last = ({ remainingSell }: Contract): ContractMove => ({
  kind: 'draw',
  side: 'sell',
  amount: remainingSell || 1n,
  automatic: true,
})

/** The timer draws the rest of what is open or overdue; it does not ask a contract that waits for a deposit. */
const atSettlement = byContract(FORWARDS_BY_STATE, last)

export const FORWARDS: Machine = {
  name: 'forward',
  moves: FORWARD_MOVES,
  states: ['none', ...Object.keys(FORWARDS_BY_STATE)],
  decide: {
    'create, a deposit is required': (state) =>
      state === 'none' ? { to: begun({ kind: 'forward', deposit: firstDeposit(500n, 'EUR', MONDAY) }) } : null,
    'create, no deposit needed': (state) =>
      state === 'none' ? { to: begun({ kind: 'forward', deposit: firstDeposit(null, 'EUR', MONDAY) }) } : null,
    'deposit received': byContract(FORWARDS_BY_STATE, () => ({ kind: 'deposit', amount: null, places: false }), true),
    'deposit deadline': byContract(FORWARDS_BY_STATE, () => ({ kind: 'deposit_missed' })),
    cancel: byContract(FORWARDS_BY_STATE, () => ({ kind: 'cancel' })),
    'draw a part': byContract(FORWARDS_BY_STATE, () => part),
    'draw the rest': byContract(FORWARDS_BY_STATE, rest),
    'margin call': byContract(FORWARDS_BY_STATE, () => ({ kind: 'call', amount: 300n, until: MONDAY + 1 })),
    'settlement date, funds present': (state) => (/^called/.test(state) ? null : atSettlement(state)),
    'settlement date, funds missing': byContract(FORWARDS_BY_STATE, () => ({ kind: 'overdue' })),
    '2 business days pass': byContract(FORWARDS_BY_STATE, () => ({ kind: 'close_out', loss: 100n })),
  },
}

export const HELD_RATES: Machine = {
  name: 'held rate',
  moves: HELD_RATE_MOVES,
  states: ['none', ...Object.keys(HELD_RATES_BY_STATE)],
  decide: {
    create: (state) => (state === 'none' ? { to: begun({ kind: 'held_rate', deposit: null }) } : null),
    'draw a part': byContract(HELD_RATES_BY_STATE, () => part),
    'draw the rest': byContract(HELD_RATES_BY_STATE, rest),
    'its time is over': byContract(HELD_RATES_BY_STATE, () => ({ kind: 'expire' })),
    cancel: byContract(HELD_RATES_BY_STATE, () => ({ kind: 'cancel' })),
  },
}

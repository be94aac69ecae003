/** Contracts: what each move makes of one, and what it refuses. */
import t from 'tap'

import {
  ALLOWED_IN,
  asContract,
  begun,
  contractAt,
  firstDeposit,
  keptOf,
  moveContract,
  type Contract,
  type ContractMove,
  type ContractMoved,
} from '../../../lib/exchange/contract.ts'
import type { ExchangeRecord } from '../../../lib/exchange/exchange.ts'
import { RATE_ONE } from '../../../lib/exchange/rate.ts'

const DEPOSIT = {
  status: 'received',
  currency: 'EUR',
  required: 500n,
  received: 500n,
  placed: 0n,
  dueAt: null,
} as const
const contract = (change: Partial<Contract> = {}): Contract =>
  asContract({
    id: 'contract',
    kind: 'forward',
    status: 'active',
    version: 1,
    sellCurrency: 'EUR',
    buyCurrency: 'USD',
    sellAmount: 10_000n,
    buyAmount: 10_800n,
    remainingSell: 10_000n,
    remainingBuy: 10_800n,
    rate: (RATE_ONE * 108n) / 100n,
    drawdownCount: 0,
    deposit: DEPOSIT,
    heldUntil: null,
    settlementDate: '2026-12-01',
    ...change,
  } as ExchangeRecord)
const heldRate = (change: Partial<Contract> = {}) =>
  contract({ kind: 'held_rate', deposit: null, heldUntil: 1_000, ...change })
const awaiting = (change: Partial<Contract> = {}) =>
  contract({
    status: 'awaiting_deposit',
    deposit: { ...DEPOSIT, status: 'awaiting', received: 0n, dueAt: 9 },
    ...change,
  })
const called = (change: Partial<Contract> = {}) =>
  contract({
    status: 'awaiting_deposit',
    deposit: { ...DEPOSIT, status: 'margin_call', required: 800n, dueAt: 9 },
    ...change,
  })

const sell = (amount: bigint): ContractMove => ({ kind: 'draw', side: 'sell', amount })
function moved(from: Contract, move: ContractMove): ContractMoved {
  const decision = moveContract(from, move)
  if ('refused' in decision) throw new Error(decision.refused.detail)
  return decision
}
function refusal(from: Contract, move: ContractMove) {
  const decision = moveContract(from, move)
  return 'refused' in decision ? decision.refused : null
}

t.test('a contract begins with what it waits for', async (t) => {
  t.equal(begun({ kind: 'forward', deposit: firstDeposit(500n, 'EUR', 1) }), 'awaiting_deposit')
  t.equal(begun({ kind: 'forward', deposit: firstDeposit(null, 'EUR', 1) }), 'active')
  t.match(firstDeposit(null, 'EUR', 1), { status: 'not_required', required: 0n, dueAt: null })
  t.equal(begun({ kind: 'held_rate', deposit: null }), 'active')
})

t.test('a deposit is paid whole or in parts, never more of it', async (t) => {
  const whole = moved(awaiting(), { kind: 'deposit', amount: null, places: false })
  t.match(whole, {
    paid: 500n,
    change: { status: 'active', deposit: { status: 'received', received: 500n, placed: 0n, dueAt: null } },
  })
  const part = moved(awaiting(), { kind: 'deposit', amount: 200n, places: true })
  t.match(part, {
    paid: 200n,
    change: { status: 'awaiting_deposit', deposit: { status: 'awaiting', received: 200n, placed: 200n, dueAt: 9 } },
  })
  t.match(refusal({ ...awaiting(), ...part.change }, { kind: 'deposit', amount: 301n, places: false }), {
    slug: 'validation-error',
    errors: [{ field: '/amount', code: 'too_large', params: { remaining: '300' } }],
  })
  t.match(
    moved(called({ remainingSell: 4_000n, remainingBuy: 4_320n }), { kind: 'deposit', amount: null, places: false }),
    { paid: 300n, change: { status: 'partially_drawn', deposit: { received: 800n } } },
  )
  t.match(refusal(contract(), { kind: 'deposit', amount: null, places: false }), {
    slug: 'invalid-transition',
    extra: { currentStatus: 'active', allowed: ['awaiting_deposit'] },
  })
})

t.test('drawdowns: the last one takes the rest and uses the deposit', async (t) => {
  const first = moved(contract(), sell(3_333n))
  t.match(first, {
    drawn: { sides: { sell: 3_333n, buy: 3_600n }, depositUsed: 0n },
    change: { status: 'partially_drawn', remainingSell: 6_667n, remainingBuy: 7_200n, drawdownCount: 1 },
  })
  const last = moved({ ...contract(), ...first.change }, { kind: 'draw', side: 'buy', amount: 7_200n })
  t.match(last, {
    drawn: { sides: { sell: 6_667n, buy: 7_200n }, depositUsed: 500n },
    change: { status: 'completed', remainingSell: 0n, remainingBuy: 0n, deposit: { status: 'applied' } },
  })
  t.equal(last.released, undefined)
  t.match(refusal(contract(), sell(10_001n)), {
    slug: 'validation-error',
    errors: [{ code: 'too_large', params: { remaining: '10000', currency: 'EUR' } }],
  })
  t.match(refusal(contract(), { kind: 'draw', side: 'buy', amount: 10_801n }), {
    errors: [{ code: 'too_large', params: { remaining: '10800', currency: 'USD' } }],
  })
  t.match(
    refusal(contract({ rate: RATE_ONE / 100n, buyAmount: 100n, remainingBuy: 100n }), sell(10n)),
    { errors: [{ code: 'amount_too_small' }] },
    'it would buy nothing',
  )
  t.match(
    refusal(contract({ rate: RATE_ONE / 100n, buyAmount: 100n, remainingBuy: 100n }), sell(9_999n)),
    { errors: [{ code: 'amount_too_small' }] },
    'what is left would buy nothing',
  )
})

t.test(
  'a deposit larger than the last drawdown gives back what it does not need, the part of the partner first where it is his',
  async (t) => {
    const small = contract({
      status: 'partially_drawn',
      remainingSell: 300n,
      remainingBuy: 324n,
      deposit: { ...DEPOSIT, placed: 500n },
    })
    t.match(moved(small, sell(300n)), {
      drawn: { depositUsed: 300n, depositPlacedUsed: 300n },
      released: { amount: 200n, placed: 200n },
      change: { deposit: { status: 'applied' } },
    })
  },
)

t.test('a failed drawdown gives back its part, and the deposit it used', async (t) => {
  const gaveBack = (from: Contract, sides: { sell: bigint; buy: bigint }, depositUsed = 0n) =>
    moved(from, { kind: 'drawdown_failed', sides, depositUsed, depositPlacedUsed: 0n, now: 999 }).change
  t.match(
    gaveBack(contract({ status: 'partially_drawn', remainingSell: 6_000n, remainingBuy: 6_480n }), {
      sell: 4_000n,
      buy: 4_320n,
    }),
    { status: 'active', remainingSell: 10_000n, remainingBuy: 10_800n },
  )
  const done = contract({
    status: 'completed',
    remainingSell: 0n,
    remainingBuy: 0n,
    deposit: { ...DEPOSIT, status: 'applied' },
  })
  t.match(gaveBack(done, { sell: 400n, buy: 432n }, 400n), {
    status: 'partially_drawn',
    deposit: { status: 'received', received: 400n },
  })
  t.equal(
    gaveBack(heldRate({ status: 'completed', remainingSell: 0n, remainingBuy: 0n }), { sell: 1n, buy: 1n }).status,
    'partially_drawn',
  )
  t.equal(
    moved(heldRate({ status: 'completed', remainingSell: 0n, remainingBuy: 0n }), {
      kind: 'drawdown_failed',
      sides: { sell: 1n, buy: 1n },
      depositUsed: 0n,
      depositPlacedUsed: 0n,
      now: 1_000,
    }).change.status,
    'expired',
    'its time is over',
  )
  t.equal(
    gaveBack(contract({ status: 'closed_out', remainingSell: 0n, remainingBuy: 0n }), { sell: 1n, buy: 1n }).status,
    'closed_out',
  )
})

t.test('a margin call: drawn from all the same, paid or unwound', async (t) => {
  const asked = moved(contract(), { kind: 'call', amount: 300n, until: 77 })
  t.match(asked.change, {
    status: 'awaiting_deposit',
    deposit: { status: 'margin_call', required: 800n, received: 500n, dueAt: 77 },
  })
  t.match(moved(called(), sell(1_000n)).change, { status: 'awaiting_deposit', remainingSell: 9_000n })
  t.match(moved(called(), sell(10_000n)), {
    drawn: { depositUsed: 500n },
    change: { status: 'completed', deposit: { status: 'applied' } },
  })
  t.match(
    moved(called({ deposit: { ...DEPOSIT, status: 'margin_call', required: 300n, received: 0n } }), sell(10_000n))
      .change,
    { status: 'completed', deposit: { status: 'released' } },
  )
  t.match(refusal(called(), { kind: 'cancel' }), { slug: 'not-cancellable' })
  t.match(refusal(called(), { kind: 'deposit_missed' }), { slug: 'invalid-transition' })
  t.match(moved(called(), { kind: 'close_out', loss: 600n }), {
    unwound: { deposit: { amount: 500n }, loss: 600n },
    change: { status: 'closed_out', deposit: { status: 'forfeited' } },
  })
})

t.test('overdue contracts are completed by themselves or unwound', async (t) => {
  const overdue = contract({ status: 'overdue' })
  t.equal(moved(contract(), { kind: 'overdue' }).change.status, 'overdue')
  t.match(
    refusal(overdue, sell(1n)),
    { slug: 'invalid-transition', extra: { allowed: ['active', 'partially_drawn'] } },
    'not by hand',
  )
  t.equal(moved(overdue, { kind: 'draw', side: 'sell', amount: 10_000n, automatic: true }).change.status, 'completed')
  t.match(moved(overdue, { kind: 'close_out', loss: -40n }), {
    unwound: { deposit: { amount: 500n }, loss: -40n },
    change: { deposit: { status: 'released' } },
  })
  t.match(refusal(contract(), { kind: 'close_out', loss: 0n }), { slug: 'invalid-transition' })
})

t.test('what was never begun can be withdrawn; a held rate while nothing was drawn', async (t) => {
  t.match(moved(awaiting({ deposit: { ...DEPOSIT, status: 'awaiting', received: 200n } }), { kind: 'cancel' }), {
    released: { amount: 200n },
    change: { status: 'cancelled', deposit: { status: 'released' } },
  })
  t.equal(moved(awaiting(), { kind: 'deposit_missed' }).change.status, 'cancelled')
  t.equal(moved(heldRate(), { kind: 'cancel' }).change.status, 'cancelled')
  t.match(refusal(heldRate({ status: 'partially_drawn' }), { kind: 'cancel' }), {
    slug: 'not-cancellable',
    extra: { currentStatus: 'partially_drawn' },
  })
  t.match(refusal(contract(), { kind: 'cancel' }), { slug: 'not-cancellable' })
  t.equal(moved(heldRate({ status: 'partially_drawn' }), { kind: 'expire' }).change.status, 'expired')
  t.match(refusal(contract(), { kind: 'expire' }), { slug: 'invalid-transition' })
  t.match(refusal(heldRate(), { kind: 'overdue' }), { slug: 'invalid-transition' })
})

t.test('every move of a contract that is over is refused', async (t) => {
  const moves: ContractMove[] = [
    { kind: 'deposit', amount: null, places: false },
    { kind: 'cancel' },
    { kind: 'deposit_missed' },
    sell(1n),
    { kind: 'draw', side: 'sell', amount: 1n, automatic: true },
    { kind: 'call', amount: 1n, until: 1 },
    { kind: 'overdue' },
    { kind: 'close_out', loss: 0n },
    { kind: 'expire' },
  ]
  for (const status of [
    'completed',
    'cancelled',
    'closed_out',
    'expired',
    'rejected',
    'failed',
    'pending_approval',
  ] as const) {
    for (const move of moves) t.ok(refusal(contract({ status }), move), `${move.kind} of ${status}`)
  }
  for (const move of moves) {
    if (move.kind === 'cancel') continue
    t.match(refusal(contract({ status: 'closed_out' }), move), { extra: { allowed: ALLOWED_IN[move.kind] } })
  }
  t.strictSame(keptOf({ ...DEPOSIT, status: 'applied' }), { amount: 0n, placed: 0n })
})

t.test(
  'from its deadline on a contract counts as ended, to the millisecond, whatever its timer has done',
  async (t) => {
    const ends = [
      [heldRate(), 1_000, 'expired'],
      [heldRate({ status: 'partially_drawn' }), 1_000, 'expired'],
      [awaiting(), 9, 'cancelled'],
    ] as const
    for (const [from, deadline, status] of ends) {
      t.equal(contractAt(from, deadline - 1), from)
      t.strictSame(contractAt(from, deadline), { ...from, status })
      t.strictSame(contractAt(from, deadline + 1), { ...from, status })
    }
    for (const from of [contract(), called(), heldRate({ status: 'completed' }), awaiting({ status: 'cancelled' })])
      t.equal(contractAt(from, 1_000_000), from, `${from.kind} ${from.status} has no such deadline`)
  },
)

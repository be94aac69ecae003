/** The decisions of a balance about direct debits, as a table, and the moves of a debit. */
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { BalanceState } from '../../../lib/balances/balance.ts'
import { NO_CONTROLS } from '../../../lib/balances/debit-controls.ts'
import {
  CONFIRM_MS,
  receiveDebit,
  takeDebit,
  type DebitFacts,
  type ReceiveDebit,
} from '../../../lib/incoming-debits/decide-debit.ts'
import type { PayConsent, PayerMandate } from '../../../lib/incoming-debits/effects.ts'
import { INCOMING_DEBIT_STATUSES, type IncomingDebitRecord } from '../../../lib/incoming-debits/incoming-debit.ts'
import {
  changedDebit,
  INCOMING_DEBIT_MOVES,
  mayMove,
  refundProblem,
  type IncomingDebitMove,
} from '../../../lib/incoming-debits/incoming-debit-moves.ts'
import { dueMoment, refundEnd } from '../../../lib/incoming-debits/schemes.ts'
import { ids, MONDAY } from '../../support/commands.ts'

const BALANCE = ids.next()
const TODAY = '2026-05-04'
const accounts = { nostro: ids.next() }

const balance = (more: Partial<BalanceState> = {}): BalanceState => ({
  id: BALANCE,
  customerId: ids.next(),
  operatorId: ids.next(),
  connectionId: ids.next(),
  shard: 3,
  currency: 'EUR',
  name: 'Main',
  status: 'active',
  available: 1_000n,
  version: 4n,
  policy: null,
  exchangePolicy: null,
  limits: null,
  fees: [],
  railVersion: 1,
  calendar: null,
  customerStatus: 'active',
  customerMeasure: null,
  debitControls: NO_CONTROLS,
  ...more,
})

const mandate = (more: Partial<PayerMandate> = {}): PayerMandate => ({
  id: ids.next(),
  customerId: ids.next(),
  balanceId: BALANCE,
  scheme: 'sepa_dd_core',
  creditorName: 'City Power',
  creditorId: 'DE98ZZZ09999999999',
  reference: 'M-1',
  status: 'seen',
  lastDueDate: null,
  version: 1,
  ...more,
})

const consent = (more: Partial<PayConsent> = {}): PayConsent => ({
  id: ids.next(),
  version: 7,
  status: 'active',
  amountLimit: null,
  ...more,
})

interface Case {
  readonly balance?: Partial<BalanceState>
  readonly debit?: Partial<DebitFacts>
  readonly mandate?: PayerMandate | null
  readonly consent?: PayConsent | null
  readonly type?: ReceiveDebit['event']['type']
}

function received(given: Case = {}) {
  const debit: DebitFacts = {
    reference: ids.next(),
    scheme: 'sepa_dd_core',
    amount: 400n,
    currency: 'EUR',
    creditorName: 'City Power',
    creditorId: 'DE98ZZZ09999999999',
    mandateReference: 'M-1',
    remittance: null,
    endToEndId: null,
    dueDate: TODAY,
    ...given.debit,
  }
  const id = ids.next()
  return receiveDebit(
    balance(given.balance),
    {
      kind: 'receive_debit',
      key: { id, fingerprint: id },
      event: { id, type: given.type ?? 'debit.announced' },
      debit,
      connectionId: ids.next(),
      mandate: given.mandate === undefined ? mandate() : given.mandate,
      consent: given.consent ?? null,
      accounts,
      seed: ids.next(),
    },
    MONDAY,
  )
}

const B2B = { scheme: 'sepa_dd_b2b' } as const
const LATER = { dueDate: '2026-05-08' } as const

t.test('each debit that arrives is judged by the first row that fits', (t) => {
  for (const [name, given, status, code] of [
    ['due and covered', {}, 'debited', null],
    ['to the last cent', { debit: { amount: 1_000n } }, 'debited', null],
    ['due later', { debit: LATER }, 'announced', null],
    ['due later, whatever the funds', { debit: { ...LATER, amount: 9_000n } }, 'announced', null],
    ['due later, of a frozen balance', { debit: LATER, balance: { status: 'frozen' } }, 'announced', null],
    ['taken by the bank before', { debit: LATER, type: 'debit.booked' }, 'debited', null],
    ['not covered', { debit: { amount: 1_001n } }, 'refused', 'AM04'],
    ['of a closed balance', { balance: { status: 'closed' } }, 'refused', 'AC04'],
    ['of a closing balance', { balance: { status: 'closing' } }, 'refused', 'AC04'],
    ['of a frozen balance', { balance: { status: 'frozen' } }, 'refused', 'AC06'],
    ['of a restricted customer', { balance: { customerMeasure: 'restricted' } }, 'refused', 'AG01'],
    ['in another currency', { debit: { currency: 'USD' } }, 'refused', 'AM03'],
    ['without a mandate', { mandate: null }, 'refused', 'MD01'],
    ['under a cancelled mandate', { mandate: mandate({ status: 'cancelled' }) }, 'refused', 'MD01'],
    ['under an expired agreement', { consent: consent({ status: 'expired' }) }, 'refused', 'MD01'],
    ['under a suspended agreement', { consent: consent({ status: 'suspended' }) }, 'refused', 'MS02'],
    ['above the agreed amount', { consent: consent({ amountLimit: 399n }) }, 'refused', 'SL01'],
    ['of the agreed amount', { consent: consent({ amountLimit: 400n }) }, 'debited', null],
    ['B2B without a confirmation', { debit: B2B }, 'pending_confirmation', null],
    ['B2B under a confirmed mandate', { debit: B2B, mandate: mandate({ status: 'confirmed' }) }, 'debited', null],
    ['B2B under an agreement', { debit: B2B, consent: consent() }, 'debited', null],
    [
      'B2B under one that is not active yet',
      { debit: B2B, consent: consent({ status: 'pending' }) },
      'pending_confirmation',
      null,
    ],
    ['while all are blocked', { balance: { debitControls: { ...NO_CONTROLS, blockAll: true } } }, 'refused', 'SL01'],
  ] as const satisfies readonly (readonly [string, Case, string, string | null])[]) {
    const { reply, effects, state, refused } = received(given)
    const [row] = effects?.incomingDebits ?? []
    t.equal(reply.status, status, name)
    t.match(row, { status, reasonCode: code }, name)
    t.equal(refused === true, status === 'refused', `${name}: a refusal needs fresh state`)
    t.strictSame(
      (effects?.postings ?? []).map(({ rule }) => rule),
      status === 'debited' ? ['L60'] : [],
      `${name}: money moves with a debit alone`,
    )
    t.equal(state.available, status === 'debited' ? 1_000n - (row?.amount ?? 0n) : 1_000n, name)
    t.strictSame(
      row?.answer,
      status === 'refused' ? 'refuse' : status === 'debited' && row?.isBooked === false ? 'accept' : null,
      `${name}: what the bank is told`,
    )
  }
  t.end()
})

t.test('a debit that is taken moves the last due date of its mandate, and rests on the agreement', (t) => {
  const agreed = consent()
  const [after] =
    received({ consent: agreed, mandate: mandate({ lastDueDate: '2026-04-01' }) }).effects?.payerMandates ?? []
  t.match(after, { lastDueDate: TODAY, consent: { id: agreed.id, version: 7 } })
  t.strictSame(received({ debit: LATER }).effects?.payerMandates, undefined, 'an announced one does not')
  t.match(received({ debit: LATER, mandate: mandate({ version: 0 }) }).effects?.payerMandates, [{ lastDueDate: null }])
  t.end()
})

t.test('a debit that is due is judged again; before, and when it is decided, nothing happens', (t) => {
  const [row] = received({ debit: LATER }).effects?.incomingDebits ?? []
  const stored: IncomingDebitRecord = { ...row!, version: 1, updatedAt: MONDAY }
  const due = dueMoment('sepa_dd_core', LATER.dueDate)
  const take = (debit: IncomingDebitRecord, now: number, more: Partial<BalanceState> = {}) =>
    takeDebit(
      balance(more),
      { kind: 'take_debit', debit, mandate: mandate(), consent: null, accounts, seed: ids.next() },
      now,
    )
  t.equal(stored.dueAt, due)
  t.equal(take(stored, due - 1).effects, null)
  t.match(take(stored, due).effects?.incomingDebitChanges, [
    { version: 1, status: 'debited', dueAt: null, answer: 'accept' },
  ])
  t.match(take(stored, due, { available: 1n }).effects?.incomingDebitChanges, [
    { status: 'refused', reasonCode: 'AM04' },
  ])
  t.equal(take({ ...stored, status: 'debited' }, due).effects, null)
  const [first] = received({ debit: B2B }).effects?.incomingDebits ?? []
  t.equal(first!.dueAt, dueMoment('sepa_dd_b2b', TODAY) + CONFIRM_MS)
  const unconfirmed = take({ ...first!, version: 1, updatedAt: MONDAY }, MONDAY + 2 * DAY_MS)
  t.match(unconfirmed.effects?.incomingDebitChanges, [
    { status: 'refused', refusal: 'mandate_unconfirmed', reasonCode: 'MD01' },
  ])
  t.end()
})

t.test('each move is made from its statuses alone', (t) => {
  const [row] = received().effects?.incomingDebits ?? []
  for (const [move, { from, to, rule }] of Object.entries(INCOMING_DEBIT_MOVES) as [
    IncomingDebitMove,
    (typeof INCOMING_DEBIT_MOVES)[IncomingDebitMove],
  ][])
    for (const status of INCOMING_DEBIT_STATUSES) {
      const record: IncomingDebitRecord = { ...row!, status, version: 3, updatedAt: MONDAY }
      const allowed = (from as readonly (string | null)[]).includes(status)
      t.equal(mayMove(record, move) === null, allowed, `${move} from ${status}`)
      if (!allowed) continue
      const effects = changedDebit(record, move, {}, { accounts, ids, now: MONDAY })
      t.match(effects, {
        incomingDebitChanges: [{ status: to, version: 3 }],
        events: [{ type: 'incoming_debit.status_changed', status: to, previousStatus: status }],
      })
      t.strictSame(
        (effects.postings ?? []).map((posting) => posting.rule),
        rule === null ? [] : [rule],
      )
    }
  t.end()
})

t.test('refunds end with the last day of their window, in the zone of the scheme', (t) => {
  const at = Date.UTC(2026, 4, 4, 22, 30)
  t.equal(
    new Date(refundEnd('sepa_dd_core', 'MD06', at)!).toISOString(),
    '2026-06-30T22:00:00.000Z',
    'after midnight in Brussels',
  )
  t.equal(new Date(refundEnd('sepa_dd_core', 'MD01', at)!).toISOString(), '2027-06-05T22:00:00.000Z')
  t.equal(refundEnd('sepa_dd_b2b', 'MD06', at), null)
  t.equal(refundEnd('sepa_dd_b2b', 'MD01', at), null)
  t.equal(refundEnd('bacs_dd', 'MD06', at), Number.POSITIVE_INFINITY)
  t.equal(refundEnd('ach_debit', 'MD06', at), null)
  const [row] = received().effects?.incomingDebits ?? []
  const debited: IncomingDebitRecord = { ...row!, version: 1, updatedAt: MONDAY }
  const end = refundEnd('sepa_dd_core', 'MD06', MONDAY)!
  t.equal(refundProblem(debited, 'MD06', end - 1), null)
  t.match(refundProblem(debited, 'MD06', end), { slug: 'invalid-transition' })
  t.match(refundProblem({ ...debited, scheme: 'sepa_dd_b2b' }, 'MD06', MONDAY), { slug: 'invalid-transition' })
  t.match(refundProblem({ ...debited, status: 'announced' }, 'MD06', MONDAY), { extra: { allowed: ['debited'] } })
  t.end()
})

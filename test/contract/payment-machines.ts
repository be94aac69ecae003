/** The pure moves of payments, their recalls and transfers, by the triggers of the contract. */
import { DEFAULT_TIER, type PolicyTerms } from '../../lib/approvals/policy.ts'
import type {
  PaymentReply,
  PaymentCommand,
  PaymentMoveContext,
  PaymentState,
} from '../../lib/payments/payment-state.ts'
import { createPayment } from '../../lib/payments/create-payment.ts'
import type { CreatePayment } from '../../lib/payments/create-payment-command.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { PaymentRecall, PaymentRecord } from '../../lib/payments/payment.ts'
import { moveRecall, newRecall, type RecallCommand } from '../../lib/payments/recall.ts'
import { releasePayment } from '../../lib/payments/release-payment.ts'
import { moveTransfer, type TransferMove } from '../../lib/transfers/transfer-moves.ts'
import type { TransferState } from '../../lib/transfers/transfer-state.ts'
import { createTransfer } from '../../lib/transfers/transfer.ts'
import { balanceState, ids, MONDAY, paymentCommand, transferCommand } from '../support/commands.ts'
import { PAYMENT_MOVES, RECALL_MOVES, TRANSFER_MOVES } from './data/money-moves.ts'
import { moved, type Machine, type Outcome } from './walk.ts'

const ACCOUNTS = { nostro: 'nostro', out_transit: 'out_transit', inc_fee: 'inc_fee', fee_tax: 'fee_tax' }
const context: PaymentMoveContext = { accounts: ACCOUNTS, ids, valueDate: '2026-05-04' }
const HIT = { provider: 'list', findings: [{ list: 'L', name: 'N', score: 88 }], decides: null }
const REASON = { code: 'cancelled_by_user', message: 'The payment was cancelled.' }
const SETTLED = { id: ids.next(), type: 'settled' as const }

// ── Payments
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

const PAYMENT_STATES: Readonly<Record<string, Pick<PaymentState, 'status' | 'sent'> & Partial<PaymentState>>> = {
  draft: { status: 'draft', sent: false },
  pending_approval: { status: 'pending_approval', sent: false },
  // Its money is reserved on its day.
  scheduled: { status: 'scheduled', sent: false, holdId: null },
  queued: { status: 'processing', sent: false },
  submitted: { status: 'processing', sent: true },
  on_hold: { status: 'on_hold', sent: false },
  completed: { status: 'completed', sent: true },
  failed: { status: 'failed', sent: true },
  returned: { status: 'returned', sent: true },
  exception: { status: 'exception', sent: true },
  rejected: { status: 'rejected', sent: false },
  cancelled: { status: 'cancelled', sent: false },
}

const stateOf = ({ status, sent }: Pick<PaymentState, 'status' | 'sent'>): string =>
  status === 'processing' ? (sent ? 'submitted' : 'queued') : status

function payment(overrides: Partial<PaymentState>): PaymentState {
  const balanceId = ids.next()
  return {
    id: ids.next(),
    customerId: ids.next(),
    operatorId: ids.next(),
    connectionId: ids.next(),
    shard: 3,
    number: 'PAY0000000001',
    status: 'processing',
    version: 4,
    sent: false,
    sourceBalanceId: balanceId,
    payingBalanceId: balanceId,
    holdId: ids.next(),
    currency: 'EUR',
    amount: 100n,
    fee: 25n,
    spenderId: ids.next(),
    rail: 'sepa',
    reference: 'Invoice 1',
    recipientName: 'Amsterdam Trading BV',
    createdAt: MONDAY,
    recall: null,
    ...overrides,
  }
}

function outcomeOf(reply: PaymentReply, decision: ReturnType<typeof movePayment>): Outcome {
  return reply.kind === 'ignored' ? 'refused' : moved(stateOf(reply.state), decision.effects)
}

/** Decides a command of an existing payment; nothing exists in the state `none`. */
const byCommand =
  (command: (state: PaymentState) => PaymentCommand, overrides: Partial<PaymentState> = {}) =>
  (state: string): Outcome | null => {
    const place = PAYMENT_STATES[state]
    if (place === undefined) return null
    const before = payment({ ...overrides, ...place })
    const decision = movePayment(before, command(before), MONDAY)
    return outcomeOf(decision.reply, decision)
  }

const withdrawal =
  (status: 'rejected' | 'cancelled') =>
  ({ status: current }: PaymentState): PaymentCommand => ({
    kind: 'withdraw',
    from: current === 'scheduled' || current === 'processing' ? current : 'pending_approval',
    withdrawal: { status, reason: REASON, by: 'member' },
    context,
  })

/** A person rejects what waits for approval, and nothing else. */
const rejection = (): PaymentCommand => ({
  kind: 'withdraw',
  from: 'pending_approval',
  withdrawal: { status: 'rejected', reason: REASON, by: 'member' },
  context,
})

const POLICY: PolicyTerms = {
  enabled: true,
  currency: 'EUR',
  tiers: [DEFAULT_TIER],
  appliesTo: null,
  exemptOwnAccounts: false,
  recipientMode: 'none',
}
const LATER = '2026-06-15'

/** Creates a payment, or submits a draft. Other payments are not asked to be submitted. */
const creation =
  (terms: Partial<CreatePayment>, policy: PolicyTerms | null) =>
  (state: string): Outcome | null => {
    if (state !== 'none' && state !== 'draft') return null
    const balance = balanceState({ available: 10_000n, policy })
    const draft = { version: 2, createdBy: balance.customerId, createdVia: 'web' as const, createdAt: MONDAY }
    const { reply, effects } = createPayment(
      balance,
      paymentCommand({
        customerId: balance.customerId,
        amount: 100n,
        ...terms,
        ...(state === 'draft' ? { draft: draft as NonNullable<CreatePayment['draft']> } : {}),
      }),
      MONDAY,
    )
    if (reply.kind !== 'payment_created') throw new Error(`A payment was refused: ${JSON.stringify(reply)}`)
    return moved(stateOf({ status: reply.payment.status, sent: false }), effects)
  }

/** A payment whose day comes later, as storage returns it. */
function scheduled(): { readonly payment: PaymentRecord; readonly balance: ReturnType<typeof balanceState> } {
  const balance = balanceState({ available: 10_000n })
  const command = paymentCommand({ customerId: balance.customerId, amount: 100n, executionDate: LATER })
  const { reply } = createPayment(balance, command, MONDAY)
  if (reply.kind !== 'payment_created' || reply.payment.status !== 'scheduled') throw new Error('It is not scheduled.')
  return { payment: reply.payment, balance }
}

/** Its day has come. Only a payment that is scheduled is asked. */
const due =
  (available: bigint) =>
  (state: string): Outcome | null => {
    if (state !== 'scheduled') return null
    const { payment: waiting, balance } = scheduled()
    const now = Date.parse(`${LATER}T20:00:00.000Z`)
    const { reply, effects } = releasePayment(
      { ...balance, available },
      {
        kind: 'release_payment',
        payment: waiting,
        recipient: { id: ids.next(), status: 'active', version: 1n, digest: waiting.details.recipientDigest ?? '' },
        holdId: ids.next(),
        seed: ids.next(),
        until: now,
      },
      now,
    )
    return moved(stateOf({ status: reply.status, sent: false }), effects)
  }

export const PAYMENTS: Machine = {
  name: 'payment',
  moves: PAYMENT_MOVES,
  states: ['none', ...Object.keys(PAYMENT_STATES)],
  decide: {
    'submit, a tier applies': creation({}, POLICY),
    'submit, due later': creation({ executionDate: LATER }, null),
    'submit, due now': creation({}, null),
    'approve, due now': byCommand(() => ({ kind: 'approve', context })),
    'approve, due later': byCommand(
      () => ({ kind: 'approve', context: { ids, due: { dueAt: MONDAY + 1, until: MONDAY + 2 } } }),
      { holdId: null },
    ),
    reject: byCommand(rejection),
    withdraw: byCommand(withdrawal('cancelled')),
    'due, funds present': due(10_000n),
    'due, funds missing at the cut-off': due(0n),
    'screening hit': byCommand(() => ({ kind: 'hold', hit: HIT, context })),
    'staff release': byCommand(() => ({ kind: 'release', context })),
    'staff block': byCommand(() => ({ kind: 'block', freezeFunds: false, context })),
    'hand over': byCommand(() => ({ kind: 'hand_over', context })),
    'partner confirms': byCommand(() => ({ kind: 'settled', context, schemeCode: null, event: SETTLED })),
    'partner rejects': byCommand(() => ({ kind: 'rejected', context, schemeCode: 'AC04', event: SETTLED })),
    'partner refuses before acceptance': byCommand(() => ({ kind: 'refused', context, schemeCode: 'TECH' })),
    timeout: byCommand(() => ({ kind: 'timeout', context, askAgainAt: MONDAY + 5_000 })),
    'contradictory answer': byCommand(() => ({ kind: 'unclear', context, askAgainAt: MONDAY + 5_000, event: SETTLED })),
    'partner has it': byCommand(() => ({ kind: 'accepted', context, event: SETTLED })),
    return: byCommand(() => ({ kind: 'returned', context, amount: 60n, schemeCode: 'AC04', event: SETTLED })),
  },
}

/**
 * Which rows each command of a payment is walked by; a command of the product that the contract does not have says why.
 */
export const PAYMENT_COMMANDS = {
  approve: 'P7',
  withdraw: 'P8 P9 P12 P13 P25',
  hold: 'P14',
  release: 'P15',
  block: 'P16',
  hand_over: 'P17',
  settled: 'P18 P22',
  rejected: 'P19 P22',
  refused: 'P20',
  timeout: 'P21',
  unclear: 'P21',
  accepted: 'P22',
  returned: 'P22 P23 P24',
  still_unknown: 'no move: the outcome is asked for again later',
  book: 'the rail `internal`, whose partner is the platform: P17 and P18 in one',
  payee_closed: 'the rail `internal`: P19',
  reroute: 'no move: another connection carries the payment',
  funded: 'no move: the exchange that buys the amount has settled, and the payment is queued',
  unfunded: 'the exchange that buys the amount has failed: P20',
} as const satisfies Readonly<Record<PaymentCommand['kind'], string>>

// ── Recalls
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const requested = newRecall('sepa', 'DUPL', 'Paid twice by mistake.', MONDAY)
const RECALLS: Readonly<Record<string, PaymentRecall | null>> = {
  none: null,
  requested: { ...requested, sentAt: '2026-05-04T09:31:00.000Z' },
  accepted: { ...requested, status: 'accepted' },
  rejected: { ...requested, status: 'rejected' },
  expired: { ...requested, status: 'expired' },
}

const byRecall =
  (command: RecallCommand) =>
  (state: string): Outcome => {
    const before = payment({ status: 'completed', sent: true, recall: RECALLS[state] ?? null })
    const { reply, effects } = moveRecall(before, command, MONDAY)
    // The events of a recall have a table of their own.
    return reply.kind === 'ignored'
      ? 'refused'
      : { to: reply.state.recall!.status, ledger: (effects?.postings ?? []).map(({ rule }) => rule) }
  }

export const PAYMENT_RECALLS: Machine = {
  name: 'recall',
  moves: RECALL_MOVES,
  states: Object.keys(RECALLS),
  decide: {
    request: byRecall({ kind: 'request_recall', recall: requested, context }),
    'partner declines': byRecall({ kind: 'recall_rejected', schemeCode: 'CUST', context, event: null }),
    'no answer in 15 business days': byRecall({ kind: 'recall_expired', context }),
    // Money may come back without a recall; only with one is the recall answered.
    return: (state) => {
      if (state !== 'requested') return null
      const { reply, effects } = movePayment(
        payment({ status: 'completed', sent: true, recall: RECALLS[state] ?? null }),
        { kind: 'returned', context, amount: 60n, schemeCode: 'FOCR', event: null },
        MONDAY,
      )
      return reply.kind === 'ignored'
        ? 'refused'
        : { to: reply.state.recall!.status, ledger: (effects?.postings ?? []).map(({ rule }) => rule) }
    },
  },
}

// ── Transfers
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

const transfer = (status: TransferState['status']): TransferState => ({
  id: ids.next(),
  customerId: ids.next(),
  operatorId: ids.next(),
  shard: 7,
  number: 'TRF0000000001',
  status,
  version: 1,
  fromBalanceId: ids.next(),
  toBalanceId: ids.next(),
  currency: 'EUR',
  amount: 500n,
  reference: 'Savings',
  holdId: ids.next(),
  fromConnectionId: ids.next(),
  toConnectionId: ids.next(),
})
const TRANSFER_STATES = ['processing', 'completed', 'on_hold', 'failed', 'exception'] as const
const transferContext = { ids, now: MONDAY, accounts: { from: { nostro: 'from' }, to: { nostro: 'to' } } }

const byMove =
  (move: TransferMove) =>
  (state: string): Outcome | null => {
    if (state === 'none') return null
    const result = moveTransfer(transfer(state as TransferState['status']), move, transferContext)
    return result === null ? 'refused' : moved(result.change.status, result.effects)
  }

const transferOf =
  (connections: 'one' | 'two') =>
  (state: string): Outcome | null => {
    if (state !== 'none') return null
    const balance = balanceState({ available: 900n })
    const { reply, effects } = createTransfer(
      balance,
      transferCommand({
        customerId: balance.customerId,
        amount: 500n,
        toBalanceId: ids.next(),
        toConnectionId: connections === 'one' ? balance.connectionId : ids.next(),
      }),
      MONDAY,
    )
    return reply.kind === 'transfer_created' ? moved(reply.transfer.status, effects) : 'refused'
  }

export const TRANSFERS: Machine = {
  name: 'transfer',
  moves: TRANSFER_MOVES,
  states: ['none', ...TRANSFER_STATES],
  decide: {
    'create, one connection': transferOf('one'),
    'create, two connections': transferOf('two'),
    'partner confirms': byMove({ kind: 'confirm', valueDate: '2026-05-04' }),
    'partner refuses': byMove({ kind: 'refuse', schemeCode: 'AC01' }),
    timeout: byMove({ kind: 'timeout' }),
    'screening hit': byMove({ kind: 'hold', hit: HIT }),
    'staff release': byMove({ kind: 'release' }),
    'staff block': byMove({ kind: 'block', freezeFunds: false }),
  },
}

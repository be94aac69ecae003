import t from 'tap'
import type { PaymentRecall, PaymentRecord, PaymentStatus } from '../../../lib/payments/payment.ts'
import type { PaymentState } from '../../../lib/payments/payment-state.ts'
import { moveRecall, newRecall, recallObstacle, type RecallCommand } from '../../../lib/payments/recall.ts'
import { ids, MONDAY } from '../../support/commands.ts'

const DAY = 86_400_000
const context = { ids }
const event = { id: ids.next(), type: 'recall_rejected' as const }
const requested = newRecall('sepa', 'DUPL', 'The invoice was paid twice.', MONDAY)

const COMMANDS: { readonly [name: string]: RecallCommand } = {
  request: { kind: 'request_recall', recall: requested, context },
  sent: { kind: 'recall_sent' },
  rejected: { kind: 'recall_rejected', schemeCode: 'CUST', context, event },
  expired: { kind: 'recall_expired', context },
}

function payment(status: PaymentStatus, recall: PaymentRecall | null): PaymentState {
  return {
    id: ids.next(),
    customerId: ids.next(),
    operatorId: ids.next(),
    connectionId: ids.next(),
    shard: 3,
    number: 'PAY0000000001',
    status,
    version: 4,
    sent: true,
    sourceBalanceId: ids.next(),
    holdId: ids.next(),
    currency: 'EUR',
    amount: 100n,
    fee: 25n,
    rail: 'sepa',
    reference: 'Invoice 1',
    recipientName: 'Amsterdam Trading BV',
    createdAt: MONDAY,
    recall,
  } as PaymentState
}

t.test('a recall moves exactly where it may, and nothing of the payment moves with it', (t) => {
  const places = ['none', 'requested', 'accepted', 'rejected', 'expired'] as const
  const MOVES: Readonly<Record<string, string>> = {
    'none request': 'requested',
    'requested sent': 'requested',
    'requested rejected': 'rejected',
    'requested expired': 'expired',
  }
  for (const status of ['processing', 'completed', 'returned', 'exception', 'failed'] as const) {
    for (const place of places) {
      for (const [name, command] of Object.entries(COMMANDS)) {
        const state = Object.freeze(payment(status, place === 'none' ? null : { ...requested, status: place }))
        const { state: after, reply, effects, refused = false } = moveRecall(state, command, MONDAY + 1)
        const to = status === 'completed' ? MOVES[`${place} ${name}`] : undefined
        const label = `${status} ${place} ${name}`
        t.equal(refused, to === undefined, label)
        if (to === undefined) {
          t.strictSame({ after, effects, kind: reply.kind }, { after: state, effects: null, kind: 'ignored' }, label)
          continue
        }
        t.match(after, { status, version: 5, recall: { status: to } }, label)
        const [decision] = effects?.paymentDecisions ?? []
        t.match(decision, { id: state.id, version: 4, status, updatedAt: MONDAY + 1 }, label)
        t.equal(decision?.recallDueAt === null, to !== 'requested', `${label}: what is open is looked after`)
        t.match(effects?.statusUpdates, [{ status, previousStatus: status, version: 5 }], label)
        t.equal(effects?.events?.length ?? 0, name === 'sent' ? 0 : 1, label)
        t.notOk(effects?.postings, label)
      }
    }
  }
  t.equal(moveRecall(null, COMMANDS['sent']!, MONDAY).effects, null)
  t.equal(
    moveRecall(payment('completed', { ...requested, sentAt: '2026-05-04T10:00:01.000Z' }), COMMANDS['sent']!, MONDAY)
      .effects,
    null,
    'it is passed on once',
  )
  t.end()
})

t.test('the answer is kept with its reason, and the message that brought it', (t) => {
  const { effects } = moveRecall(payment('completed', requested), COMMANDS['rejected']!, MONDAY + 1)
  t.match(JSON.parse(effects?.paymentDecisions?.[0]?.recall ?? ''), {
    status: 'rejected',
    response: 'CUST',
    decidedAt: new Date(MONDAY + 1).toISOString(),
    reasonCode: 'DUPL',
  })
  t.match(effects?.providerEvents, [{ id: event.id, code: 'CUST' }])
  t.match(effects?.events, [{ type: 'payment.recall_updated', status: 'rejected', previousStatus: 'requested' }])
  t.end()
})

t.test('a bank has fifteen business days, also where its rail never closes', (t) => {
  // 4 May 2026 is a Monday; nothing is closed in the three weeks after it but weekends.
  t.equal(requested.expiresAt, '2026-05-25T23:59:59.999Z')
  t.equal(newRecall('sepa_instant', 'TECH', 'Sent by mistake.', MONDAY).expiresAt, requested.expiresAt)
  t.equal(
    newRecall('faster_payments', 'TECH', 'Sent by mistake.', MONDAY).expiresAt,
    '2026-05-27T23:59:59.999Z',
    'in Britain the 4th and the 25th are holidays',
  )
  t.end()
})

t.test('thirteen months from its completion a payment is out of reach', (t) => {
  const record = { status: 'completed', rail: 'sepa', recall: null, completedAt: MONDAY } as PaymentRecord
  t.equal(recallObstacle(record, MONDAY), null)
  t.equal(recallObstacle(record, Date.parse('2027-06-04T00:00:00Z')), null)
  t.match(recallObstacle(record, MONDAY + 397 * DAY), {
    slug: 'invalid-transition',
    extra: { currentStatus: 'completed', allowed: [] },
  })
  for (const rail of ['bacs', 'ach', 'fedwire', 'internal'] as const)
    t.ok(recallObstacle({ ...record, rail }, MONDAY), rail)
  for (const rail of ['sepa', 'sepa_instant', 'swift', 'target2', 'chaps', 'faster_payments'] as const)
    t.equal(recallObstacle({ ...record, rail }, MONDAY), null, rail)
  t.end()
})

import t from 'tap'

import { ManualClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { receiveCredit, suspend, type CreditFacts } from '../../../lib/incoming-payments/credit.ts'
import {
  incomingPaymentJson,
  suspenseItemJson,
  type IncomingRecord,
  type IncomingStatus,
} from '../../../lib/incoming-payments/incoming-payment.ts'
import * as moves from '../../../lib/incoming-payments/moves.ts'
import type { BalanceState } from '../../../lib/balances/balance.ts'
import type { Effects } from '../../../lib/decisions/effects.ts'

const NOW = Date.parse('2026-05-04T09:30:00.000Z')
const ids = createIdSource(new ManualClock(NOW))
const accounts = {
  nostro: ids.next(),
  unallocated: ids.next(),
  review_held: ids.next(),
  out_transit: ids.next(),
  inc_fee: ids.next(),
}
const context = { accounts, ids, now: NOW }

const balance = {
  id: ids.next(),
  customerId: ids.next(),
  operatorId: ids.next(),
  connectionId: ids.next(),
  shard: 7,
  currency: 'EUR',
  status: 'active',
  available: 500n,
  version: 3n,
  fees: [],
} as unknown as BalanceState

const credit: CreditFacts = {
  reference: ids.next(),
  amount: 1_200n,
  currency: 'EUR',
  payerName: 'Acme BV',
  payerIdentifier: 'NL77****0001',
  payerBankName: null,
  payerCountry: 'NL',
  remittance: 'Invoice',
  rail: 'sepa',
  endToEndId: null,
  uetr: null,
  valueDate: '2026-05-04',
}
const command = {
  kind: 'receive_credit' as const,
  key: { id: ids.next(), fingerprint: ids.next() },
  event: { id: ids.next(), type: 'account.credited' as const },
  connectionId: balance.connectionId,
  credit,
  hit: null,
  accounts,
  ids,
  seed: ids.next(),
}
const HIT = { provider: 'sandbox', findings: [], decides: { decision: 'released' as const, afterMs: 30_000 } }

function record(status: IncomingStatus, rest: Partial<IncomingRecord> = {}): IncomingRecord {
  return {
    id: credit.reference,
    customerId: balance.customerId,
    balanceId: balance.id,
    operatorId: balance.operatorId,
    connectionId: balance.connectionId,
    shard: 7,
    status,
    version: 1,
    currency: 'EUR',
    amount: 1_200n,
    payerName: 'Acme BV',
    payerIdentifier: null,
    payerBankName: null,
    payerCountry: null,
    reference: 'Invoice',
    rail: 'sepa',
    endToEndId: null,
    uetr: null,
    fundsRequestId: null,
    valueDate: '2026-05-04',
    creditedAt: status === 'received' ? NOW : null,
    receivedAt: NOW,
    suspense: null,
    suspenseReason: null,
    decidedBy: null,
    decidedAt: null,
    decisionReason: null,
    recall: null,
    recallHoldId: null,
    returnedAmount: null,
    returnReason: null,
    returnState: null,
    ...rest,
  }
}

const lost = record('unallocated', {
  customerId: null,
  balanceId: null,
  suspense: 'open',
  suspenseReason: 'owner_unknown',
})
const rulesOf = ({ postings = [] }: Effects) =>
  postings.map(({ rule, amount, sourceObject, customerId }) => [rule, amount, sourceObject, customerId])
const typesOf = ({ events = [] }: Effects) => events.map(({ type }) => type)

t.test('a credit stays at the connection on which it arrived, when its balance has moved to another', (t) => {
  const connectionId = ids.next()
  const { effects } = receiveCredit(balance, { ...command, connectionId }, NOW)
  t.match(effects.incomingPayments, [{ connectionId, balanceId: balance.id }])
  t.match(effects.providerEvents, [{ connectionId }])
  t.end()
})

t.test('a credit comes to a balance that takes it', (t) => {
  for (const status of ['active', 'frozen'] as const) {
    const { state, reply, effects, ...rest } = receiveCredit({ ...balance, status }, command, NOW)
    t.strictSame(reply, { kind: 'credit_received', status: 'received' })
    t.equal(state.available, 1_700n)
    t.notOk('refused' in rest)
    t.strictSame(rulesOf(effects), [['L01', 1_200n, 'incoming_payment', balance.customerId]])
    t.strictSame(effects.postings![0]!.credit, { kind: 'balance', id: balance.id, fence: 'own_turn' })
    t.strictSame(typesOf(effects), ['incoming_payment.received'])
    t.match(effects.incomingPayments, [
      {
        id: credit.reference,
        status: 'received',
        customerId: balance.customerId,
        balanceId: balance.id,
        creditedAt: NOW,
        suspense: null,
        reference: 'Invoice',
      },
    ])
    t.match(effects.providerEvents, [{ id: command.event.id, type: 'account.credited', objectId: credit.reference }])
    t.match(effects.idempotency, command.key)
  }
  t.end()
})

t.test('one whose payer was found on a list is not seen', (t) => {
  const { state, effects } = receiveCredit(balance, { ...command, hit: HIT }, NOW)
  t.equal(state.available, 500n)
  t.strictSame(rulesOf(effects), [['L05', 1_200n, 'incoming_payment', balance.customerId]])
  t.strictSame(effects.postings![0]!.credit, { kind: 'internal', id: accounts.review_held })
  t.strictSame(typesOf(effects), ['compliance_hold.created'])
  t.match(effects.incomingPayments, [{ status: 'under_review', creditedAt: null }])
  t.match(effects.complianceHolds, [
    {
      kind: 'inbound_screening',
      subjectType: 'incoming_payment',
      subjectId: credit.reference,
      counterparty: 'Acme BV',
      decides: { decision: 'released', at: NOW + 30_000 },
    },
  ])
  t.end()
})

t.test("one that a balance does not take is nobody's, and looked at again before that is said", (t) => {
  for (const [refusing, given, reason] of [
    [{ ...balance, status: 'closed' as const }, credit, 'balance_closed'],
    [{ ...balance, status: 'closing' as const }, credit, 'balance_closed'],
    [balance, { ...credit, currency: 'GBP' }, 'currency_mismatch'],
  ] as const) {
    const { state, reply, effects, ...rest } = receiveCredit(refusing, { ...command, credit: given, hit: HIT }, NOW)
    t.match(rest, { refused: true })
    t.equal(reply.status, 'unallocated')
    t.equal(state, refusing)
    t.strictSame(rulesOf(effects), [['L03', 1_200n, 'incoming_suspense', balance.operatorId]])
    t.match(effects.incomingPayments, [{ customerId: null, balanceId: null, suspense: 'open', suspenseReason: reason }])
    t.equal(effects.events, undefined)
  }
  t.throws(() => receiveCredit(null, command, NOW))
  t.strictSame(rulesOf(suspend({ ...balance, balanceId: null, customerId: null }, 'owner_unknown', command, NOW)), [
    ['L03', 1_200n, 'incoming_suspense', balance.operatorId],
  ])
  t.end()
})

t.test('each move is made from its own status only', (t) => {
  const from = {
    allocate: 'unallocated',
    give_back: 'unallocated',
    release: 'under_review',
    block: 'under_review',
    recall: 'received',
  } as const
  for (const [name, allowed] of Object.entries(from) as [moves.IncomingMoveName, IncomingStatus][]) {
    for (const status of ['unallocated', 'under_review', 'received', 'returned'] as const) {
      const problem = moves.mayMove({ status }, name)
      if (status === allowed) t.equal(problem, null, `${name} from ${status}`)
      else
        t.match(
          problem,
          { slug: 'invalid-transition', extra: { currentStatus: status, allowed: [allowed] } },
          `${name} from ${status}`,
        )
    }
  }
  t.end()
})

t.test('what each move writes', (t) => {
  const owner = { customerId: ids.next(), balanceId: ids.next(), shard: 9 }
  const by = ids.next()
  const recall = {
    status: 'requested',
    reasonCode: 'DUPL',
    amount: '800',
    caseId: ids.next(),
    requestedAt: '2026-05-04T09:30:00.000Z',
    decidedAt: null,
    rejectionCode: null,
  } as const
  const holdId = ids.next()
  const back = { status: 'returned', returnState: 'due' }
  for (const [name, { effects, change }, rules, events, changed] of [
    [
      'allocate',
      moves.allocate(lost, { ...owner, by, reason: 'Found', fee: 0n }, context),
      [['L04', 1_200n, 'incoming_payment', owner.customerId]],
      ['incoming_payment.received'],
      { status: 'received', ...owner, creditedAt: NOW, suspense: 'allocated', decidedBy: by },
    ],
    [
      'give back',
      moves.giveBack(lost, { by, reason: 'Lost', reasonCode: 'AC01' }, context),
      [['L08', 1_200n, 'incoming_suspense', balance.operatorId]],
      [],
      { ...back, returnedAmount: 1_200n, returnReason: 'AC01', suspense: 'returned' },
    ],
    [
      'release',
      moves.release(record('under_review'), 0n, context),
      [['L06', 1_200n, 'incoming_payment', balance.customerId]],
      ['incoming_payment.received'],
      { status: 'received', creditedAt: NOW },
    ],
    [
      'release what is charged for',
      moves.release(record('under_review'), 50n, context),
      [
        ['L06', 1_200n, 'incoming_payment', balance.customerId],
        ['L02', 50n, 'incoming_payment', balance.customerId],
      ],
      ['incoming_payment.received'],
      { status: 'received' },
    ],
    [
      'block',
      moves.block(record('under_review'), context),
      [['L07', 1_200n, 'incoming_payment', balance.customerId]],
      [],
      { ...back, returnedAmount: 1_200n },
    ],
    [
      'accept a recall',
      moves.acceptRecall(record('received', { recall, recallHoldId: holdId }), holdId, context),
      [['L80', 800n, 'incoming_payment', balance.customerId]],
      ['incoming_payment.returned'],
      { ...back, returnedAmount: 800n, returnReason: 'DUPL', recall: { status: 'accepted' } },
    ],
    [
      'reject a recall',
      moves.rejectRecall(record('received', { recall, recallHoldId: holdId }), 'CUST', context),
      [],
      [],
      { recall: { status: 'rejected', rejectionCode: 'CUST' } },
    ],
    [
      'settle',
      moves.settleReturn(record('returned', { returnedAmount: 800n }), context),
      [['L11', 800n, 'incoming_payment', balance.customerId]],
      [],
      { returnState: 'settled' },
    ],
    [
      "settle what was nobody's",
      moves.settleReturn({ ...lost, returnedAmount: 1_200n }, context),
      [['L11', 1_200n, 'incoming_suspense', balance.operatorId]],
      [],
      { returnState: 'settled' },
    ],
  ] as const) {
    t.strictSame(rulesOf(effects), rules, name)
    t.strictSame(typesOf(effects), events, `${name}: events`)
    t.match(change, changed, `${name}: what changes`)
  }
  const held = record('received', { recall, recallHoldId: holdId })
  t.match(moves.acceptRecall(held, holdId, context).effects.holdResolutions, [
    { id: holdId, amount: 800n, status: 'captured', capturedAmount: 800n },
  ])
  t.match(moves.rejectRecall(held, 'CUST', context).effects.holdResolutions, [
    { id: holdId, amount: 800n, status: 'released' },
  ])
  t.equal(
    moves.rejectRecall({ ...held, recallHoldId: null }, 'AM04', context).effects.holdResolutions,
    undefined,
    'nothing was set aside',
  )
  const opened = moves.openRecall(
    record('received'),
    { caseId: recall.caseId, amount: 800n, reasonCode: 'FRAD', holdId },
    context,
  )
  t.match(opened.effects.complianceHolds, [
    { id: recall.caseId, kind: 'inbound_recall', amount: 800n, subjectId: credit.reference },
  ])
  t.match(opened.change, {
    recall: { status: 'requested', amount: '800', caseId: recall.caseId },
    recallHoldId: holdId,
  })
  t.throws(() => moves.acceptRecall(record('received'), holdId, context))
  t.throws(() => moves.rejectRecall(record('received'), 'CUST', context))
  t.end()
})

t.test('what is shown', (t) => {
  const recall = {
    status: 'requested',
    reasonCode: 'DUPL',
    amount: '800',
    caseId: ids.next(),
    requestedAt: '2026-05-04T09:30:00.000Z',
    decidedAt: null,
    rejectionCode: null,
  } as const
  t.strictSame(
    incomingPaymentJson(record('received', { recall })).recall,
    { status: 'requested', reasonCode: 'DUPL', requestedAt: recall.requestedAt, decidedAt: null },
    "no case of the operator's",
  )
  t.match(suspenseItemJson(lost), {
    status: 'open',
    reason: 'owner_unknown',
    customerId: null,
    incomingPaymentId: null,
    returnReasonCode: null,
  })
  t.match(suspenseItemJson(record('received', { suspense: 'allocated' })), {
    status: 'allocated',
    incomingPaymentId: credit.reference,
    customerId: balance.customerId,
  })
  t.end()
})

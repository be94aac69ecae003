import fc from 'fast-check'
import t from 'tap'
import type { Effects } from '../../../lib/decisions/effects.ts'
import { failureFor } from '../../../lib/rails/failure-codes.ts'
import { movePayment } from '../../../lib/payments/payment-moves.ts'
import type { PaymentMoveContext, PaymentCommand, PaymentState } from '../../../lib/payments/payment-state.ts'
import type { PaymentStatus } from '../../../lib/payments/payment.ts'
import { ids, MONDAY } from '../../support/commands.ts'

const ACCOUNTS = { nostro: 'nostro', out_transit: 'out_transit', inc_fee: 'inc_fee', fee_tax: 'fee_tax' }
const context: PaymentMoveContext = { accounts: ACCOUNTS, ids, valueDate: '2026-05-04' }
const event = { id: ids.next(), type: 'settled' as const }

const reason = { code: 'cancelled_by_user', message: 'The payment was cancelled.' }
const COMMANDS: { readonly [name: string]: PaymentCommand } = {
  approve: { kind: 'approve', context },
  reject: {
    kind: 'withdraw',
    from: 'pending_approval',
    withdrawal: { status: 'rejected', reason, by: 'member' },
    context,
  },
  cancel: { kind: 'withdraw', from: 'processing', withdrawal: { status: 'cancelled', reason, by: 'member' }, context },
  hand_over: { kind: 'hand_over', context },
  settled: { kind: 'settled', context, schemeCode: null, event },
  rejected: { kind: 'rejected', context, schemeCode: 'AC04', event },
  refused: { kind: 'refused', context, schemeCode: 'TECH' },
  timeout: { kind: 'timeout', context, askAgainAt: MONDAY + 5_000 },
  still_unknown: { kind: 'still_unknown', askAgainAt: MONDAY + 9_000 },
  unclear: { kind: 'unclear', context, askAgainAt: MONDAY + 5_000, event },
  accepted: { kind: 'accepted', context, event },
  returned: { kind: 'returned', context, amount: 60n, schemeCode: 'AC04', event },
  hold: {
    kind: 'hold',
    hit: { provider: 'list', findings: [{ list: 'L', name: 'N', score: 88 }], decides: null },
    context,
  },
  release: { kind: 'release', context },
  block: { kind: 'block', freezeFunds: false, context },
}

function payment(overrides: Partial<PaymentState> = {}): PaymentState {
  const balanceId = overrides.sourceBalanceId ?? ids.next()
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

/** In which place of its life a payment is, by the name the table gives it. */
const PLACES: { readonly [name: string]: Partial<PaymentState> | null } = {
  none: null,
  queued: { status: 'processing', sent: false },
  submitted: { status: 'processing', sent: true },
  exception: { status: 'exception', sent: true },
  completed: { status: 'completed', sent: true },
  failed: { status: 'failed', sent: true },
  ...Object.fromEntries(
    (['draft', 'pending_approval', 'scheduled', 'on_hold', 'rejected', 'cancelled'] satisfies PaymentStatus[]).map(
      (status) => [status, { status, sent: false }],
    ),
  ),
  returned: { status: 'returned', sent: true },
}

// The effect of each command in each place: the new status and the rule that is posted. A dot: no effect.
const TABLE = `
                    approve       reject      cancel       hand_over       settled        rejected    refused     timeout     still_unknown  unclear      accepted      returned          hold       release       block
  none              .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .
  draft             .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .
  pending_approval  processing/-  rejected/-  .            .               .              .           .           .           .              .            .             .                 .          .             .
  scheduled         .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .
  on_hold           .             .           .            .               .              .           .           .           .              .            .             .                 .          processing/-  failed/-
  queued            .             .           cancelled/-  processing/L10  .              .           .           .           .              .            .             .                 on_hold/-  .             .
  submitted         .             .           .            .               completed/L11  failed/L12  failed/L12  exception/- .              exception/-  .             returned/L11+L13  .          .             .
  exception         .             .           .            .               completed/L11  failed/L12  .           .           exception/-    .            processing/-  returned/L11+L13  .          .             .
  completed         .             .           .            .               .              .           .           .           .              .            .             returned/L13      .          .             .
  failed            .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .
  returned          .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .
  rejected          .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .
  cancelled         .             .           .            .               .              .           .           .           .              .            .             .                 .          .             .`

const [names = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const CASES = rows.flatMap(([place = '', ...cells]) =>
  cells.map((expected, nth) => ({ place, name: names[nth] as string, expected })),
)

const netOf = (effects: Effects | null, account: string): bigint =>
  (effects?.postings ?? []).reduce(
    (net, { debit, credit, amount }) =>
      net + (credit.id === account ? amount : 0n) - (debit.id === account ? amount : 0n),
    0n,
  )

t.test('the table knows every place and every command', (t) => {
  t.strictSame(rows.map(([place]) => place).sort(), Object.keys(PLACES).sort())
  t.strictSame(names, Object.keys(COMMANDS))
  t.end()
})

t.test('each command moves a payment exactly where the table says, by the rule it says', (t) => {
  for (const { place, name, expected } of CASES) {
    const placed = PLACES[place]
    const state = placed === null || placed === undefined ? null : Object.freeze(payment(placed))
    const { state: after, reply, effects, refused = false } = movePayment(state, COMMANDS[name]!, MONDAY)
    const label = `${place} ${name}`
    t.equal(refused, expected === '.', `${label}: nothing is ignored for good before the state was read again (I4)`)
    if (expected === '.') {
      t.strictSame(
        { after, effects, reply },
        { after: state, effects: null, reply: { kind: 'ignored', status: state?.status ?? null } },
        `${label} changes nothing`,
      )
      continue
    }
    const [status, rule] = expected.split('/')
    t.equal(after?.status, status, `${label} goes to ${status}`)
    t.match(reply, { kind: 'moved', state: after! }, `${label} is a move`)
    t.strictSame(
      [...new Set(effects?.postings?.map((posting) => posting.rule))],
      rule === '-' ? [] : rule!.split('+'),
      `${label} posts ${rule}`,
    )
  }
  t.end()
})

t.test('a move changes the version by one and says so once, in the row and in its history', (t) => {
  for (const { place, name, expected } of CASES) {
    if (expected === '.' || name === 'still_unknown') continue
    const state = payment(PLACES[place]!)
    const { state: after, effects } = movePayment(state, COMMANDS[name]!, MONDAY)
    const label = `${place} ${name}`
    t.equal(after?.version, state.version + 1, label)
    const changes = [...(effects?.paymentChanges ?? []), ...(effects?.paymentDecisions ?? [])]
    t.match(
      changes,
      [{ id: state.id, version: state.version, status: after!.status, updatedAt: MONDAY }],
      `${label}: fenced by the version it was decided on`,
    )
    t.match(
      effects?.statusUpdates,
      [
        {
          objectId: state.id,
          version: state.version + 1,
          status: after!.status,
          previousStatus: state.status,
          at: MONDAY,
        },
      ],
      label,
    )
    t.equal(changes.length, 1, label)
    t.equal(effects?.statusUpdates?.length, 1, label)
  }
  t.end()
})

t.test('a change of status has exactly one status_changed, and an end has its own event beside it', (t) => {
  const told = (place: string, name: string) =>
    movePayment(payment(PLACES[place]!), COMMANDS[name]!, MONDAY).effects?.events?.map(({ type }) => type) ?? []
  t.strictSame(told('queued', 'hand_over'), [], 'processing stays processing')
  t.strictSame(told('submitted', 'settled'), ['payment.status_changed', 'payment.completed'])
  t.strictSame(told('exception', 'settled'), ['payment.status_changed', 'payment.completed'])
  t.strictSame(told('submitted', 'rejected'), ['payment.status_changed', 'payment.failed'])
  t.strictSame(told('exception', 'rejected'), ['payment.status_changed', 'payment.failed'])
  t.strictSame(told('submitted', 'refused'), ['payment.status_changed', 'payment.failed'])
  t.strictSame(told('submitted', 'timeout'), ['payment.status_changed'])
  t.strictSame(told('completed', 'returned'), ['payment.status_changed', 'payment.returned'])
  t.strictSame(
    told('submitted', 'returned'),
    ['payment.status_changed', 'payment.returned'],
    'nobody is told of a completion that nobody confirmed',
  )
  t.strictSame(told('exception', 'still_unknown'), [], 'nothing changed')
  t.strictSame(told('pending_approval', 'approve'), ['payment.status_changed'])
  t.strictSame(
    told('pending_approval', 'reject'),
    ['payment.status_changed'],
    'rejected and cancelled have no event of their own',
  )
  t.strictSame(told('queued', 'cancel'), ['payment.status_changed'])
  const { effects } = movePayment(payment({ sent: true }), COMMANDS['settled']!, MONDAY)
  t.equal(new Set(effects?.events?.map(({ id }) => id)).size, 2, 'each event has an id of its own')
  t.match(effects?.events, [
    { status: 'completed', previousStatus: 'processing' },
    { status: 'completed', previousStatus: 'processing' },
  ])
  t.end()
})

t.test('an approval takes a place in the queue and keeps the hold; a withdrawal leaves both', (t) => {
  const waiting = payment({ status: 'pending_approval' })
  const approved = movePayment(waiting, COMMANDS['approve']!, MONDAY).effects
  t.strictSame(approved?.instructions, [{ paymentId: waiting.id, shard: waiting.shard }])
  t.equal(approved?.holdResolutions, undefined)
  t.match(approved?.paymentDecisions, [{ approvedAt: MONDAY, cancelledAt: null, statusReason: null }])
  const released = (state: PaymentState) => [
    {
      id: state.holdId,
      balanceId: state.sourceBalanceId,
      amount: 125n,
      status: 'released',
      capturedAmount: null,
      resolvedAt: MONDAY,
    },
  ]
  const rejected = movePayment(waiting, COMMANDS['reject']!, MONDAY).effects
  t.strictSame(rejected?.holdResolutions, released(waiting))
  t.equal(rejected?.instructionsDone, undefined, 'it had no place in the queue')
  t.match(rejected?.paymentDecisions, [{ approvedAt: null, cancelledAt: null, statusReason: JSON.stringify(reason) }])
  const queued = payment()
  const cancelled = movePayment(queued, COMMANDS['cancel']!, MONDAY).effects
  t.strictSame(cancelled?.holdResolutions, released(queued))
  t.strictSame(cancelled?.instructionsDone, [queued.id])
  t.match(cancelled?.paymentDecisions, [{ cancelledAt: MONDAY }])
  t.end()
})

t.test('the hand-over captures the whole hold and leaves what is available as it was', (t) => {
  const state = payment()
  const { effects } = movePayment(state, COMMANDS['hand_over']!, MONDAY)
  t.strictSame(effects?.holdResolutions, [
    {
      id: state.holdId,
      balanceId: state.sourceBalanceId,
      amount: 125n,
      status: 'captured',
      capturedAmount: 125n,
      resolvedAt: MONDAY,
    },
  ])
  t.equal(netOf(effects, state.sourceBalanceId), -125n, 'posted falls by what held falls by')
  t.equal(netOf(effects, 'out_transit'), 100n)
  t.equal(netOf(effects, 'inc_fee'), 25n)
  t.match(effects?.paymentChanges, [{ sentAt: MONDAY }])
  t.end()
})

t.test('the tax within a fee goes with it: taken, given back by a rejection, and by a return that refunds', (t) => {
  const taxed = { charges: { feeTax: '5', feeRefundable: true as const } }
  const taken = movePayment(payment(taxed), COMMANDS['hand_over']!, MONDAY).effects
  t.strictSame([netOf(taken, 'inc_fee'), netOf(taken, 'fee_tax'), netOf(taken, 'out_transit')], [20n, 5n, 100n])
  t.match(
    taken?.postings?.map(({ description }) => description),
    ['Payment PAY0000000001', 'Payment PAY0000000001', 'Payment PAY0000000001, tax in the fee'],
  )
  const back = movePayment(payment({ ...taxed, sent: true }), COMMANDS['rejected']!, MONDAY).effects
  t.strictSame([netOf(back, 'inc_fee'), netOf(back, 'fee_tax'), netOf(back, 'out_transit')], [-20n, -5n, -100n])
  const returned = movePayment(
    payment({ ...taxed, sent: true, status: 'completed' }),
    COMMANDS['returned']!,
    MONDAY,
  ).effects
  t.strictSame([netOf(returned, 'inc_fee'), netOf(returned, 'fee_tax')], [-20n, -5n])
  t.end()
})

t.test('only the hand-over, a withdrawal and a review touch the hold', (t) => {
  for (const { place, name, expected } of CASES) {
    if (expected === '.' || ['hand_over', 'reject', 'cancel', 'hold', 'release', 'block'].includes(name)) continue
    const { effects } = movePayment(payment(PLACES[place]!), COMMANDS[name]!, MONDAY)
    t.equal(effects?.holdResolutions, undefined, `${place} ${name}`)
    t.equal(effects?.holds, undefined, `${place} ${name}`)
  }
  t.end()
})

t.test('a review replaces the hold by one of the same amount that names nothing but itself, and back', (t) => {
  const queued = payment()
  const held = movePayment(queued, COMMANDS['hold']!, MONDAY)
  const review = held.state!.holdId as string
  t.not(review, queued.holdId)
  t.strictSame(held.effects?.holds, [
    {
      id: review,
      balanceId: queued.sourceBalanceId,
      customerId: queued.customerId,
      amount: 125n,
      subjectType: 'payment_review',
      subjectId: review,
      description: 'Payment under review',
      createdAt: MONDAY,
    },
  ])
  t.match(held.effects?.holdResolutions, [{ id: queued.holdId, status: 'released', amount: 125n }])
  t.match(held.effects?.paymentDecisions, [{ status: 'on_hold', holdId: review }])
  t.strictSame(held.effects?.instructionsDone, [queued.id])
  t.match(held.effects?.complianceHolds, [
    {
      kind: 'outbound_screening',
      provider: 'list',
      subjectType: 'payment',
      subjectId: queued.id,
      amount: 100n,
      decides: null,
    },
  ])
  t.match(held.effects?.exceptions, [{ kind: 'compliance_hold', subjectType: 'payment', subjectId: queued.id }])
  t.strictSame(
    held.effects?.events?.map(({ type }) => type),
    ['payment.status_changed', 'compliance_hold.created'],
  )
  const released = movePayment(held.state, COMMANDS['release']!, MONDAY)
  t.match(released.effects?.holds, [{ subjectType: 'payment', subjectId: queued.id, amount: 125n }])
  t.match(released.effects?.holdResolutions, [{ id: review, status: 'released', amount: 125n }])
  t.strictSame(released.effects?.instructions, [{ paymentId: queued.id, shard: queued.shard }])
  const blocked = movePayment(held.state, COMMANDS['block']!, MONDAY)
  t.match(blocked.effects?.holdResolutions, [{ id: review, status: 'released', amount: 125n }])
  t.equal(blocked.effects?.holds, undefined)
  t.match(JSON.parse(blocked.effects?.paymentDecisions?.[0]?.failure ?? ''), {
    code: 'declined',
    scheme: null,
    schemeCode: null,
  })
  const frozen = movePayment(held.state, { ...COMMANDS['block'], freezeFunds: true } as PaymentCommand, MONDAY)
  t.match(frozen.effects?.holds, [{ subjectType: 'legal_order', amount: 125n }])
  t.equal(frozen.effects?.holds?.[0]?.subjectId, frozen.effects?.holds?.[0]?.id)
  t.equal(frozen.state?.holdId, review, "what is frozen is no longer the payment's")
  for (const { effects } of [held, released, blocked, frozen]) {
    t.notMatch(JSON.stringify(effects?.statusUpdates), /complian|screen|sanction/i, 'what customers read is neutral')
  }
  t.end()
})

t.test('a settlement takes the money out of transit and keeps the fee', (t) => {
  const state = payment({ sent: true })
  const { effects } = movePayment(state, COMMANDS['settled']!, MONDAY)
  t.equal(netOf(effects, state.sourceBalanceId), 0n)
  t.equal(netOf(effects, 'out_transit'), -100n)
  t.equal(netOf(effects, 'nostro'), 100n)
  t.match(effects?.paymentChanges, [{ completedAt: MONDAY, failure: null }])
  t.strictSame(effects?.instructionsDone, [state.id])
  t.end()
})

t.test('a failure gives everything back, fee included, and links the entry that it takes back', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 15n),
      fc.bigInt(0n, 10n ** 6n),
      fc.constantFrom('rejected', 'refused'),
      (amount, fee, name) => {
        const state = payment({ amount, fee })
        const sent = movePayment(state, COMMANDS['hand_over']!, MONDAY)
        const failed = movePayment(sent.state, COMMANDS[name]!, MONDAY + 1)
        for (const account of [state.sourceBalanceId, 'out_transit', 'inc_fee', 'nostro']) {
          t.equal(netOf(sent.effects, account) + netOf(failed.effects, account), 0n)
        }
        const entries = new Set(sent.effects?.postings?.map(({ entryId }) => entryId))
        t.equal(entries.size, 1, 'L10 is one entry')
        t.strictSame(
          new Set(failed.effects?.postings?.map(({ reversalOf }) => reversalOf)),
          entries,
          'and L12 names it',
        )
        t.notOk(entries.has(failed.effects?.postings?.[0]?.entryId as string), 'as an entry of its own')
        t.ok(sent.effects?.postings?.every(({ reversalOf }) => reversalOf === null))
      },
    ),
    { numRuns: 50 },
  )
  t.end()
})

t.test('a process that never saw the hand-over links the same entry', (t) => {
  const state = payment()
  const { effects: handedOver } = movePayment(state, COMMANDS['hand_over']!, MONDAY)
  const { effects: failed } = movePayment(
    { ...state, sent: true, version: 5 },
    COMMANDS['rejected']!,
    MONDAY + 86_400_000,
  )
  t.equal(failed?.postings?.[0]?.reversalOf, handedOver?.postings?.[0]?.entryId)
  t.not(
    movePayment(payment(), COMMANDS['hand_over']!, MONDAY).effects?.postings?.[0]?.entryId,
    handedOver?.postings?.[0]?.entryId,
    'which no other payment has',
  )
  t.end()
})

t.test('a failure says in our words what the scheme said', (t) => {
  const failureOf = (name: string) =>
    JSON.parse(
      movePayment(payment({ sent: true }), COMMANDS[name]!, MONDAY).effects?.paymentChanges?.[0]?.failure ?? 'null',
    )
  t.match(failureOf('rejected'), { ...failureFor('AC04'), at: '2026-05-04T09:30:00.000Z', code: 'account_closed' })
  t.match(failureOf('refused'), { code: 'technical_error', schemeCode: 'TECH' })
  const silent = movePayment(
    payment({ sent: true }),
    { kind: 'rejected', context, schemeCode: null, event: null },
    MONDAY,
  )
  t.match(
    JSON.parse(silent.effects?.paymentChanges?.[0]?.failure ?? ''),
    { code: 'refused_by_recipient_bank', schemeCode: 'NARR' },
    'also when it said nothing',
  )
  t.end()
})

t.test('an unknown outcome posts nothing, stays instructed and says when to ask', (t) => {
  const state = payment({ sent: true })
  const { effects } = movePayment(state, COMMANDS['timeout']!, MONDAY)
  t.equal(effects?.postings, undefined)
  t.equal(effects?.instructionsDone, undefined)
  t.strictSame(effects?.attention, [{ paymentId: state.id, attentionAt: MONDAY + 5_000 }])
  t.match(JSON.parse(effects?.paymentChanges?.[0]?.exception ?? ''), {
    kind: 'provider_timeout',
    since: '2026-05-04T09:30:00.000Z',
  })
  const again = movePayment(payment({ status: 'exception', sent: true }), COMMANDS['still_unknown']!, MONDAY)
  t.strictSame(Object.keys(again.effects ?? {}), ['attention'], 'asked and still unknown: only when to ask next')
  t.end()
})

t.test('the message of the partner is logged with the move that it caused, once', (t) => {
  const state = payment({ sent: true })
  t.match(movePayment(state, COMMANDS['settled']!, MONDAY).effects?.providerEvents, [
    { id: event.id, type: 'settled', objectId: state.id, connectionId: state.connectionId },
  ])
  t.match(movePayment(state, COMMANDS['rejected']!, MONDAY).effects?.providerEvents, [{ id: event.id, code: 'AC04' }])
  t.equal(
    movePayment(state, { ...COMMANDS['settled'], event: null } as PaymentCommand, MONDAY).effects?.providerEvents,
    undefined,
    'an answer to our own question is no message',
  )
  t.equal(movePayment({ ...state, status: 'completed' }, COMMANDS['settled']!, MONDAY).effects, null)
  t.end()
})

t.test('what comes back is never more than what was sent, and is shown with the reason it came back for', (t) => {
  const state = payment({ status: 'completed', sent: true })
  const returned = (overrides: Partial<Extract<PaymentCommand, { kind: 'returned' }>>) =>
    movePayment(state, { ...COMMANDS['returned'], ...overrides } as PaymentCommand, MONDAY)
  for (const amount of [101n, 0n, -1n]) t.equal(returned({ amount }).effects, null, `${amount} of 100 changes nothing`)
  const [change] = returned({}).effects?.paymentDecisions ?? []
  t.equal(change?.returnedAmount, 60n)
  t.strictSame(JSON.parse(change?.statusReason ?? ''), { code: 'account_closed', message: failureFor('AC04').message })
  t.strictSame(JSON.parse(change?.returnInfo ?? ''), {
    amountMinor: '60',
    reasonCode: 'AC04',
    reason: failureFor('AC04').message,
    receivedAt: new Date(MONDAY).toISOString(),
  })
  const [unknown] = returned({ schemeCode: 'XX99' }).effects?.paymentDecisions ?? []
  t.strictSame(JSON.parse(unknown?.statusReason ?? ''), { code: 'unknown', message: 'The reason is not known.' })
  t.match(JSON.parse(unknown?.returnInfo ?? ''), { reasonCode: 'XX99' }, 'a code that nobody knows is kept')
  t.end()
})

t.test('money that comes back answers the recall that waited for it', (t) => {
  const recall = {
    status: 'requested' as const,
    reasonCode: 'DUPL',
    note: 'Paid twice by mistake.',
    requestedAt: '2026-05-01T08:00:00.000Z',
    sentAt: null,
    decidedAt: null,
    response: null,
    expiresAt: '2026-05-25T08:00:00.000Z',
  }
  const command = { ...COMMANDS['returned'], schemeCode: 'FOCR' } as PaymentCommand
  const { effects } = movePayment(payment({ status: 'completed', sent: true, recall }), command, MONDAY)
  t.match(JSON.parse(effects?.paymentDecisions?.[0]?.recall ?? ''), {
    status: 'accepted',
    response: 'FOCR',
    decidedAt: new Date(MONDAY).toISOString(),
  })
  t.equal(effects?.paymentDecisions?.[0]?.recallDueAt, null)
  t.match(
    effects?.events?.map(({ type, status }) => [type, status]),
    [
      ['payment.status_changed', 'returned'],
      ['payment.returned', 'returned'],
      ['payment.recall_updated', 'accepted'],
    ],
  )
  const decided = movePayment(
    payment({ status: 'completed', sent: true, recall: { ...recall, status: 'rejected' } }),
    command,
    MONDAY,
  ).effects
  t.equal(decided?.paymentDecisions?.[0]?.recall, undefined, 'one that was answered keeps its answer')
  t.equal(decided?.events?.length, 2)
  t.end()
})

t.test(
  'in whatever order and however often messages come, a payment ends once and its money agrees with its status',
  (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...Object.keys(COMMANDS)), { maxLength: 30 }),
        fc.boolean(),
        (order, waits) => {
          let state: PaymentState | null = payment(waits ? { status: 'pending_approval' } : {})
          const nets = { source: 0n, transit: 0n, fee: 0n, nostro: 0n }
          // Instructions less resolutions: a payment that did not wait for people is instructed from the start.
          let instructed = waits ? 0 : 1
          let resolved = 0
          let exceptions = 0
          for (const name of order) {
            const { state: after, effects } = movePayment(state, COMMANDS[name]!, MONDAY)
            nets.source += netOf(effects, state!.sourceBalanceId)
            nets.transit += netOf(effects, 'out_transit')
            nets.fee += netOf(effects, 'inc_fee')
            nets.nostro += netOf(effects, 'nostro')
            instructed += (effects?.instructions?.length ?? 0) - (effects?.instructionsDone?.length ?? 0)
            resolved += (effects?.holdResolutions?.length ?? 0) - (effects?.holds?.length ?? 0)
            exceptions += (effects?.exceptions?.length ?? 0) - (effects?.exceptionEnds?.length ?? 0)
            state = after
          }
          const { status, sent } = state!
          const expected = !sent
            ? { source: 0n, transit: 0n, fee: 0n, nostro: 0n }
            : status === 'completed'
              ? { source: -125n, transit: 0n, fee: 25n, nostro: 100n }
              : status === 'failed'
                ? { source: 0n, transit: 0n, fee: 0n, nostro: 0n }
                : // Of 100 there came back 60.
                  status === 'returned'
                  ? { source: -65n, transit: 0n, fee: 25n, nostro: 40n }
                  : { source: -125n, transit: 100n, fee: 25n, nostro: 0n }
          t.strictSame(nets, expected, `${status} after ${order.join(' ')}`)
          t.equal(instructed, status === 'processing' || status === 'exception' ? 1 : 0)
          t.equal(
            resolved,
            sent || status === 'rejected' || status === 'cancelled' || status === 'failed' ? 1 : 0,
            'a hold ends once',
          )
          t.equal(
            exceptions,
            status === 'exception' || status === 'on_hold' ? 1 : 0,
            'somebody looks into it exactly while somebody has to',
          )
        },
      ),
      { numRuns: 300 },
    )
    t.end()
  },
)

const TO = { connectionId: ids.next(), accounts: { out_transit: 'other' }, routing: '{"ruleId":null}', occurrence: 2 }

t.test(
  'another connection takes a payment that is queued, or that was refused before its acceptance, and no other',
  (t) => {
    for (const [place, overrides] of Object.entries(PLACES)) {
      for (const afterRefusal of [false, true]) {
        const state = overrides === null ? null : payment(overrides)
        const command: PaymentCommand = { kind: 'reroute', to: { ...TO, afterRefusal }, context }
        const { reply, effects, state: after } = movePayment(state, command, MONDAY)
        const isMoved = place === (afterRefusal ? 'submitted' : 'queued')
        t.equal(reply.kind, isMoved ? 'moved' : 'ignored', `${place} ${afterRefusal}`)
        if (!isMoved || state === null) continue
        t.strictSame(after, { ...state, connectionId: TO.connectionId, version: state.version + 1 })
        t.match(effects, {
          paymentReroutes: [
            { id: state.id, version: 4, status: 'processing', connectionId: TO.connectionId, routing: TO.routing },
          ],
          statusUpdates: [
            { status: 'processing', previousStatus: 'processing', message: 'Payment sent through another bank.' },
          ],
        })
        t.strictSame(
          (effects?.postings ?? []).map(({ rule, occurrence, amount, debit, credit }) => [
            rule,
            occurrence,
            amount,
            debit.id,
            credit.id,
          ]),
          afterRefusal ? [['L21', 2, 100n, 'out_transit', 'other']] : [],
          'money in transit moves along; the fee and the balance do not',
        )
        t.equal(effects?.events, undefined)
      }
    }
    const internal = payment({ rail: 'internal' })
    t.equal(
      movePayment(internal, { kind: 'reroute', to: { ...TO, afterRefusal: false }, context }, MONDAY).reply.kind,
      'ignored',
    )
    t.end()
  },
)

t.test('a move that was made for a connection that the payment has left changes nothing', (t) => {
  for (const [name, command] of Object.entries(COMMANDS)) {
    if (!('context' in command) || !('accounts' in command.context)) continue
    for (const { place, expected } of CASES.filter((each) => each.name === name)) {
      const state = PLACES[place] == null ? null : payment(PLACES[place])
      const asked = (connectionId: string) => {
        const made = { ...command, context: { ...command.context, connectionId } } as PaymentCommand
        return movePayment(state, made, MONDAY)
      }
      t.equal(asked(ids.next()).reply.kind, 'ignored', `${name} of another connection, ${place}`)
      t.equal(asked(state?.connectionId ?? '').reply.kind, expected === '.' ? 'ignored' : 'moved', `${name}, ${place}`)
    }
  }
  t.end()
})

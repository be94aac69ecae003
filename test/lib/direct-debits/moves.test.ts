/** The tables of mandates and collections, row by row and refusal by refusal, in every scheme. */
import t from 'tap'
import {
  COLLECTION_MOVES,
  type CollectionMove,
  type CollectionMoveKind,
} from '../../../lib/direct-debits/collection-moves.ts'
import { COLLECTION_STATUSES, type CollectionStatus } from '../../../lib/direct-debits/collection.ts'
import { createCollection, createMandate, nextSequence } from '../../../lib/direct-debits/create-debits.ts'
import { decideCollection, decideMandate } from '../../../lib/direct-debits/debit-decision.ts'
import { MANDATE_MOVES, type MandateMove, type MandateMoveKind } from '../../../lib/direct-debits/mandate-moves.ts'
import { MANDATE_STATUSES, type MandateRecord, type MandateStatus } from '../../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../../lib/direct-debits/schemes.ts'
import { MANDATE_SCHEMES, type MandateScheme } from '../../../lib/rails/debit-schemes.ts'
import { collectionOf, CONTEXT, ids, mandateOf, NOW } from '../../support/debit-samples.ts'

const REASONLESS = { reason: null } as const

const MANDATE_MOVE: { readonly [Kind in MandateMoveKind]: MandateMove } = {
  sign: { kind: 'sign', signedAt: NOW },
  lodge: { kind: 'lodge', providerRef: 'REF' },
  activate: { kind: 'activate', providerRef: null, signedAt: null },
  fail: { kind: 'fail', ...REASONLESS },
  cancel: { kind: 'cancel', ...REASONLESS },
  payer_cancel: { kind: 'payer_cancel', ...REASONLESS },
  suspend: { kind: 'suspend', ...REASONLESS },
  reinstate: { kind: 'reinstate', ...REASONLESS },
  expire: { kind: 'expire' },
  consume: { kind: 'consume' },
  amend: { kind: 'amend', counterparty: { accountNumber: '87654321' }, ...REASONLESS },
}

/** The contract's table: trigger, states, next state. */
const MANDATE_ROWS: readonly (readonly [MandateMoveKind, readonly MandateStatus[], MandateStatus])[] = [
  ['sign', ['pending'], 'active'],
  ['lodge', ['pending'], 'submitted'],
  ['activate', ['submitted'], 'active'],
  ['fail', ['pending', 'submitted'], 'failed'],
  ['cancel', ['pending', 'submitted', 'active', 'suspended'], 'cancelled'],
  ['payer_cancel', ['active', 'suspended'], 'cancelled'],
  ['suspend', ['active'], 'suspended'],
  ['reinstate', ['suspended'], 'active'],
  ['expire', ['active'], 'expired'],
  ['consume', ['active'], 'consumed'],
  ['amend', ['active'], 'active'],
]

const CONTEXT_OF_MANDATE = { ids, by: 'member' } as const

/** Whether a mandate of a scheme is signed instead of lodged. */
const isSigned = (scheme: MandateScheme): boolean => DEBIT_SCHEMES[scheme].lodging.by === 'none'

t.test('each move of a mandate leads where the table says, and nowhere else, in every scheme', (t) => {
  t.strictSame(MANDATE_ROWS.map(([kind]) => kind).sort(), Object.keys(MANDATE_MOVES).sort())
  for (const scheme of MANDATE_SCHEMES)
    for (const [kind, from, to] of MANDATE_ROWS)
      for (const status of MANDATE_STATUSES) {
        const label = `${scheme}: ${status}, ${kind}`
        const mandate = mandateOf(scheme, { status })
        const command = {
          kind: 'move_mandate',
          move: MANDATE_MOVE[kind],
          pending: [],
          event: null,
          context: CONTEXT_OF_MANDATE,
        } as const
        const { reply, effects, state } = decideMandate(mandate, command, NOW)
        const allowed = from.includes(status) && (kind !== 'sign' || isSigned(scheme))
        if (!allowed) {
          t.equal(reply.kind, 'refused', label)
          t.equal(effects, null, `${label}: changes nothing`)
          continue
        }
        t.equal(state?.status, to, label)
        t.equal(effects?.mandateChanges?.length, 1, `${label}: its row`)
        t.strictSame(
          effects?.events?.map(({ type, status: after, previousStatus }) => [type, previousStatus, after]),
          to === status ? [] : [['mandate.status_changed', status, to]],
          `${label}: its event`,
        )
        t.equal(effects?.statusUpdates?.length, 1, `${label}: its update`)
      }
  t.end()
})

t.test('a cancellation by people waits for collections in clearing; one by the payer does not', (t) => {
  for (const scheme of MANDATE_SCHEMES) {
    const mandate = mandateOf(scheme, { status: 'active', submittedCount: 1 })
    const decide = (move: MandateMove) =>
      decideMandate(mandate, { kind: 'move_mandate', move, pending: [], event: null, context: CONTEXT_OF_MANDATE }, NOW)
    t.match(decide(MANDATE_MOVE.cancel).reply, { kind: 'refused', problem: { slug: 'not-cancellable' } }, scheme)
    t.equal(decide(MANDATE_MOVE.payer_cancel).state?.status, 'cancelled', scheme)
  }
  t.end()
})

t.test('pending collections end with their mandate, and a command that misses one is stale', (t) => {
  for (const [kind, status, ended] of [
    ['cancel', 'active', 'cancelled'],
    ['fail', 'submitted', 'failed'],
    ['expire', 'active', 'cancelled'],
    ['payer_cancel', 'suspended', 'cancelled'],
  ] as const) {
    const mandate = mandateOf('bacs_dd', { status, pendingCount: 1, presentedCount: 1 })
    const decide = (pending: readonly ReturnType<typeof collectionOf>[]) =>
      decideMandate(
        mandate,
        { kind: 'move_mandate', move: MANDATE_MOVE[kind], pending, event: null, context: CONTEXT_OF_MANDATE },
        NOW,
      )
    t.equal(decide([]).reply.kind, 'stale', kind)
    t.equal(decide([]).effects, null)
    const { effects, state } = decide([collectionOf('bacs_dd')])
    t.strictSame(
      effects?.collectionChanges?.map((change) => change.status),
      [ended],
      kind,
    )
    t.match(state, { pendingCount: 0, presentedCount: 0 })
    t.equal(effects?.events?.filter(({ type }) => type === 'collection.status_changed').length, 1)
  }
  t.end()
})

t.test('a message that fits no row is ignored, and kept by its inbox', (t) => {
  const event = { id: ids.next(), type: 'mandate.active', connectionId: ids.next(), code: null } as const
  const { reply, effects } = decideMandate(
    mandateOf('bacs_dd', { status: 'expired' }),
    { kind: 'move_mandate', move: MANDATE_MOVE.activate, pending: [], event, context: CONTEXT_OF_MANDATE },
    NOW,
  )
  t.strictSame(reply, { kind: 'ignored', status: 'expired' })
  t.equal(effects, null)
  t.end()
})

t.test('a new mandate is active at once where a signature is enough', (t) => {
  for (const scheme of MANDATE_SCHEMES)
    for (const management of ['client', 'provider'] as const)
      for (const signedAt of [null, NOW]) {
        const mandate = mandateOf(scheme, { management, signedAt })
        const { state, effects } = createMandate(
          null,
          {
            kind: 'create_mandate',
            mandate,
            notice: DEBIT_SCHEMES[scheme].preNotification,
            refusal: null,
            key: null,
            problemRequest: { problemBase: '', instance: '', requestId: '' },
            context: CONTEXT_OF_MANDATE,
          },
          NOW,
        )
        const active = management === 'client' && signedAt !== null && isSigned(scheme)
        t.equal(state?.status, active ? 'active' : 'pending', `${scheme} ${management} ${signedAt}`)
        t.equal(effects?.mandates?.length, 1)
        t.equal(state?.version, 1)
      }
  t.end()
})

// ── Collections
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

const moveOf = (kind: CollectionMoveKind, scheme: MandateScheme): CollectionMove => {
  const { noFunds, refundReason } = DEBIT_SCHEMES[scheme]
  const moves: { readonly [Kind in CollectionMoveKind]: CollectionMove } = {
    cancel: { kind: 'cancel', reason: null },
    submit: { kind: 'submit', fileId: null, providerRef: null },
    fail: { kind: 'fail', reasonCode: noFunds, rType: 'reject', retryAt: null },
    collect: { kind: 'collect', providerRef: null, refundableUntil: null },
    return: {
      kind: 'return',
      reasonCode: refundReason,
      rType: 'return',
      amount: 12_500n,
      fee: 0n,
      retryAt: null,
      challengeUntil: null,
    },
    reinstate: { kind: 'reinstate', amount: 12_500n, refundableUntil: null },
    reverse: { kind: 'reverse', id: ids.next(), reasonCode: 'DUPL', note: null, amount: 12_500n },
    confirm_reversal: { kind: 'confirm_reversal' },
    refuse_reversal: { kind: 'refuse_reversal', reasonCode: null },
    doubt: { kind: 'doubt', why: 'timeout' },
    retry: { kind: 'retry', dueDate: '2026-12-22', submissionDeadline: NOW, sendBy: '2026-12-21' },
    notify: { kind: 'notify', channel: 'email', sentAt: NOW },
    release_reserve: { kind: 'release_reserve' },
    end_exposure: { kind: 'end_exposure' },
  }
  return moves[kind]
}

const COLLECTION_ROWS: readonly (readonly [
  CollectionMoveKind,
  { readonly [Status in CollectionStatus]?: readonly string[] },
  CollectionStatus,
])[] = [
  ['cancel', { pending: [] }, 'cancelled'],
  ['submit', { pending: [] }, 'submitted'],
  ['fail', { submitted: [], exception: [] }, 'failed'],
  ['collect', { submitted: ['L50', 'L51'], exception: ['L50', 'L51'] }, 'collected'],
  ['return', { collected: ['L52', 'L52'], exception: ['L50', 'L51', 'L52', 'L52'] }, 'returned'],
  ['reinstate', { returned: ['L50', 'L51'] }, 'collected'],
  ['reverse', { collected: ['L54'] }, 'reversed'],
  ['confirm_reversal', { reversed: ['L11'] }, 'reversed'],
  ['refuse_reversal', { reversed: ['L54'] }, 'collected'],
  ['doubt', { submitted: [] }, 'exception'],
  ['retry', { failed: [], returned: [] }, 'pending'],
  ['notify', { pending: [] }, 'pending'],
  ['release_reserve', { collected: [] }, 'collected'],
  ['end_exposure', { collected: [] }, 'collected'],
]

const REVERSED = {
  reversalStatus: 'pending',
  reversal: {
    id: ids.next(),
    reasonCode: 'DUPL',
    note: null,
    amountMinor: '12500',
    requestedAt: '2026-11-23T09:00:00.000Z',
    decidedAt: null,
    refusalCode: null,
  },
} as const
const counts = { pendingCount: 1, submittedCount: 1, presentedCount: 1 } as const

t.test('each move of a collection leads where the table says, and nowhere else, in every scheme', (t) => {
  t.strictSame(COLLECTION_ROWS.map(([kind]) => kind).sort(), Object.keys(COLLECTION_MOVES).sort())
  for (const scheme of MANDATE_SCHEMES)
    for (const [kind, from, to] of COLLECTION_ROWS)
      for (const status of COLLECTION_STATUSES) {
        const label = `${scheme}: ${status}, ${kind}`
        const collection = collectionOf(scheme, {
          status,
          returnedAmount: status === 'returned' ? 12_500n : 0n,
          nextAttemptAt: status === 'failed' || status === 'returned' ? NOW : null,
          ...(status === 'reversed' ? REVERSED : {}),
        })
        const { reply, effects, state } = decideCollection(
          mandateOf(scheme, { status: 'active', ...counts }),
          {
            kind: 'move_collection',
            collection,
            move: moveOf(kind, scheme),
            // A reason that ends the mandate ends its other pending collection too.
            pending: [collectionOf(scheme, { id: ids.next() })],
            event: null,
            context: CONTEXT,
          },
          NOW,
        )
        const ledger = from[status]
        if (ledger === undefined) {
          t.equal(reply.kind, 'refused', label)
          t.equal(effects, null, `${label}: changes nothing`)
          continue
        }
        t.equal(reply.kind === 'moved' ? reply.collection?.status : reply.kind, to, label)
        t.strictSame(
          (effects?.postings ?? []).map(({ rule }) => rule),
          ledger,
          `${label}: its postings`,
        )
        if (status === to) t.strictSame(effects?.events, [], `${label}: tells of no change of the status`)
        else
          t.match(
            effects?.events?.[0],
            { type: 'collection.status_changed', previousStatus: status, status: to },
            label,
          )
        t.equal(state?.version, 2, `${label}: the mandate changes with it`)
      }
  t.end()
})

t.test('nothing is sent by a mandate that is not active', (t) => {
  for (const scheme of MANDATE_SCHEMES)
    for (const status of MANDATE_STATUSES) {
      const { reply } = decideCollection(
        mandateOf(scheme, { status, ...counts }),
        {
          kind: 'move_collection',
          collection: collectionOf(scheme),
          move: moveOf('submit', scheme),
          pending: [],
          event: null,
          context: CONTEXT,
        },
        NOW,
      )
      t.equal(reply.kind, status === 'active' ? 'moved' : 'refused', `${scheme}: ${status}`)
    }
  t.end()
})

t.test('what comes back is debited once, its excess is the operator’s, and its fee the customer’s', (t) => {
  const { effects, reply } = decideCollection(
    mandateOf('sepa_dd_core', { status: 'active' }),
    {
      kind: 'move_collection',
      collection: collectionOf('sepa_dd_core', { status: 'collected', collectedAt: NOW, reserveHoldId: ids.next() }),
      move: {
        kind: 'return',
        reasonCode: 'MD06',
        rType: 'refund_authorised',
        amount: 12_700n,
        fee: 350n,
        retryAt: null,
        challengeUntil: null,
      },
      pending: [],
      event: null,
      context: CONTEXT,
    },
    NOW,
  )
  t.strictSame(
    effects?.postings?.map(({ rule, amount }) => [rule, amount]),
    [
      ['L52', 12_500n],
      ['L52', 12_500n],
      ['L16', 200n],
      ['L53', 350n],
    ],
  )
  t.match(effects?.holdResolutions, [{ status: 'released', amount: 12_500n }])
  t.match(reply, {
    kind: 'moved',
    collection: {
      returnedAmount: 12_700n,
      rTransactions: [{ type: 'refund_authorised', reasonCode: 'MD06', amountMinor: '12700', feeMinor: '350' }],
    },
  })
  t.end()
})

t.test('money that is collected again has entries of its own', (t) => {
  let mandate: MandateRecord | null = mandateOf('sepa_dd_core', { status: 'active', submittedCount: 1 })
  let collection = collectionOf('sepa_dd_core', { status: 'submitted' })
  const entries: string[] = []
  for (const kind of ['collect', 'return', 'reinstate', 'return', 'reinstate'] as const) {
    const { reply, effects, state } = decideCollection(
      mandate,
      {
        kind: 'move_collection',
        collection,
        move: moveOf(kind, 'sepa_dd_core'),
        pending: [],
        event: null,
        context: CONTEXT,
      },
      NOW,
    )
    if (reply.kind !== 'moved' || reply.collection === null) return t.fail(`${kind}: ${reply.kind}`)
    mandate = state
    collection = reply.collection
    for (const { rule, occurrence, ordinal } of effects?.postings ?? [])
      entries.push(`${rule} ${occurrence} ${ordinal}`)
  }
  t.equal(new Set(entries).size, entries.length, entries.join(', '))
  t.equal(collection.returnedAmount, 0n)
  t.end()
})

t.test('a part that came again is all that the next return takes', (t) => {
  const move = { rType: 'refund_authorised', reasonCode: 'MD06', fee: 0n, challengeUntil: null } as const
  let mandate: MandateRecord | null = mandateOf('sepa_dd_core', { status: 'active', submittedCount: 1 })
  let collection = collectionOf('sepa_dd_core', { status: 'submitted' })
  const seen: (readonly [returned: bigint, ...entries: string[]])[] = []
  for (const next of [
    { kind: 'collect', providerRef: null, refundableUntil: '2027-01-01' },
    { ...move, kind: 'return', amount: 5_000n, retryAt: NOW },
    { kind: 'reinstate', amount: 2_000n, refundableUntil: '2027-01-01' },
    { ...move, kind: 'return', amount: 12_500n, retryAt: NOW },
    { kind: 'reinstate', amount: 12_500n, refundableUntil: '2027-01-01' },
  ] as const) {
    const { reply, effects, state } = decideCollection(
      mandate,
      { kind: 'move_collection', collection, move: next, pending: [], event: null, context: CONTEXT },
      NOW,
    )
    if (reply.kind !== 'moved' || reply.collection === null) return t.fail(`${next.kind}: ${reply.kind}`)
    mandate = state
    collection = reply.collection
    if (next.kind === 'return')
      t.equal(collection.nextAttemptAt, next.amount === 5_000n ? null : NOW, 'what stays is not presented again')
    const postings = (effects?.postings ?? []).map(({ rule, amount }) => `${rule} ${amount}`)
    seen.push([collection.returnedAmount, ...new Set(postings)])
  }
  t.strictSame(seen, [
    [0n, 'L50 12500', 'L51 12500'],
    [5_000n, 'L52 5000'],
    [3_000n, 'L50 2000', 'L51 2000'],
    [15_500n, 'L52 9500', 'L16 3000'],
    [0n, 'L50 12500', 'L51 12500'],
  ])
  t.end()
})

t.test('a one-off mandate is used by its collection, and codes that end mandates end them', (t) => {
  const oneOff = decideCollection(
    mandateOf('pad', { status: 'active', sequenceType: 'one_off', submittedCount: 1 }),
    {
      kind: 'move_collection',
      collection: collectionOf('pad', { status: 'submitted' }),
      move: moveOf('collect', 'pad'),
      pending: [],
      event: null,
      context: CONTEXT,
    },
    NOW,
  )
  t.equal(oneOff.state?.status, 'consumed')
  for (const scheme of MANDATE_SCHEMES)
    for (const { code, kinds, endsMandate } of DEBIT_SCHEMES[scheme].collectionReasons) {
      const rType = kinds[0]
      if (rType === undefined || rType === 'reversal') continue
      const { state } = decideCollection(
        mandateOf(scheme, { status: 'active', submittedCount: 1 }),
        {
          kind: 'move_collection',
          collection: collectionOf(scheme, { status: 'submitted' }),
          move: { kind: 'fail', reasonCode: code, rType, retryAt: null },
          pending: [],
          event: null,
          context: CONTEXT,
        },
        NOW,
      )
      t.equal(state?.status, endsMandate ? 'cancelled' : 'active', `${scheme} ${code}`)
    }
  t.end()
})

t.test('a collection gets its sequence, and a mandate that takes none refuses it', (t) => {
  const { sequenceType: _sequence, ...wanted } = collectionOf('sepa_dd_core')
  const make = (change: Partial<MandateRecord>, collection: Partial<typeof wanted> = {}) =>
    createCollection(
      mandateOf('sepa_dd_core', { status: 'active', ...change }),
      {
        kind: 'create_collection',
        customerId: wanted.customerId,
        collection: { ...wanted, ...collection },
        fault: null,
        refusal: null,
        key: null,
        problemRequest: { problemBase: '', instance: '', requestId: '' },
        context: CONTEXT_OF_MANDATE,
      },
      NOW,
    )
  t.match(make({}).reply, { kind: 'moved', collection: { sequenceType: 'first' }, mandate: { pendingCount: 1 } })
  t.match(make({ presentedCount: 3 }).reply, { collection: { sequenceType: 'recurring' } })
  t.equal(nextSequence({ sequenceType: 'final', presentedCount: 3 }), 'final')
  t.equal(nextSequence({ sequenceType: 'one_off', presentedCount: 0 }), 'one_off')
  for (const status of MANDATE_STATUSES)
    t.equal(
      make({ status }).reply.kind,
      ['pending', 'submitted', 'active'].includes(status) ? 'moved' : 'refused',
      status,
    )
  t.match(make({ sequenceType: 'one_off', presentedCount: 1 }).reply, { problem: { slug: 'invalid-transition' } })
  t.match(make({ direction: 'pay' }).reply, { problem: { errors: [{ field: '/mandateId', code: 'not_applicable' }] } })
  t.match(make({ amountLimit: 12_499n }).reply, { problem: { errors: [{ code: 'too_large' }] } })
  t.match(make({}, { currency: 'GBP' }).reply, { problem: { errors: [{ code: 'currency_mismatch' }] } })
  t.match(make({ customerId: ids.next() }).reply, { problem: { errors: [{ code: 'not_found' }] } })
  t.match(make({ pendingCount: 750 }).reply, { problem: { slug: 'limit-reached' } })
  t.end()
})

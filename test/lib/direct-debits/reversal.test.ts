/** Reversals of collections: their time, their money, and what becomes of them. */
import t from 'tap'
import type { BalanceState } from '../../../lib/balances/balance.ts'
import { NO_REQUEST } from '../../../lib/balances/decision.ts'
import { NO_CONTROLS } from '../../../lib/balances/debit-controls.ts'
import { DAY_MS } from '../../../lib/base/clock.ts'
import { decideCollection, type MoveCollection } from '../../../lib/direct-debits/debit-decision.ts'
import type { CollectionRecord } from '../../../lib/direct-debits/collection.ts'
import { reverseCollection } from '../../../lib/direct-debits/reversals/reverse-collection.ts'
import { MANDATE_SCHEMES } from '../../../lib/rails/debit-schemes.ts'
import { collectionOf, CONTEXT, ids, mandateOf, NOW } from '../../support/debit-samples.ts'

const collected = (change: Partial<CollectionRecord> = {}) =>
  collectionOf('sepa_dd_core', { status: 'collected', collectedAt: NOW, exposedUntil: NOW + DAY_MS, ...change })

const balance = (change: Partial<BalanceState> = {}): BalanceState => ({
  id: collected().balanceId,
  customerId: collected().customerId,
  operatorId: collected().operatorId,
  connectionId: collected().connectionId,
  shard: 7,
  currency: 'EUR',
  name: 'Main',
  status: 'active',
  available: 12_500n,
  version: 1n,
  policy: null,
  exchangePolicy: null,
  limits: null,
  fees: [],
  railVersion: 1,
  calendar: null,
  debitControls: NO_CONTROLS,
  customerStatus: 'active',
  customerMeasure: null,
  ...change,
})

const reverse = (collection: CollectionRecord, of: Partial<BalanceState> = {}, now = NOW) =>
  reverseCollection(
    balance(of),
    {
      kind: 'reverse_collection',
      collection,
      counterparty: { name: 'Ada Payer', kind: 'consumer' },
      reasonCode: 'DUPL',
      note: 'Twice',
      accounts: CONTEXT.accounts,
      valueDate: CONTEXT.valueDate,
      key: null,
      problemRequest: NO_REQUEST,
      seed: ids.next(),
    },
    now,
  )

const reversed = (of: CollectionRecord): CollectionRecord => {
  const { reply } = reverse(of)
  if (reply.kind !== 'collection_reversed') throw new Error('The reversal was refused.')
  return reply.collection
}

const end = (collection: CollectionRecord, move: MoveCollection['move']) =>
  decideCollection(
    mandateOf('sepa_dd_core', { status: 'active' }),
    { kind: 'move_collection', collection, move, pending: [], event: null, context: CONTEXT },
    NOW,
  )

t.test('the balance pays the reversal, with its own row, event and entry', (t) => {
  const { reply, effects, state } = reverse(collected())
  t.match(reply, {
    kind: 'collection_reversed',
    collection: { status: 'reversed', statusReason: 'DUPL', reversalStatus: 'pending', reversal: { note: 'Twice' } },
  })
  t.strictSame(
    effects?.postings?.map(({ rule, amount, occurrence }) => [rule, amount, occurrence]),
    [['L54', 12_500n, 1]],
  )
  t.match(effects?.collectionChanges, [{ status: 'reversed', version: 1, reversalStatus: 'pending' }])
  t.match(effects?.events, [{ type: 'collection.status_changed', previousStatus: 'collected', status: 'reversed' }])
  t.match(effects?.exposureChanges, [{ amount: -12_500n }])
  t.equal(state?.available, 0n)
  t.end()
})

t.test('a reversal needs funds, for which the reserve of the collection counts', (t) => {
  t.match(reverse(collected(), { available: 12_499n }).reply, { problem: { slug: 'insufficient-funds' } })
  const { effects, state } = reverse(collected({ reserveHoldId: ids.next() }), { available: 0n })
  t.match(effects?.holdResolutions, [{ status: 'released', amount: 12_500n }])
  t.equal(state?.available, 0n)
  t.end()
})

t.test('a reversal is refused late, twice, and to those who may not pay', (t) => {
  for (const scheme of MANDATE_SCHEMES) {
    const of = collectionOf(scheme, { status: 'collected', collectedAt: NOW })
    t.equal(reverse(of, {}, NOW + 4 * DAY_MS).reply.kind, 'collection_reversed', `${scheme}: within five business days`)
    t.match(reverse(of, {}, NOW + 9 * DAY_MS).reply, { problem: { slug: 'invalid-transition' } }, `${scheme}: late`)
  }
  t.match(reverse(reversed(collected())).reply, { problem: { slug: 'invalid-transition' } })
  t.match(reverse(collected({ status: 'submitted' })).reply, { problem: { slug: 'invalid-transition' } })
  t.match(reverse(collected(), { customerMeasure: 'restricted' }).reply, { problem: { slug: 'customer-restricted' } })
  t.match(reverse(collected(), { status: 'frozen' }).reply, { problem: { slug: 'invalid-transition' } })
  t.end()
})

t.test('a confirmed reversal leaves the transit, and ends once', (t) => {
  const { reply, effects } = end(reversed(collected()), { kind: 'confirm_reversal' })
  t.match(effects?.postings, [{ rule: 'L11', amount: 12_500n }])
  t.strictSame(effects?.events, [])
  if (reply.kind !== 'moved' || reply.collection === null) throw new Error('Not moved.')
  t.match(reply.collection, { status: 'reversed', statusReason: 'DUPL', reversalStatus: 'confirmed' })
  t.equal(end(reply.collection, { kind: 'refuse_reversal', reasonCode: null }).reply.kind, 'refused')
  t.end()
})

t.test('a refused reversal gives the money back, and can be asked for again', (t) => {
  const first = reversed(collected())
  const { reply, effects } = end(first, { kind: 'refuse_reversal', reasonCode: 'AG01' })
  t.match(effects?.postings, [{ rule: 'L54', occurrence: 2, amount: 12_500n, reversalOf: first.reversal?.id }])
  t.match(effects?.exposureChanges, [{ amount: 12_500n }])
  if (reply.kind !== 'moved' || reply.collection === null) throw new Error('Not moved.')
  const after = reply.collection
  t.match(after, { status: 'collected', reversalStatus: 'refused', reversedAt: null, exposedUntil: NOW + DAY_MS })
  t.match(reverse(after).effects?.postings, [{ rule: 'L54', occurrence: 3 }])
  t.end()
})

t.test('what goes back is what the customer still has', (t) => {
  const { effects } = reverse(collected({ returnedAmount: 500n }))
  t.match(effects?.postings, [{ rule: 'L54', amount: 12_000n }], 'of a collection that came again but for a part')
  t.end()
})

/** Reconciliations as rows: when a day is taken, and what a taker that was given up on can still do to it. */
import t from 'tap'
import { ManualClock } from '../../../lib/base/clock.ts'
import type { StatementEntry } from '../../../lib/reconciliation/statement.ts'
import * as rows from '../../../storage/reconciliation/reconciliations.ts'
import { openLedger } from '../../support/ledger.ts'

const NOON = Date.parse('2026-03-02T12:00:00Z')
const MIDNIGHT = Date.parse('2026-03-03T00:00:00Z')
const MINUTE_MS = 60_000

const line = (amount: bigint): StatementEntry => ({
  reference: null,
  direction: 'CRDT',
  amount,
  bookedOn: '2026-03-02',
  valueDate: '2026-03-02',
  bankRef: null,
  code: null,
  text: null,
})

t.test('a day is compared when everything decided on it has been committed', async (t) => {
  const { database, read, operatorId, connectionId } = await openLedger(t, [100n], new ManualClock(NOON))
  t.ok(
    (await rows.queueReconciliations(database, {
      until: '2026-03-02',
      now: MIDNIGHT + 1_000,
      only: { operatorId, connectionId, currency: 'EUR', by: operatorId },
    })) > 0,
  )
  const [found] = await read<[string]>(`select id from reconciliation where day = '2026-03-02'`)
  const take = (now: number) =>
    rows.takeReconciliation(database, found![0], { now, until: now + MINUTE_MS, evenIfTaken: false })
  t.equal(
    await take(MIDNIGHT + 1_000),
    null,
    'a payment that was settled a second before midnight may be committed a second after it',
  )
  t.match(await take(MIDNIGHT + 5 * MINUTE_MS), { day: '2026-03-02', currency: 'EUR', attempt: 1 })
})

t.test('a node whose reconciliation was taken again changes nothing of it', async (t) => {
  const { database, read, operatorId, connectionId } = await openLedger(t, [100n], new ManualClock(NOON))
  await rows.queueReconciliations(database, {
    until: '2026-03-02',
    now: MIDNIGHT,
    only: { operatorId, connectionId, currency: 'EUR', by: operatorId },
  })
  const now = MIDNIGHT + 60 * MINUTE_MS
  const [found] = await read<[string]>('select id from reconciliation order by day limit 1')
  const take = (at: number, until: number) =>
    rows.takeReconciliation(database, found![0], { now: at, until, evenIfTaken: false })
  const stalled = (await take(now, now + MINUTE_MS))!
  await rows.keepEntries(database, stalled, 1, [line(1n)])
  const taken = (await take(now + 2 * MINUTE_MS, now + 3 * MINUTE_MS))!
  t.match(taken, { id: stalled.id, attempt: 2 })
  await rows.forgetEntries(database, taken)
  await rows.keepEntries(database, taken, 1, [line(5n), line(7n)])
  const state = async () =>
    await read(
      'select status, error, (select sum(amount) from bank_statement_entry where reconciliation_id = r.id)::int from reconciliation r where id = $1',
      [taken.id],
    )

  for (const [what, late] of [
    ['forgets no lines', () => rows.forgetEntries(database, stalled)],
    ['keeps no lines', () => rows.keepEntries(database, stalled, 3, [line(9n)])],
    ['ends nothing', () => rows.endReconciliation(database, stalled, now)],
  ] as const)
    await t.rejects(late() as Promise<unknown>, { name: 'TakenElsewhere' }, what)
  t.equal(await rows.giveBackReconciliation(database, stalled, { laterAt: now }, now), false)
  t.equal(await rows.giveBackReconciliation(database, stalled, { error: 'It does not add up.' }, now), false)
  t.strictSame(await state(), [['running', null, 12]], 'the second attempt has what it read')
  t.equal(await take(now + 2.5 * MINUTE_MS, now + 3 * MINUTE_MS), null, 'and no other attempt takes it away')

  t.equal(await rows.giveBackReconciliation(database, taken, { error: 'It does not add up.' }, now), true)
  t.strictSame(await state(), [['failed', 'It does not add up.', 12]])
})

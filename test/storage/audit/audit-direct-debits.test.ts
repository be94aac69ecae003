/** The audit of direct debits: right books are right, and each wrong row is found by its check. */
import pg from 'pg'
import t from 'tap'
import { ManualClock } from '../../../lib/base/clock.ts'
import { DEBIT_SUM_CHECKS } from '../../../storage/audit/audit-debit-sums.ts'
import { DIRECT_DEBIT_CHECKS } from '../../../storage/audit/audit-direct-debits.ts'
import { openNodes } from '../../histories/nodes.ts'
import { Creditor } from '../../support/creditor.ts'
import { ids, MONDAY } from '../../support/commands.ts'
import { auditIsClean, openLedger } from '../../support/ledger.ts'

t.test('each wrong row of direct debits is found', async (t) => {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [10_000n], clock)
  await ledger.read('update operator set collection_reserve_days = 2')
  const { nodes } = await openNodes(t, ledger, 1)
  const creditor = new Creditor(ledger, clock, nodes[0]!)
  const [mandate, other] = [await creditor.mandate(), await creditor.mandate()]
  const pending = await creditor.collection(mandate)
  const collected = await creditor.collection(mandate, {})
  const returned = await creditor.collection(
    mandate,
    {},
    { type: 'collection.returned', reasonCode: 'MD06', amount: 1_300n },
  )
  const partly = await creditor.collection(
    mandate,
    {},
    { type: 'collection.returned', reasonCode: 'AM04', amount: 500n },
    { type: 'collection.reinstated', amount: 200n },
  )
  const reversed = await creditor.collection(other, {})
  await creditor.reverse(reversed)
  await creditor.collection(other, { type: 'collection.rejected', reasonCode: 'AM04' })

  const client = new pg.Client({ connectionString: ledger.url })
  await client.connect()
  t.teardown(() => client.end())
  t.strictSame(await brokenIn(client), [])
  const of = (rule: string, id: string) => `source_id = '${id}' and rule = '${rule}'`
  const cases: readonly (readonly [what: string, sql: string, found: readonly string[]])[] = [
    [
      'a collection says that nothing came back',
      `update collection set returned_amount = 0 where id = '${returned}'`,
      ['collections and their money', 'sums of mandates'],
    ],
    [
      'a part that is missing is another',
      `update collection set returned_amount = 100 where id = '${partly}'`,
      ['collections and their money', 'sums of mandates'],
    ],
    [
      'a return is not in the list',
      `update collection set r_transactions = '[]' where id = '${returned}'`,
      ['what came back of collections'],
    ],
    [
      'a fee was charged that the list does not have',
      `update collection set r_transactions = replace(r_transactions, '"feeMinor":"35"', '"feeMinor":"36"') where id = '${returned}'`,
      ['what came back of collections'],
    ],
    [
      'a reversal is not in the list',
      `update collection set r_transactions = '[]' where id = '${reversed}'`,
      ['what came back of collections'],
    ],
    [
      'a collection has another mandate',
      `update collection set mandate_id = '${other}' where id = '${collected}'`,
      ['mandates and their collections'],
    ],
    [
      'the exposure of a customer is a cent less',
      `update debit_exposure set amount = amount - 1 where currency = 'EUR'`,
      ['exposure of customers'],
    ],
    ['the exposure of a customer is gone', `delete from debit_exposure`, ['exposure of customers']],
    [
      'a collection counts for the exposure no longer',
      `update collection set exposed_until = null where id = '${collected}'`,
      ['exposure of customers'],
    ],
    [
      'a reserve is released',
      `update hold set status = 'released', resolved_at = now() where subject_id = '${collected}'`,
      ['reserves of collections'],
    ],
    [
      'a collection forgets its reserve',
      `update collection set reserve_hold_id = null where id = '${collected}'`,
      ['reserves of collections'],
    ],
    [
      'a mandate counts one collection too many',
      `update mandate set pending_count = pending_count + 1 where id = '${mandate}'`,
      ['mandates and their collections'],
    ],
    [
      'a mandate has ended before its collection',
      `update mandate set status = 'cancelled' where id = '${mandate}'`,
      ['mandates and their collections', 'updates of direct debits'],
    ],
    [
      'a collection is collected without its money',
      `update collection set status = 'collected', collected_at = now() where id = '${pending}'`,
      [
        'collections and their money',
        'mandates and their collections',
        'updates of direct debits',
        'sums of mandates',
        'exposure of customers',
      ],
    ],
    [
      'a collection has another customer',
      `update collection set currency = 'USD' where id = '${pending}'`,
      ['collections and their mandates', 'exposure of customers'],
    ],
    [
      'the credit of a collection is gone',
      `delete from posting where ${of('L51', collected)}`,
      ['collections and their money', 'sums of mandates'],
    ],
    [
      'the entry of a reversal is gone',
      `delete from posting where ${of('L54', reversed)}`,
      ['collections and their money', 'sums of mandates', 'what came back of collections'],
    ],
    [
      'money of a collection that does not exist',
      `update posting set source_id = '${ids.next()}' where source_id = '${collected}'`,
      ['collections and their money', 'sums of mandates'],
    ],
    [
      'an event is missing',
      `delete from outbox where object_id = '${returned}' and status = 'returned'`,
      ['updates of direct debits'],
    ],
  ]
  for (const [what, sql, found] of cases) {
    await client.query('begin')
    const { rowCount } = await client.query(sql)
    t.ok((rowCount ?? 0) > 0, `${what}: a row is changed`)
    const names = await brokenIn(client)
    await client.query('rollback')
    t.strictSame(names, found, what)
  }
  await auditIsClean(t, ledger)
})

/** Runs the checks of direct debits within the open transaction. @returns the names of those that find a row */
async function brokenIn(client: pg.Client): Promise<readonly string[]> {
  const names: string[] = []
  for (const { name, sql } of [...DIRECT_DEBIT_CHECKS, ...DEBIT_SUM_CHECKS])
    if ((await client.query(sql)).rows.length > 0) names.push(name)
  return names
}

import t from 'tap'

import { DEFAULT_TIER, NO_POLICY } from '../../../lib/approvals/policy.ts'
import { audit } from '../../../storage/audit/audit.ts'
import { dropPartitions, maintainPartitions } from '../../../storage/db/partitions.ts'
import { writePolicy } from '../../../storage/approvals/policies.ts'
import { openBooks, START, type Books } from '../../support/books.ts'

const DAY_MS = 86_400_000

/** Payments in every state, transfers, and credits. */
async function fill(books: Books) {
  const queued = await books.pay()
  const sent = await books.pay()
  await books.handOver(sent)
  const completed = await books.pay()
  await books.handOver(completed)
  await books.settle(completed)
  const failed = await books.pay()
  await books.handOver(failed)
  await books.reject(failed)
  const returned = await books.pay()
  await books.handOver(returned)
  await books.settle(returned)
  await books.giveBack(returned, 1n)
  const recalled = await books.pay()
  await books.handOver(recalled)
  await books.settle(recalled)
  await books.recall(recalled)
  const unknown = await books.pay()
  await books.handOver(unknown)
  await books.time(unknown)
  const held = await books.pay()
  await books.hold(held)
  const savings = await books.openBalance('Savings')
  const transfer = await books.transfer(savings, 5_000n)
  const { id } = books.sandbox.customer
  await writePolicy(books.client, {
    customerId: id,
    kind: 'payment',
    terms: { ...NO_POLICY, enabled: true, tiers: [DEFAULT_TIER] },
    by: id,
    now: Date.UTC(2026, 4, 4),
  })
  const waiting = await books.pay()
  await books.client.query('delete from approval_policy')
  return { queued, sent, completed, failed, returned, recalled, unknown, held, savings, transfer, waiting }
}

async function broken(books: Books): Promise<string[]> {
  const report = await audit(books.client)
  t.equal(
    report.ok,
    report.checks.every(({ disagreeing }) => disagreeing === 0),
  )
  return report.checks.filter(({ disagreeing }) => disagreeing > 0).map(({ name }) => name)
}

t.test('a ledger that only decisions have written is right', async (t) => {
  const books = await openBooks(t)
  t.strictSame(await broken(books), [])
  await fill(books)
  const report = await audit(books.client)
  t.strictSame(
    report.checks.filter(({ disagreeing }) => disagreeing > 0),
    [],
  )
  t.equal(report.ok, true)
  // Three opening credits, six times L10 (amount and fee), three times L11, L12 (amount and fee), L13, L20.
  t.equal(report.postings, 3 + 12 + 3 + 2 + 1 + 1)
})

t.test('a ledger is right, too, when its events have gone with time', async (t) => {
  const books = await openBooks(t)
  // So that the day has a partition, which can go.
  await books.client.query('delete from outbox')
  await maintainPartitions(books.database, START)
  await fill(books)
  t.ok((await books.client.query('select 1 from outbox')).rows.length > 0)
  await maintainPartitions(books.database, START + 40 * DAY_MS)
  t.strictSame((await books.client.query('select 1 from outbox')).rows, [])
  t.strictSame(await broken(books), [])
  await books.client.query(`update status_update set at = now() where version = 2`)
  t.strictSame(await broken(books), ['events'], 'what came after is proven by them still')
})

t.test('events do not go while an audit compares with them', async (t) => {
  const books = await openBooks(t)
  await maintainPartitions(books.database, START)
  await fill(books)
  const { client } = books
  let dropped: Promise<unknown> | null = null
  const query = async (...statement: Parameters<typeof client.query>) => {
    const answer = await (client.query as (...given: unknown[]) => Promise<unknown>)(...statement)
    if (dropped === null && String(statement[0]).includes('disagreeing')) {
      dropped = dropPartitions(books.database, START + 40 * DAY_MS).then(
        () => 'dropped',
        ({ code }) => code,
      )
      await dropped
    }
    return answer
  }
  const { checks } = await audit({ query } as unknown as typeof client)
  t.strictSame(
    checks.filter(({ disagreeing }) => disagreeing > 0).map(({ name }) => name),
    [],
  )
  t.equal(await dropped, '55P03', 'they go at another time')
  await dropPartitions(books.database, START + 40 * DAY_MS)
  t.strictSame(await broken(books), [])
})

t.test('a payment whose outcome was unknown for a while is right, too', async (t) => {
  const books = await openBooks(t)
  const id = await books.pay()
  await books.handOver(id)
  await books.time(id)
  await books.settle(id)
  t.strictSame(await broken(books), [])
})

t.test('the events of a recall may have ids in any order, but each is there once', async (t) => {
  const books = await openBooks(t)
  const id = await books.pay()
  await books.handOver(id)
  await books.settle(id)
  await books.recall(id)
  await books.expireRecall(id)
  t.strictSame(await broken(books), [])
  const swapped = await books.client.query(
    `update outbox set status = case status when 'requested' then 'expired' else 'requested' end where type = 'payment.recall_updated'`,
  )
  t.equal(swapped.rowCount, 2)
  t.strictSame(await broken(books), [], 'an id is drawn before its command is decided')
  await books.client.query(`update outbox set status = 'expired' where type = 'payment.recall_updated'`)
  t.strictSame(await broken(books), ['recalls'])
})

t.test('every kind of corruption is found', async (t) => {
  const books = await openBooks(t)
  const made = await fill(books)
  const taxed = await books.pay({}, 2_000n)
  await books.handOver(taxed)
  const untaken = await books.pay({}, 2_000n)
  await books.handOver(untaken)
  await books.reject(untaken)
  t.strictSame(await broken(books), [])
  const eur = books.sandbox.customer.balances.EUR
  const cases: readonly (readonly [name: string, sql: string, found: readonly string[]])[] = [
    [
      'a balance has a cent too much',
      `update balance set posted = posted + 1 where id = '${eur}'`,
      ['balance totals', 'running balances', 'accounting equation'],
    ],
    [
      'a balance counts a line too few',
      `update balance set sequence = sequence - 1 where id = '${eur}'`,
      ['sequences'],
    ],
    [
      'a line is gone',
      `delete from posting where source_id = '${made.transfer}'`,
      ['balance totals', 'sequences', 'running balances', 'transfers'],
    ],
    [
      'a line has another number',
      `update posting set debit_sequence = debit_sequence + 100 where source_id = '${made.transfer}'`,
      ['sequences'],
    ],
    [
      'a running balance is off',
      `update posting set debit_balance = debit_balance + 1 where source_id = '${made.transfer}'`,
      ['running balances'],
    ],
    [
      'an amount is another',
      `update posting set amount = amount + 1 where source_id = '${made.transfer}'`,
      ['balance totals', 'running balances', 'transfers'],
    ],
    ['more is held than the holds say', `update balance set held = held + 1 where id = '${eur}'`, ['held amounts']],
    [
      'a hold is gone',
      `delete from hold where subject_id = '${made.queued}'`,
      ['held amounts', 'payments and their money'],
    ],
    [
      'more is held than there is',
      `update balance set held = posted + 1 where id = '${eur}'`,
      ['held amounts', 'funds'],
    ],
    [
      'a posting is in another currency',
      `update posting set currency = 'USD' where source_id = '${made.transfer}'`,
      ['postings', 'postings and their source'],
    ],
    [
      'an account is gone',
      `delete from account where key = 'out_transit' and currency = 'EUR'`,
      ['postings', 'accounting equation', 'money in transit'],
    ],
    [
      'an account changed hands',
      `update account set operator_id = gen_random_uuid() where key = 'inc_fee' and currency = 'EUR'`,
      ['accounting equation'],
    ],
    [
      'a balance line has no number',
      `update posting set debit_sequence = null, debit_balance = null where source_id = '${made.transfer}'`,
      ['balance totals', 'sequences', 'running balances', 'postings'],
    ],
    [
      'a pair of an entry is gone',
      `delete from posting where source_id = '${made.completed}' and rule = 'L10' and ordinal = 0`,
      ['entries', 'payments and their money'],
    ],
    [
      'a queued payment calls itself completed',
      `update payment set status = 'completed' where id = '${made.queued}'`,
      ['payments and their money', 'holds and their payment', 'partner instructions', 'status updates'],
    ],
    [
      'a payment was sent without its money',
      `update payment set sent_at = now() where id = '${made.queued}'`,
      ['payments and their money', 'money in transit'],
    ],
    [
      'a completed payment never settled',
      `delete from posting where source_id = '${made.completed}' and rule = 'L11'`,
      ['payments and their money', 'money in transit'],
    ],
    [
      'a failed payment was not given back',
      `delete from posting where source_id = '${made.failed}' and rule = 'L12'`,
      ['payments and their money', 'money in transit'],
    ],
    [
      'what came back is not posted',
      `delete from posting where source_id = '${made.returned}' and rule = 'L13'`,
      ['payments and their money'],
    ],
    [
      'a payment says that more came back',
      `update payment set returned_amount = 2 where id = '${made.returned}'`,
      ['payments and their money'],
    ],
    [
      'a completed payment has something back',
      `update payment set returned_amount = 1 where id = '${made.completed}'`,
      ['payments and their money'],
    ],
    [
      'a returned payment never settled',
      `delete from posting where source_id = '${made.returned}' and rule = 'L11'`,
      ['payments and their money', 'money in transit'],
    ],
    [
      'nobody looks after a recall',
      `update payment set recall_due_at = null where id = '${made.recalled}'`,
      ['recalls'],
    ],
    [
      'a recall was accepted and nothing came back',
      `update payment set recall = replace(recall, '"requested"', '"accepted"'), recall_due_at = null where id = '${made.recalled}'`,
      ['recalls'],
    ],
    ['nobody was told of a recall', `delete from outbox where type = 'payment.recall_updated'`, ['recalls']],
    [
      'a payment that ended has an instruction',
      `insert into partner_instruction (payment_id, shard) values ('${made.completed}', 1)`,
      ['partner instructions'],
    ],
    [
      'a payment that waits has no instruction',
      `delete from partner_instruction where payment_id = '${made.queued}'`,
      ['partner instructions'],
    ],
    [
      'a hold names no payment',
      `update hold set subject_id = gen_random_uuid() where subject_id = '${made.queued}'`,
      ['holds and their payment'],
    ],
    [
      'a transfer is gone',
      `delete from transfer where id = '${made.transfer}'`,
      ['postings and their source', 'status updates', 'events', 'remembered commands'],
    ],
    [
      'a transfer was not completed',
      `update transfer set status = 'processing' where id = '${made.transfer}'`,
      ['transfers', 'status updates'],
    ],
    [
      'money arrived twice',
      `insert into incoming_payment select (jsonb_populate_record(null::incoming_payment, to_jsonb(i) || jsonb_build_object('id', gen_random_uuid()))).* from (select * from incoming_payment limit 1) i`,
      ['incoming payments'],
    ],
    [
      'a status update is missing',
      `delete from status_update where object_id = '${made.completed}' and version = 2`,
      ['status updates'],
    ],
    [
      'a status update tells of another change',
      `update status_update set previous_status = 'scheduled' where object_id = '${made.completed}' and version = 3`,
      ['status updates'],
    ],
    [
      'an event is missing',
      `delete from outbox where object_id = '${made.completed}' and type = 'payment.completed'`,
      ['events'],
    ],
    [
      'an event was written twice',
      `insert into outbox select gen_random_uuid(), created_at, customer_id, operator_id, shard, type, object, object_id, status, previous_status, amount, currency
      from outbox where object_id = '${made.queued}'`,
      ['events'],
    ],
    [
      'an event has no change',
      `update outbox set type = 'payment.returned' where object_id = '${made.completed}' and type = 'payment.completed'`,
      ['events'],
    ],
    ['the event of a transfer is missing', `delete from outbox where object_id = '${made.transfer}'`, ['events']],
    [
      'the event of a credit is missing',
      `delete from outbox where id = (select id from outbox where object = 'incoming_payment' limit 1)`,
      ['incoming payments'],
    ],
    [
      'a payment is under review by nobody',
      `delete from compliance_hold where subject_id = '${made.held}'`,
      ['compliance holds'],
    ],
    [
      'a review has ended and its payment does not know',
      `update compliance_hold set status = 'released' where subject_id = '${made.held}'`,
      ['compliance holds'],
    ],
    [
      'operators were not told of a hold',
      `delete from outbox where type = 'compliance_hold.created'`,
      ['compliance holds'],
    ],
    [
      'a hold of a review names its payment',
      `update hold set subject_id = '${made.held}' where subject_type = 'payment_review'`,
      ['holds and their payment'],
    ],
    [
      "an unknown outcome is nobody's business",
      `delete from exception_case where subject_id = '${made.unknown}'`,
      ['exceptions'],
    ],
    [
      'an exception is about a payment that has ended',
      `update exception_case set subject_id = '${made.completed}' where subject_id = '${made.unknown}'`,
      ['exceptions'],
    ],
    ['a payment waits for no approval', `delete from approval where subject_id = '${made.waiting}'`, ['approvals']],
    [
      'an approval ended without its payment',
      `update approval set status = 'cancelled' where subject_id = '${made.waiting}'`,
      ['approvals', 'approvals and their events'],
    ],
    [
      'a payment went on without its approval',
      `update payment set status = 'processing' where id = '${made.waiting}'`,
      ['partner instructions', 'status updates', 'approvals'],
    ],
    [
      'an approval counts a word that nobody said',
      `update approval set received = required where subject_id = '${made.waiting}'`,
      ['approvals'],
    ],
    ['nobody was told of an approval', `delete from outbox where object = 'approval'`, ['approvals and their events']],
    [
      'a payment that waits holds nothing',
      `update hold set status = 'released' where subject_id = '${made.waiting}'`,
      ['held amounts', 'payments and their money'],
    ],
    [
      'a command made nothing',
      `update idempotency set resource_id = gen_random_uuid() where resource_id = '${made.queued}'`,
      ['remembered commands'],
    ],
    [
      'less tax than agreed is in a fee',
      `with fee as (update posting set amount = amount + 1 where source_id = '${taxed}' and rule = 'L10' and ordinal = 1)
        update posting set amount = amount - 1 where source_id = '${taxed}' and rule = 'L10' and ordinal = 2`,
      ['tax in fees'],
    ],
    [
      'tax is given back in part',
      `with fee as (update posting set amount = amount + 1 where source_id = '${untaken}' and rule = 'L12' and ordinal = 1)
        update posting set amount = amount - 1 where source_id = '${untaken}' and rule = 'L12' and ordinal = 2`,
      ['tax in fees'],
    ],
    [
      'the tax agreed on is another',
      `update payment set details = replace(details, '"feeTax":"3"', '"feeTax":"2"') where id = '${taxed}'`,
      ['tax in fees'],
    ],
    [
      'a fee without tax is posted as tax',
      `update posting set credit_account = (select id from account where key = 'fee_tax' and currency = 'EUR') where source_id = '${made.completed}' and rule = 'L10' and ordinal = 1`,
      ['tax in fees'],
    ],
    [
      'a command made something else',
      `update idempotency set resource_type = 'transfer' where resource_id = '${made.queued}'`,
      ['remembered commands'],
    ],
    [
      'two commands made the same',
      `insert into idempotency select gen_random_uuid(), day, fingerprint, status, resource_id, answer, created_at, resource_type
      from idempotency where resource_id = '${made.queued}'`,
      ['remembered commands'],
    ],
  ]
  for (const [name, sql, expected] of cases) {
    await t.test(name, async (t) => {
      // The audit has a transaction of its own, so what was changed is remembered and put back.
      await books.client.query(
        `create schema saved; ${TABLES.map((table) => `create table saved."${table}" as select * from "${table}"`).join(';')}`,
      )
      try {
        const { rowCount } = await books.client.query(sql)
        t.not(rowCount, 0, 'something was changed')
        const found = await broken(books)
        for (const check of expected) t.ok(found.includes(check), `${check} is among ${found.join(', ')}`)
        const report = await audit(books.client)
        t.equal(report.ok, false)
        for (const check of report.checks) t.equal(check.rows.length, Math.min(check.disagreeing, 20))
      } finally {
        await books.client.query(`set session_replication_role = replica;
          ${TABLES.map((table) => `delete from "${table}"; insert into "${table}" select * from saved."${table}"`).join(';')};
          set session_replication_role = default; drop schema saved cascade`)
      }
    })
  }
  t.strictSame(await broken(books), [], 'all was put back')
})

const TABLES = [
  'account',
  'balance',
  'hold',
  'posting',
  'payment',
  'transfer',
  'incoming_payment',
  'status_update',
  'partner_instruction',
  'outbox',
  'idempotency',
  'approval',
  'approval_decision',
  'compliance_hold',
  'exception_case',
]

t.test('a long list of disagreeing rows is cut, and counted', async (t) => {
  const books = await openBooks(t)
  for (let n = 0; n < 25; n += 1) await books.pay()
  await books.client.query(`delete from partner_instruction`)
  const check = (await audit(books.client)).checks.find(({ name }) => name === 'partner instructions')!
  t.equal(check.disagreeing, 25)
  t.equal(check.rows.length, 20)
})

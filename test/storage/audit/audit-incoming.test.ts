import t from 'tap'

import { receiveCredit, suspend, type CreditFacts } from '../../../lib/incoming-payments/credit.ts'
import type { IncomingRecord } from '../../../lib/incoming-payments/incoming-payment.ts'
import * as moves from '../../../lib/incoming-payments/moves.ts'
import { writeEffects } from '../../../storage/sections/write-effects.ts'
import { commit } from '../../../storage/sections/commit.ts'
import { audit } from '../../../storage/audit/audit.ts'
import { changeIncoming, lockIncoming } from '../../../storage/incoming-payments/incoming-payments.ts'
import { InternalAccountCache } from '../../../storage/journal/internal-account-cache.ts'
import { loadBalances } from '../../../storage/balances/balance-states.ts'
import { openBooks, type Books } from '../../support/books.ts'
import { readerOf } from '../../../storage/db/transaction.ts'

const HIT = { provider: 'sandbox', findings: [], decides: null }

/** Money that comes in and what becomes of it, as decisions write it. */
async function incoming(books: Books) {
  const { client, clock, ids, sandbox, database } = books
  const balanceId = sandbox.customer.balances.EUR
  const accounts = new InternalAccountCache(database, ids)
  const balance = async () => (await loadBalances(readerOf(database), [balanceId], false)).get(balanceId)!
  const scope = await balance()
  const internal = await accounts.accountsWith(scope, 'review_held', scope.customerId)
  const tx = () => ({ client, ids, now: clock.now() })

  function credit(amount: bigint): CreditFacts {
    return {
      reference: ids.next(),
      amount,
      currency: 'EUR',
      payerName: 'Acme BV',
      payerIdentifier: null,
      payerBankName: null,
      payerCountry: null,
      remittance: 'R',
      rail: 'sepa',
      endToEndId: null,
      uetr: null,
      valueDate: '2026-05-04',
    }
  }

  const command = (facts: CreditFacts) => {
    const id = ids.next()
    return {
      kind: 'receive_credit' as const,
      key: { id, fingerprint: id },
      event: { id, type: 'account.credited' as const },
      connectionId: scope.connectionId,
      credit: facts,
      accounts: internal,
      seed: ids.next(),
    }
  }

  /** Comes to the balance, or under review. */
  async function receive(amount: bigint, reviewed = false): Promise<string> {
    clock.advance(1)
    const facts = credit(amount)
    const state = await balance()
    const { effects } = receiveCredit(state, { ...command(facts), hit: reviewed ? HIT : null }, clock.now())
    const result = await commit(
      { query: async (statement) => (await client.query(statement)) as unknown as { rows: unknown[][] } },
      [{ fence: { balanceId, version: state.version }, commands: [{ effects }] }],
      clock.now(),
    )
    if (!result.ok) throw new Error('the credit was refused')
    return facts.reference
  }

  /** Has no owner. */
  async function lose(amount: bigint): Promise<string> {
    clock.advance(1)
    const facts = credit(amount)
    await writeEffects(
      tx(),
      suspend(
        { ...scope, balanceId: null, customerId: null },
        'owner_unknown',
        { ...command(facts), ids },
        clock.now(),
      ),
    )
    return facts.reference
  }

  async function move(
    id: string,
    make: (record: IncomingRecord, context: moves.IncomingMoveContext) => moves.IncomingMove,
  ): Promise<void> {
    clock.advance(1)
    const { effects, change } = make((await lockIncoming(client, id))!, { accounts: internal, ids, now: clock.now() })
    await writeEffects(tx(), effects)
    await changeIncoming(client, id, change, clock.now())
  }

  /** The payer's bank recalls the credit, and its amount is held. */
  async function recall(id: string, amount: bigint): Promise<void> {
    const hold = moves.recallHold((await lockIncoming(client, id))!, amount, tx())
    await writeEffects(tx(), { holds: [hold] })
    await move(id, (record, context) =>
      moves.openRecall(record, { caseId: ids.next(), amount, reasonCode: 'DUPL', holdId: hold.id }, context),
    )
  }

  return { receive, lose, move, recall, owner: { customerId: scope.customerId, balanceId, shard: scope.shard } }
}

async function fill(books: Books) {
  const { receive, lose, move, recall, owner } = await incoming(books)
  const received = await receive(1_000n)
  const reviewed = await receive(2_000n, true)
  const lost = await lose(3_000n)
  const allocated = await lose(4_000n)
  await move(allocated, (record, context) =>
    moves.allocate(record, { ...owner, by: owner.customerId, reason: null, fee: 30n }, context),
  )
  const sentBack = await lose(5_000n)
  await move(sentBack, (record, context) =>
    moves.giveBack(record, { by: owner.customerId, reason: 'Unknown', reasonCode: 'AC01' }, context),
  )
  await move(sentBack, moves.settleReturn)
  const released = await receive(6_000n, true)
  await move(released, (record, context) => moves.release(record, 50n, context))
  const blocked = await receive(7_000n, true)
  await move(blocked, moves.block)
  const pending = await receive(8_000n)
  await recall(pending, 8_000n)
  const recalled = await receive(9_000n)
  await recall(recalled, 2_500n)
  await move(recalled, (record, context) => moves.acceptRecall(record, record.recallHoldId!, context))
  await move(recalled, moves.settleReturn)
  const kept = await receive(10_000n)
  await recall(kept, 10_000n)
  await move(kept, (record, context) => moves.rejectRecall(record, 'CUST', context))
  // People have decided on these, which is not what is looked at here.
  await books.client.query(`update compliance_hold set status = 'released' where subject_id = any($1)`, [
    [released, blocked, recalled, kept],
  ])
  await books.client.query(`insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status)
    select gen_random_uuid(), now(), customer_id, operator_id, shard, 'compliance_hold.released', 'compliance_hold', id, 'released' from compliance_hold where status = 'released'`)
  return { received, reviewed, lost, allocated, sentBack, released, blocked, pending, recalled, kept }
}

async function broken(books: Books): Promise<string[]> {
  return (await audit(books.client)).checks.filter(({ disagreeing }) => disagreeing > 0).map(({ name }) => name)
}

t.test('whatever becomes of money that came in, the books are right', async (t) => {
  const books = await openBooks(t)
  await fill(books)
  const report = await audit(books.client)
  t.strictSame(
    report.checks.filter(({ disagreeing }) => disagreeing > 0),
    [],
  )
})

const TABLES = ['account', 'balance', 'hold', 'posting', 'incoming_payment', 'outbox']

t.test('what is wrong with money that came in is found', async (t) => {
  const books = await openBooks(t)
  const made = await fill(books)
  const cases: readonly (readonly [name: string, sql: string, found: readonly string[]])[] = [
    [
      'money under review calls itself received',
      `update incoming_payment set status = 'received', credited_at = now() where id = '${made.reviewed}'`,
      ['incoming payments', 'money that waits'],
    ],
    [
      'money under review is seen',
      `update incoming_payment set credited_at = now() where id = '${made.reviewed}'`,
      ['incoming payments'],
    ],
    [
      'money without an owner is forgotten',
      `delete from incoming_payment where id = '${made.lost}'`,
      ['postings and their source', 'money that waits'],
    ],
    [
      'money without an owner is more than came',
      `update incoming_payment set amount = amount + 1 where id = '${made.lost}'`,
      ['incoming payments', 'money that waits'],
    ],
    [
      'what was allocated is still open',
      `update incoming_payment set suspense = 'open', status = 'unallocated' where id = '${made.allocated}'`,
      ['incoming payments', 'money that waits'],
    ],
    [
      'what was allocated went to another balance',
      `update incoming_payment set balance_id = gen_random_uuid() where id = '${made.allocated}'`,
      ['incoming payments'],
    ],
    [
      'what went back has not left',
      `delete from posting where source_id = '${made.sentBack}' and rule = 'L11'`,
      ['incoming payments'],
    ],
    [
      'what has left was not settled',
      `update incoming_payment set return_state = 'sent' where id = '${made.sentBack}'`,
      ['incoming payments'],
    ],
    [
      'a customer was told of what was blocked',
      `insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, status)
      select gen_random_uuid(), now(), customer_id, operator_id, shard, 'incoming_payment.received', 'incoming_payment', id, 'received' from incoming_payment where id = '${made.blocked}'`,
      ['incoming payments'],
    ],
    [
      'a release was posted twice',
      `insert into posting select (jsonb_populate_record(p, '{"occurrence": 2, "credit_sequence": 999}')).* from posting p where source_id = '${made.released}' and rule = 'L06'`,
      ['incoming payments', 'balance totals'],
    ],
    [
      'more was taken back than is said',
      `update incoming_payment set returned_amount = returned_amount + 1 where id = '${made.recalled}'`,
      ['incoming payments', 'recalls and their holds'],
    ],
    [
      'a recall was accepted silently',
      `delete from outbox where object_id = '${made.recalled}' and type = 'incoming_payment.returned'`,
      ['incoming payments'],
    ],
    [
      'a pending recall holds nothing',
      `update hold set status = 'released' where subject_id = '${made.pending}'`,
      ['held amounts', 'recalls and their holds'],
    ],
    [
      'a recall that was refused holds still',
      `update hold set status = 'active' where subject_id = '${made.kept}'`,
      ['held amounts', 'recalls and their holds'],
    ],
    [
      "a hold for a recall is nobody's",
      `update hold set subject_id = gen_random_uuid() where subject_id = '${made.pending}'`,
      ['recalls and their holds'],
    ],
    [
      'what was received is gone',
      `delete from posting where source_id = '${made.received}'`,
      ['incoming payments', 'balance totals'],
    ],
  ]
  for (const [name, sql, expected] of cases) {
    await t.test(name, async (t) => {
      await books.client.query(
        `create schema saved; ${TABLES.map((table) => `create table saved."${table}" as select * from "${table}"`).join(';')}`,
      )
      try {
        const { rowCount } = await books.client.query(sql)
        t.not(rowCount, 0, 'something was changed')
        const found = await broken(books)
        for (const check of expected) t.ok(found.includes(check), `${check} is among ${found.join(', ')}`)
      } finally {
        await books.client.query(`set session_replication_role = replica;
          ${TABLES.map((table) => `delete from "${table}"; insert into "${table}" select * from saved."${table}"`).join(';')};
          set session_replication_role = default; drop schema saved cascade`)
      }
    })
  }
  t.strictSame(await broken(books), [], 'all was put back')
})

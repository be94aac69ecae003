/** The audit of direct debits: right books are right, and each wrong row is found by its check. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import { createAnswers } from '../../../actors/commands/answers.ts'
import { DebitInbox } from '../../../actors/direct-debits/debit-inbox.ts'
import { createDirectDebitService } from '../../../actors/direct-debits/direct-debit-service.ts'
import type { Node } from '../../../actors/runtime/node.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import type { CommandBytes } from '../../../lib/commands/command.ts'
import type { CollectionMessage } from '../../../lib/direct-debits/debit-messages.ts'
import { DEBIT_SUM_CHECKS } from '../../../storage/audit/audit-debit-sums.ts'
import { DIRECT_DEBIT_CHECKS } from '../../../storage/audit/audit-direct-debits.ts'
import { Client, command, openNodes, PROBLEM_BASE, type Node as HistoryNode } from '../../histories/nodes.ts'
import { ids, MONDAY } from '../../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../../support/ledger.ts'
import { Random } from '../../support/random.ts'

const FEE = 35n

/** A customer who makes collections, and the bank that tells of them. */
class Creditor extends Client<HistoryNode> {
  readonly service: ReturnType<typeof createDirectDebitService>
  readonly inbox: DebitInbox

  constructor(ledger: Ledger, clock: ManualClock, node: HistoryNode) {
    super(ledger, clock, new Random(1), [node])
    const { world, system } = node
    const deps = {
      ...world,
      system,
      accounts: ledger.accounts,
      random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
      answers: createAnswers(world),
      problemBase: PROBLEM_BASE,
      sandbox: true,
      dispatch: false,
    }
    this.service = createDirectDebitService(deps as unknown as Node)
    this.inbox = new DebitInbox({
      ...deps,
      returnTermsOf: async () => ({ fee: FEE, retryAt: null, challengeUntil: null }),
    })
  }

  override async next(): Promise<void> {
    /* It does what it is told. */
  }

  async mandate(): Promise<string> {
    const body = {
      direction: 'collect',
      scheme: 'sepa_dd_core',
      balanceId: this.ledger.balances[0]!,
      counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
      signedAt: '2026-01-05',
    } as const
    return made(await this.service.commands.createMandate(command(this.by, '/v1/mandates', body, this.clock)))
  }

  /** Makes a collection of 12.00 and brings it to a status by messages of the bank. */
  async collection(mandateId: string, ...told: readonly Partial<CollectionMessage>[]): Promise<string> {
    const body = { mandateId, amount: { amountMinor: '1200', currency: 'EUR' }, reference: 'Invoice 42' } as const
    const asking = command(this.by, '/v1/collections', body, this.clock)
    const collectionId = made(await this.service.commands.createCollection(asking))
    for (const message of told)
      await this.inbox.takeOne({
        id: ids.next(),
        type: 'collection.collected',
        connectionId: this.ledger.connectionId,
        source: 'partner',
        reasonCode: null,
        providerRef: null,
        collectionId,
        rType: null,
        amount: null,
        bookedOn: null,
        ...message,
      })
    return collectionId
  }

  async reverse(id: string): Promise<void> {
    const asking = command(this.by, '/v1/collections', { reasonCode: 'DUPL' } as const, this.clock)
    await this.service.commands.reverseCollection(asking, id)
  }
}

const made = (answer: unknown): string => (JSON.parse((answer as CommandBytes).body) as { readonly id: string }).id

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

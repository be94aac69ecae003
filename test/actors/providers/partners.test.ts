/** Orders and questions go to the adapter of their connection, and the trouble of one connection is its own. */
import t from 'tap'
import type { AdapterConnection } from '../../../actors/providers/adapters/adapter.ts'
import type { PaymentOrder, Submission } from '../../../actors/providers/bank.ts'
import type { OpenedConnection } from '../../../actors/providers/open-connections.ts'
import { createPartners } from '../../../actors/providers/partners.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import { clearbankDescription } from '../../../lib/providers/clearbank/description.ts'
import type { CallOutcome } from '../../../lib/providers/health.ts'
import { sandboxDescription } from '../../../lib/providers/sandbox/description.ts'
import { MONDAY } from '../../support/commands.ts'
import { openLedger } from '../../support/ledger.ts'

const outside = { ...clearbankDescription, needsParties: false }

/** Partners with connections `in-1`, `in-2` of this process, `out-1` and `out-2` outside, `bare` without abilities. */
async function open(t: Parameters<typeof openLedger>[0]) {
  const { database, clock } = await openLedger(t, [0n], new ManualClock(MONDAY))
  const batches: string[][] = []
  const healths: [string, CallOutcome][] = []
  const errors: string[] = []
  const adapter: AdapterConnection = {
    probe: async () => ({ ok: true, latencyMs: 0, message: null }),
    translate: () => [],
    async submit(orders) {
      batches.push(orders.map(({ reference }) => reference))
      if (orders.some(({ remittance }) => remittance === 'fails')) throw new Error('The call has failed.')
      return new Map(orders.map(({ reference }): [string, Submission] => [reference, { kind: 'accepted' }]))
    },
    async giveBack(returns) {
      if (returns.some(({ reasonCode }) => reasonCode === 'fails')) throw new Error('The call has failed.')
      return returns.map(({ reference }) => reference)
    },
  }
  const bare = { probe: adapter.probe, translate: adapter.translate }
  const connection = (id: string, of: AdapterConnection, description: OpenedConnection['description']) => ({
    id,
    operatorId: 'operator',
    description,
    adapter: of,
    webhookSecret: null,
  })
  const known = new Map<string, OpenedConnection>([
    ['in-1', connection('in-1', { ...adapter }, sandboxDescription)],
    ['in-2', connection('in-2', { ...adapter }, sandboxDescription)],
    ['out-1', connection('out-1', { ...adapter }, outside)],
    ['out-2', connection('out-2', { ...adapter }, outside)],
    ['bare', connection('bare', bare, outside)],
  ])
  const partners = createPartners({
    database,
    clock,
    adapters: {},
    connections: {
      async open(id) {
        if (id === 'broken') throw new Error('The credentials cannot be opened.')
        return known.get(id) ?? null
      },
      isOutside: (id) => known.get(id)?.description.rate !== null,
    },
    health: { record: (id, outcome) => healths.push([id, outcome]) },
    onError: (error, what) => errors.push(`${what}: ${(error as Error).message}`),
  })
  return { partners, batches, healths, errors }
}

const order = (reference: string, connectionId: string, remittance = ''): PaymentOrder => ({
  reference,
  shard: 0,
  connectionId,
  rail: 'sepa',
  currency: 'EUR',
  amount: 1n,
  creditorName: 'Ada',
  remittance,
})

const kinds = (submissions: ReadonlyMap<string, Submission>) =>
  Object.fromEntries([...submissions].map(([reference, { kind }]) => [reference, kind]))

t.test('orders go to their connections', async (t) => {
  const { partners, batches, healths, errors } = await open(t)
  const { bank, credits, bookTransfers, accounts, statements } = partners

  await t.test('those of one connection as one batch, and those of the process together', async (t) => {
    t.strictSame(kinds(await bank.submit([order('a', 'out-1'), order('b', 'out-1')])), { a: 'accepted', b: 'accepted' })
    t.strictSame(batches.splice(0), [['a', 'b']])
    t.strictSame(healths, [], 'calls that leave the process are measured where they leave')
    await bank.submit([order('a', 'in-1'), order('b', 'out-1'), order('c', 'in-2'), order('d', 'out-2')])
    t.strictSame(batches.splice(0).toSorted(), [['a', 'c'], ['b'], ['d']])
    t.strictSame(
      healths.splice(0).map(([id, { ok }]) => [id, ok]),
      [
        ['in-1', true],
        ['in-2', true],
      ],
    )
    t.strictSame(kinds(await bank.submit([])), {})
  })

  await t.test('the trouble of one connection is not that of another', async (t) => {
    const submissions = await bank.submit([
      order('lost', 'out-1', 'fails'),
      order('fine', 'out-2'),
      order('nowhere', 'unknown'),
      order('unable', 'bare'),
      order('sealed', 'broken'),
    ])
    // An order without a result may have arrived; one that was never sent has not.
    t.strictSame(kinds(submissions), { fine: 'accepted', nowhere: 'unsent', unable: 'unsent', sealed: 'unsent' })
    t.strictSame(errors.splice(0).toSorted(), [
      'opening the connection broken: The credentials cannot be opened.',
      'submission of the connection out-1: The call has failed.',
    ])
    await bank.submit([order('lost', 'in-1', 'fails')])
    t.match(healths.splice(0), [['in-1', { ok: false }]])
    errors.splice(0)
  })

  await t.test('returned credits', async (t) => {
    const given = (reference: string, connectionId: string, reasonCode = 'AC04') => ({
      reference,
      shard: 0,
      connectionId,
      amount: 1n,
      currency: 'EUR',
      reasonCode,
    })
    const taken = await credits.giveBack([given('a', 'out-1'), given('b', 'out-2', 'fails'), given('c', 'bare')])
    t.strictSame(taken, ['a'], 'the others stay due')
    t.strictSame(errors.splice(0), ['returns of the connection out-2: The call has failed.'])
  })

  await t.test('what a provider does not do', async (t) => {
    const transfer = { reference: 'a', fromConnectionId: 'bare', toConnectionId: 'bare', currency: 'EUR', amount: 1n }
    t.equal(await bookTransfers.book(transfer), 'accepted')
    t.strictSame(await bookTransfers.status(transfer), { kind: 'settled' }, 'within one account nothing has to move')
    const across = { ...transfer, toConnectionId: 'out-1' }
    t.equal(await bookTransfers.book(across), 'by_staff', 'no partner moves cash between two')
    t.equal(await bookTransfers.status(across), null, 'nor tells of it')
    t.strictSame(accounts.offers('clearbank', 'EUR'), [])
    const account = {
      reference: 'a',
      connectionId: 'bare',
      currency: 'EUR',
      scope: 'local',
      holderName: 'Ada',
    } as const
    t.match(await accounts.open(account), { kind: 'refused' })
    t.equal(await accounts.close(account), true)
    t.equal(await statements.statement({ connectionId: 'bare', currency: 'EUR', day: '2026-05-04' }), null)
  })
})

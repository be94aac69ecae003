/**
 * Direct debits of balances at the hands of creditors, people, banks and time, on two nodes that hear the same at once:
 * debits that are announced twice, due now and later, of mandates with and without a confirmation, refused, confirmed,
 * refunded, withdrawn and given back at any moment, controls that change, balances that run dry and are filled again,
 * and days that pass. Whatever happens, no debit is taken twice or moved against the table, and the books are clean.
 *
 *   SEED=123 npm test -- test/histories/incoming-debits.test.ts
 */
import t from 'tap'
import type { Test } from 'tap'
import {
  createIncomingDebitCommands,
  type IncomingDebitCommands,
} from '../../actors/incoming-debits/incoming-debit-operations.ts'
import { IncomingDebits } from '../../actors/incoming-debits/incoming-debits.ts'
import type { IncomingDebitMessage } from '../../actors/providers/incoming-debits.ts'
import { addDays, DAY_MS, dateIn, ManualClock } from '../../lib/base/clock.ts'
import type { ProblemSlug } from '../../lib/base/problems.ts'
import { INCOMING_DEBIT_MOVES } from '../../lib/incoming-debits/incoming-debit-moves.ts'
import { BalanceCache } from '../../storage/balances/balance-cache.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { ids, MONDAY } from '../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../support/ledger.ts'
import { Random } from '../support/random.ts'
import { asked, faultsOf, hearers, overloaded, SEEDS, tell, type Change } from './history.ts'
import { command, credited, openNodes, Client, type Node } from './nodes.ts'

const WORDS = 1_200
const ASKERS = 10
const OPENINGS = [4_000n, 900n]
const CREDITORS = ['Power', 'Water', 'Gym', 'Leasing'] as const
/** A debit that the bank takes or refuses as it arrives has no other status before. */
const LEGAL = new Set([
  ...['announced', 'pending_confirmation', 'debited', 'refused'].map((to) => `→${to}`),
  ...Object.values(INCOMING_DEBIT_MOVES).flatMap(({ from, to }) =>
    (from as readonly (string | null)[]).filter((one) => one !== null).map((one) => `${one}→${to}`),
  ),
])

interface Hearer extends Node {
  readonly debits: IncomingDebits
  readonly commands: IncomingDebitCommands
}

function hearing(node: Node, random: Random): Hearer {
  const accounts = new InternalAccountCache(node.world.database, ids)
  const balances = new BalanceCache(node.world.database)
  const options = { ...node.world, system: node.system, accounts, balances }
  return {
    ...node,
    debits: new IncomingDebits({
      ...options,
      // The bank takes some answers, and has to be told the others again.
      partner: { answerDebits: async (all) => all.filter(() => random.chance(0.7)).map(({ reference }) => reference) },
    }),
    commands: createIncomingDebitCommands({ ...options, bank: { announceDebit: async () => undefined } }),
  }
}

class Debits extends Client<Hearer> {
  readonly #known: string[] = []

  async next(): Promise<void> {
    const { random } = this
    const part = random.int(0, 99)
    if (this.#known.length < 5 || part < 34) await this.#announce()
    else if (part < 42) await this.#bankSays('debit.withdrawn')
    else if (part < 50) await this.#bankSays('debit.given_back')
    else if (part < 60) await this.#say('refuse')
    else if (part < 70) await this.#say('confirm')
    else if (part < 82) await this.#say('refund')
    else if (part < 90) await this.take()
    else if (part < 93) this.clock.advance(random.int(0, DAY_MS))
    else if (part < 95) await this.#control()
    else await this.#fill()
  }

  /** Tells one or both nodes of a debit, sometimes twice by other messages. */
  async #announce(): Promise<void> {
    const { random, clock, ledger } = this
    const reference = ids.next()
    const creditorName = random.pick(CREDITORS)
    const message: IncomingDebitMessage = {
      id: ids.next(),
      type: random.chance(0.2) ? 'debit.booked' : 'debit.announced',
      shard: ledger.shard,
      reference,
      connectionId: ledger.connectionId,
      account: random.pick(ledger.balances),
      debit: {
        reference,
        scheme: creditorName === 'Leasing' ? 'sepa_dd_b2b' : 'sepa_dd_core',
        amount: BigInt(random.int(1, 400)),
        currency: 'EUR',
        creditorName,
        creditorId: creditorName.toUpperCase(),
        mandateReference: random.chance(0.95) ? `M-${random.int(1, 3)}` : null,
        remittance: null,
        endToEndId: null,
        dueDate: addDays(dateIn(clock.now(), 'Europe/Brussels'), random.int(0, 3)),
      },
    }
    await this.#tell(random.chance(0.2) ? [message, { ...message, id: ids.next() }] : [message])
    this.#known.push(reference)
  }

  async #bankSays(type: 'debit.withdrawn' | 'debit.given_back'): Promise<void> {
    const reference = this.random.pick(this.#known)
    await this.#tell([{ id: ids.next(), type, shard: this.ledger.shard, reference, reasonCode: null, amount: null }])
  }

  /** A message is repeated until a node has taken it. */
  async #tell(messages: readonly IncomingDebitMessage[]): Promise<void> {
    this.tally.add(messages[0]!.type)
    const open = new Map(messages.map((message) => [message.id, message]))
    for (let attempt = 0; open.size > 0; attempt += 1) {
      if (attempt === 20) throw new Error(`${[...open.keys()]} was not taken.`)
      const taken = await Promise.all(
        hearers(this.random, this.nodes).map(({ debits }) => debits.inbox([...open.values()])),
      )
      for (const id of taken.flat()) open.delete(id)
    }
  }

  async #say(what: 'refuse' | 'confirm' | 'refund'): Promise<void> {
    const id = this.random.pick(this.#known)
    const refusals: readonly ProblemSlug[] = ['invalid-transition', 'not-found']
    const path = `/v1/incoming-debits/${id}/${what}`
    await Promise.all(
      hearers(this.random, this.nodes).map(async ({ commands }) => {
        await asked(this.tally, what, refusals, async () => {
          switch (what) {
            case 'refuse':
              return await commands.refuse(
                this.by,
                id,
                command(this.by, path, { cancelMandate: this.random.chance(0.05) }, this.clock),
              )
            case 'confirm':
              return await commands.confirm(this.by, id, command(this.by, path, null, this.clock))
            case 'refund':
              return await commands.refund(
                this.by,
                id,
                command(this.by, path, { reasonCode: this.random.chance(0.9) ? 'MD06' : 'MD01' }, this.clock),
              )
            default:
              return what satisfies never
          }
        }).catch(overloaded)
      }),
    )
  }

  /** The nodes take what is due, at once. */
  async take(): Promise<void> {
    await Promise.all(
      hearers(this.random, this.nodes).map(({ debits }) =>
        debits.task().run('', { signal: new AbortController().signal, attempt: 1 }).catch(overloaded),
      ),
    )
  }

  async #control(): Promise<void> {
    const { random, ledger } = this
    const balanceId = random.pick(ledger.balances)
    await this.nodes[0]!.world.database.query({
      name: 'history_controls',
      values: [balanceId, ledger.customerId, random.chance(0.1), random.chance(0.3) ? 300 : null],
      text: `with fenced as (update balance set version = version + 1 where id = $1)
        insert into debit_controls (balance_id, customer_id, block_all, max_amount, updated_by, updated_at) values ($1, $2, $3, $4, $2, now())
        on conflict (balance_id) do update set block_all = excluded.block_all, max_amount = excluded.max_amount, version = debit_controls.version + 1`,
    })
    this.tally.add('controls')
  }

  async #fill(): Promise<void> {
    const { random, ledger } = this
    const money = { balanceId: random.pick(ledger.balances), amount: random.int(100, 900), remittance: null }
    await random.pick(this.nodes).incoming.inbox([credited(ledger, money)])
  }
}

async function run(t: Test, seed: number): Promise<void> {
  const clock = new ManualClock(MONDAY)
  const ledger: Ledger = await openLedger(t, OPENINGS, clock)
  const { nodes, bugs } = await openNodes(t, ledger, 2)
  const random = new Random(seed)
  const hearing2 = nodes.map((node) => hearing(node, random))
  const history = new Debits(ledger, clock, random, hearing2)
  await tell({ words: WORDS, askers: ASKERS, clock }, () => history.next())
  clock.advance(6 * DAY_MS)
  await history.take()
  await history.take()

  const { tally } = history
  t.ok(
    ['debit.announced', 'debit.booked', 'refuse', 'confirm', 'refund', 'controls'].every((what) => tally.of(what) > 0),
    `much was asked, and done: ${tally}`,
  )
  t.strictSame(bugs, [], 'and nothing was a bug')
  const { read } = ledger
  const now = new Map(await read<[string, string]>('select id, status from incoming_debit'))
  t.strictSame(
    [...now.values()].filter((status) => status === 'announced' || status === 'pending_confirmation'),
    [],
    'nothing is left lying',
  )
  const found = new Set(now.values())
  for (const status of ['debited', 'refused', 'returned', 'refunded']) t.ok(found.has(status), `some are ${status}`)
  t.strictSame(
    faultsOf(
      await read<[...Change]>(
        `select object_id, coalesce(previous_status, ''), status from outbox where type = 'incoming_debit.status_changed'
         union all select object_id, '', status from outbox where type = 'incoming_debit.received' and status in ('announced', 'pending_confirmation')`,
      ),
      LEGAL,
      now,
    ),
    [],
    'no status was reached from where it cannot be, and each change is one event',
  )
  await auditIsClean(t, ledger)
}

for (const seed of SEEDS) t.test(`seed ${seed}`, (t) => run(t, seed))

/**
 * Files of payments at the hands of people, of time and of two nodes that work on the same ones: sent in, checked
 * again, given up while they are checked, submitted twice at once, stalled, shaken and cancelled, with nights that pass
 * while a lot is being paid, so that a run is taken up by the other node while the first is still at it; approved,
 * rejected or forgotten as a whole. No file is ever in a state that its table does not have, no row is paid twice or
 * without being told, and each change is told once.
 *
 *   SEED=123 npm test -- test/histories/bulk.test.ts
 */
import { NO_MARKET } from '../../lib/exchange/market.ts'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createBulkPaymentCommands } from '../../actors/bulk-payments/bulk-payment-operations.ts'
import { createBulkSubmissions, type BulkSubmissionCommands } from '../../actors/bulk-payments/bulk-submissions.ts'
import { createBulkUploads } from '../../actors/bulk-payments/bulk-uploads.ts'
import type { BulkPaymentCommands } from '../../actors/bulk-payments/bulk-payment-operations.ts'
import type { BulkUploadCommands } from '../../actors/bulk-payments/bulk-uploads.ts'
import { createDownloads } from '../../actors/documents/downloads.ts'
import type { BulkPayment, BulkPaymentCreate } from '../../lib/bulk-payments/bulk-payment-schema.ts'
import type { BulkStatus } from '../../lib/bulk-payments/bulk-payment.ts'
import { ManualClock } from '../../lib/base/clock.ts'
import { MONDAY } from '../support/commands.ts'
import { auditIsClean, openLedger } from '../support/ledger.ts'
import { Random } from '../support/random.ts'
import { until } from '../support/until.ts'
import { asked, faultsOf, hearers, SEEDS, tell, type Change } from './history.ts'
import { command, freshKey, openNodes, Client, type Node } from './nodes.ts'

const WORDS = 450
const ASKERS = 10
/** Files of a round. */
const FILES_MAX = 24
/** On a slow machine fewer runs come to their end in a round, so fewer changes are met: then there is another round. */
const ROUNDS_MAX = 8
const ROWS_MAX = 50
/** So little that some rows have none left. */
const OPENINGS = [60_000n, 8_000n]
const MINUTE_MS = 60_000

/** Every change of a status that there may be. */
const LEGAL = new Set([
  '→validating',
  'validating→ready',
  'validating→invalid',
  'validating→cancelled',
  'ready→validating',
  'invalid→validating',
  'ready→submitting',
  'ready→cancelled',
  'invalid→cancelled',
  'submitting→submitted',
  'submitting→partially_submitted',
  'submitting→cancelled',
])
/** Of these changes so many have to be met. */
const MET_MIN = LEGAL.size - 5
const LEGAL_OF_PAYMENTS = new Set([
  '→processing',
  '→pending_approval',
  'pending_approval→processing',
  'pending_approval→rejected',
  'pending_approval→cancelled',
])
/** From so much on a file waits for people, as long as this. */
const POLICY = {
  enabled: true,
  currency: 'EUR',
  appliesTo: null,
  exemptOwnAccounts: true,
  recipientMode: 'none',
  tiers: [
    {
      tier: 1,
      minAmount: { amountMinor: '2000', currency: 'EUR' },
      maxAmount: null,
      requiredApprovals: 1,
      approverRoles: [],
      approverUserIds: [],
      approverTeamIds: [],
      allowSelfApproval: false,
      distinctTeams: false,
      expiresAfterHours: 1,
    },
  ],
}

/** The requests for each status, the likely ones more often. */
const MOVES: Readonly<Record<BulkStatus, readonly ('submit' | 'revalidate' | 'cancel')[]>> = {
  validating: [
    'submit',
    'submit',
    'submit',
    'submit',
    'submit',
    'revalidate',
    'revalidate',
    'revalidate',
    'revalidate',
    'cancel',
  ],
  ready: [
    'submit',
    'submit',
    'submit',
    'submit',
    'submit',
    'submit',
    'submit',
    'submit',
    'revalidate',
    'revalidate',
    'cancel',
  ],
  invalid: ['revalidate', 'revalidate', 'cancel'],
  submitting: ['submit', 'submit', 'cancel'],
  submitted: [],
  partially_submitted: [],
  cancelled: [],
}

type Hearer = Node & { readonly commands: BulkPaymentCommands & BulkUploadCommands & BulkSubmissionCommands }

class Files extends Client<Hearer> {
  #made = 0
  #filesMax = FILES_MAX

  /** Allows as many files again. */
  nextRound(): void {
    this.#filesMax = this.#made + FILES_MAX
  }

  /** The changes of status that files have been through. */
  async met(): Promise<ReadonlySet<string>> {
    return new Set((await this.changes()).map(([, from, to]) => `${from}→${to}`))
  }

  async changes(): Promise<Change[]> {
    return await this.ledger.read<[...Change]>(
      `select object_id, coalesce(previous_status, ''), status from outbox where type = 'bulk_payment.status_changed'`,
    )
  }

  async next(): Promise<void> {
    const random = this.random
    if (this.#made < 4 || (this.#made < this.#filesMax && random.chance(0.08))) await this.#send()
    // Seconds end an approval, minutes let a run be cancelled, and half an hour ends it.
    else if (random.chance(0.03)) this.clock.advance(random.pick([6_000, 6_000, 30_000, 3 * MINUTE_MS, 31 * MINUTE_MS]))
    else if (random.chance(0.3)) this.look()
    // Those who work have their time, too.
    else if (random.chance(0.5)) await pause(20)
    else await this.#ask()
  }

  look(nodes: readonly Hearer[] = hearers(this.random, this.nodes)): void {
    for (const { tasks, bulkPayments, approvals } of nodes) {
      void tasks.runOnce()
      bulkPayments.nudge()
      approvals.nudge()
    }
  }

  async #send(): Promise<void> {
    const random = this.random
    const { recipient, balances } = this.ledger
    const rows = Array.from(
      { length: random.int(1, ROWS_MAX) },
      () =>
        ({
          recipientId: random.chance(0.05) ? randomUUID() : recipient.id,
          currency: 'EUR',
          amount: `${random.int(0, 1)}.${random.int(10, 99)}`,
          reference: 'Invoice 42',
        }) as BulkPaymentCreate['rows'][number],
    )
    const name = [
      random.pick(['', 'SBX:STALL']),
      random.pick(['', 'SBX:APPROVE', 'SBX:APPROVE', 'SBX:REJECT']),
      'Salaries',
    ]
      .filter((word) => word !== '')
      .join(' ')
    const sent = command(
      this.by,
      '/v1/bulk-payments',
      { name, sourceBalanceId: random.pick(balances), allowDuplicate: true, requireAllValid: random.chance(0.2), rows },
      this.clock,
    )
    // Under one key, whoever hears it.
    const answers = await Promise.all(
      hearers(random, this.nodes).map(({ commands }) =>
        asked(this.tally, 'send', ['idempotency-key-in-use'], () => commands.create(this.by, sent)),
      ),
    )
    const made = new Set(
      answers.filter((answer) => answer !== null).map((answer) => (JSON.parse(answer!.body) as BulkPayment).id),
    )
    if (made.size > 1) throw new Error(`One key has made ${made.size} files.`)
    this.#made += made.size
    this.tally.add('made', made.size)
  }

  /** Sends a request about a file; the same request to both nodes at once counts as two. */
  async #ask(): Promise<void> {
    const random = this.random
    const { tally } = this
    const by = this.by
    // Mostly what can be, of files that have not come to their end.
    const files = await this.ledger.read<[string, BulkStatus]>('select id, status from bulk_payment order by id')
    const open = files.filter(([, status]) => MOVES[status].length > 0)
    const [id, status] = random.pick(open.length > 0 && random.chance(0.8) ? open : files)
    const move = random.pick(MOVES[status].length > 0 ? MOVES[status] : (['submit', 'revalidate', 'cancel'] as const))
    const words: Readonly<Record<typeof move, (commands: Hearer['commands']) => Promise<unknown>>> = {
      submit: (commands) =>
        asked(tally, 'submitted', ['rate-limited', 'invalid-transition'], () =>
          commands.submit(by, command(by, `/v1/bulk-payments/${id}/submit`, null, this.clock), id),
        ),
      revalidate: (commands) =>
        asked(tally, 'revalidated', ['invalid-transition'], () => commands.revalidate(by, id, null)),
      cancel: (commands) => asked(tally, 'cancelled', ['not-cancellable'], () => commands.cancel(by, id, freshKey())),
    }
    await Promise.all(hearers(random, this.nodes).map(({ commands }) => words[move](commands)))
  }

  /** Sends no more requests: work that was begun ends, and so does work that waits for people in vain. */
  async settle(): Promise<void> {
    await until(
      'every run and every approval has come to its end',
      async () => {
        this.look(this.nodes)
        const [found] = await this.ledger.read<[number, number]>(
          `select (select count(*) from bulk_payment where status in ('validating', 'submitting') or due_at is not null)::int
            + (select count(*) from approval where status = 'pending' and subject_type = 'bulk_payment')::int
            + (select count(*) from job where due_at is not null)::int + (select count(*) from payment where status = 'pending_approval')::int,
          (select count(*) from job where lease is not null and due_at is not null)::int`,
        )
        const [left, running] = found!
        // Files with a job under way are left alone.
        if (running === 0) this.clock.advance(MINUTE_MS)
        return left === 0
      },
      { pollMs: 20 },
    )
  }
}

async function run(t: Test, seed: number): Promise<void> {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, OPENINGS, clock)
  await ledger.read(
    `insert into approval_policy (id, customer_id, kind, version, terms, effective_from, updated_by, updated_at) values ($1, $2, 'bulk_payment', 1, $3, now(), $2, now())`,
    [randomUUID(), ledger.customerId, JSON.stringify(POLICY)],
  )
  const { nodes, bugs } = await openNodes(t, ledger, 2)
  const linkKey = randomBytes(32)
  const history = new Files(
    ledger,
    clock,
    new Random(seed),
    nodes.map((node) => {
      const downloads = createDownloads({ ...node.world, linkKey, origin: () => 'http://127.0.0.1' })
      const world = {
        ...node.world,
        jobs: node.jobs,
        downloads,
        sandbox: true,
        market: { rates: () => NO_MARKET },
        hasFeature: async () => true,
      }
      return {
        ...node,
        commands: { ...createBulkPaymentCommands(world), ...createBulkUploads(world), ...createBulkSubmissions(world) },
      }
    }),
  )
  for (let round = 1; round === 1 || (round <= ROUNDS_MAX && (await history.met()).size < MET_MIN); round++) {
    history.nextRound()
    await tell({ words: WORDS, askers: ASKERS, clock }, () => history.next())
    await history.settle()
  }
  await Promise.all(
    nodes.map(({ tasks, bulkPayments, approvals }) =>
      Promise.all([tasks.stop(), bulkPayments.stop(), approvals.stop()]),
    ),
  )

  const { tally } = history
  t.ok(
    ['made', 'submitted', 'submitted invalid-transition', 'cancelled'].every((what) => tally.of(what) > 0),
    `much was asked, and done: ${tally}`,
  )
  t.strictSame(bugs, [], 'and nothing was a bug')
  const { read } = ledger
  const now = new Map(await read<[string, string]>('select id, status from bulk_payment'))
  t.equal(now.size, tally.of('made'))
  const events = await history.changes()
  t.strictSame(
    faultsOf(events, LEGAL, now),
    [],
    'no status was reached from where it cannot be, and each change is one event',
  )
  t.strictSame(
    await read(
      `select j.id, j.status, count(o.id) from job j left join outbox o on o.object_id = j.id and o.type = 'job.completed' group by 1, 2 having count(o.id) <> 1`,
    ),
    [],
    'each job was told of once',
  )
  const done = new Map(
    await read<[string, number]>(
      `select action, count(*)::int from audit_event where object_type = 'bulk_payment' and actor_type = 'key' group by 1`,
    ),
  )
  for (const what of ['revalidated', 'cancelled'])
    t.equal(done.get(`bulk_payment.${what}`) ?? 0, tally.of(what), `what was answered with yes was ${what} once`)
  t.equal(
    done.get('bulk_payment.submitted') ?? 0,
    events.filter(([, , to]) => to === 'submitting').length,
    'a run is begun once, however often it was asked for',
  )
  t.strictSame(
    await read(
      `select b.id, b.status, b.submitted, p.paid, b.total, r.rows from bulk_payment b
      left join lateral (select count(*) as paid from payment p where p.details::jsonb->'bulk'->>'bulkPaymentId' = b.id::text) p on true
      left join lateral (select count(*) as rows from bulk_payment_row r where r.bulk_payment_id = b.id) r on true
      where b.submitted <> p.paid or (b.submitted_at is not null and b.total <> r.rows)`,
    ),
    [],
    'so many payments as rows were submitted',
  )
  const payments = await read<[string]>(
    `select distinct coalesce(u.previous_status, '') || '→' || u.status from status_update u join payment p on p.id = u.object_id`,
  )
  t.strictSame(
    payments.flat().filter((change) => !LEGAL_OF_PAYMENTS.has(change)),
    [],
  )
  const funds = await Promise.all(ledger.balances.map((id) => ledger.funds(id)))
  t.strictSame(
    funds.filter(({ posted, held }) => posted - held < 0n),
    [],
    'no balance is overdrawn',
  )
  const [sums] = await read<[string, string]>(
    `select (select coalesce(sum(amount + fee), 0) from payment where status = 'processing')::text, (select sum(held) from balance)::text`,
  )
  t.equal(sums![0], sums![1], 'what is held is what is still to be paid')
  const met = await history.met()
  t.ok(met.size >= MET_MIN, `${[...met].join(' ')} were met`)
  await auditIsClean(t, ledger)
}

for (const seed of SEEDS) t.test(`files of payments on two nodes (SEED=${seed})`, (t) => run(t, seed))

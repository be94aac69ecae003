/** The end of every torture: let everything come to its end, ask again for every answer, then judge. */
import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import type { Cluster } from '../support/cluster.ts'
import { until } from '../support/until.ts'
import { readBooks } from './books.ts'
import { check, type Verdict } from './checker.ts'
import type { Clients } from './clients.ts'

/** A backend may be kept from the processor for this long between its commit's time and everybody's seeing it. */
const TOLERANCE_MS = 150
/** Longer than a lost payment can take: such payments are looked for every 30 s, and asked about again after 5 s. */
const DRAIN_MS = 120_000

export interface Trial {
  readonly verdict: Verdict
  readonly brokenBooks: readonly object[]
  /** Payments and exchanges that came to no end in time, and what else was still to come. */
  readonly stuck: readonly object[]
  /** The errors that nodes have logged: bugs. */
  readonly errors: readonly string[]
}

/**
 * Waits until everything that was promised has come, and every payment and exchange has ended, but for those that the
 * bank never answers.
 */
async function drain(
  cluster: Cluster,
  customers: readonly CreatedCustomer[],
  drainMs: number,
): Promise<readonly object[]> {
  const ids = [customers.map(({ id }) => id)]
  const open = async () => [
    ...(await promised(cluster, ids)),
    ...(await cluster.query(
      `select p.id, p.status, p.sent_at, p.updated_at, i.payment_id is not null as instructed, i.attention_at, i.attempts, o.state, o.next_event, o.due_at
     from payment p left join partner_instruction i on i.payment_id = p.id left join sandbox_order o on o.reference = p.id
     where p.customer_id = any($1) and (p.status in ('processing', 'exception', 'on_hold') or (p.status = 'completed' and p.details like '%SBX/RET-%'))
       and not (p.details like '%SBX/TIMEOUT"%' and p.status = 'exception')
       and not exists (select from exchange x where x.payment_id = p.id and x.status = 'exception' and not exists (select from sandbox_fx_order f where f.reference = x.id)) limit 10`,
      ids,
    )),
    ...(await cluster.query(
      `select e.id, e.status, e.sell_amount, e.updated_at, f.due_at, f.sent_at, f.attempts, o.state, o.next_event, o.due_at as bank_due_at
     from exchange e left join fx_order f on f.exchange_id = e.id left join sandbox_fx_order o on o.reference = e.id
     where e.customer_id = any($1) and (e.status = 'processing' or (e.status = 'exception' and o.reference is not null)) limit 10`,
      ids,
    )),
  ]
  // The bank's outcomes of the next minute are made due now, and asked for now.
  const hurry = async () => {
    await cluster.bankRemembers()
    await cluster.askBankNow()
    await cluster.reviewNow()
    await cluster.jobsGoOn()
    await cluster.payDueNow()
  }
  await until(
    'everything has ended',
    async () => {
      await hurry()
      return (await open()).length === 0
    },
    { deadlineMs: drainMs, pollMs: 250 },
  ).catch(() => undefined)
  return await open()
}

/** The open work of files, schedules, and money that the bank has announced. */
async function promised(cluster: Cluster, ids: readonly unknown[]): Promise<readonly object[]> {
  return [
    ...(await cluster.query(
      `select id, kind, status, failures, due_at, lease from job where customer_id = any($1) and due_at is not null limit 10`,
      ids,
    )),
    ...(await cluster.query(
      `select id, name, status, valid, submitting, last_progress_at from bulk_payment where customer_id = any($1) and status in ('validating', 'submitting') limit 10`,
      ids,
    )),
    ...(await cluster.query(
      `select payment_id, scheduled_payment_id, number, taken_at from scheduled_occurrence where customer_id = any($1) and status = 'due' limit 10`,
      ids,
    )),
    ...(await cluster.query(
      `select id, status, next_occurrence_at from scheduled_payment where customer_id = any($1) and status = 'active' and next_occurrence_at <= now() limit 10`,
      ids,
    )),
    ...(await cluster.query(
      `select p.id, p.status, p.amount, b.posted, b.held, d.due_at from payment p join balance b on b.id = p.source_balance_id left join payment_due d on d.payment_id = p.id
      where p.customer_id = any($1) and p.status = 'scheduled' and b.posted - b.held >= p.amount limit 10`,
      ids,
    )),
    ...(await cluster.query(`select id, type, due_at from sandbox_message where acknowledged_at is null limit 10`)),
    ...(await cluster.query(
      `select id, type, status, attempts, due_at from provider_inbox where due_at is not null limit 10`,
    )),
    ...(await cluster.query(
      `select o.id, o.type, o.created_at from outbox o, funds_request_matching f where o.type = 'incoming_payment.received' and o.written_in >= f.position limit 10`,
    )),
  ]
}

/** Everything is decided; the nodes run and the world is well again. */
export async function judge(
  cluster: Cluster,
  options: {
    readonly clients: Clients
    readonly customers: readonly CreatedCustomer[]
    readonly replays?: number
    readonly drainMs?: number
  },
): Promise<Trial> {
  const { clients, customers, replays, drainMs = DRAIN_MS } = options
  await clients.stop()
  const stuck = await drain(cluster, customers, drainMs)
  await clients.replay(replays)
  const { history } = clients
  const books = await readBooks(cluster, customers, history.commands)
  for (const node of cluster.nodes) node.look()
  return {
    verdict: check(history, books, TOLERANCE_MS),
    brokenBooks: await cluster.brokenBooks(),
    stuck,
    errors: cluster.nodes.flatMap(({ name, errors }) => errors.map((line) => `${name}: ${line}`)),
  }
}

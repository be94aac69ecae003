/** How far the followers of a database are behind: those of events, and the journal's chain. */
import { setTimeout as pause } from 'node:timers/promises'
import { FOLLOWERS, type Follower } from '../storage/outbox/followers.ts'
import type { BenchDatabase } from './database.ts'
import { chainLag, lagOf, type Lag, type Reading } from './holding.ts'
import type { Moment } from './process.ts'
import { PENDING_AFTER_MS } from '../storage/transactions/transactions.ts'

const EVERY_MS = 1_000
/**
 * Readings within which each follower has made a pass: those of events rest for two seconds at most, the chain for
 * fifty times its last pass. A measurement with fewer readings tells nothing about the chain.
 */
const EVENT_READINGS = 3
const CHAIN_READINGS = 20
/** Times of events are those of their nodes (storage/outbox/outbox-cursor.ts). */
const SLACK = `interval '2 days'`

const NAMES: Readonly<Record<Follower, string>> = {
  webhook_relay: 'webhooks',
  payment_follow_up: 'payment follow-up',
  funds_request_matching: 'funds requests',
  scheduled_payment_follow_up: 'scheduled payments',
  transaction_following: 'transactions',
  pending_transaction_following: 'pending transactions',
}
/** What a follower leaves to events of this age and younger is no lag: most of their payments end meanwhile. Seconds. */
const MEANT: Readonly<Partial<Record<Follower, number>>> = {
  pending_transaction_following: PENDING_AFTER_MS / 1_000,
}
const CHAIN = 'journal chain'

/** The age of the oldest event that a follower has not followed, seconds. */
const lagSql = (follower: Follower): string => `(select greatest(0, coalesce(extract(epoch from clock_timestamp() - (
    select o.created_at from outbox o where o.written_in >= f.position and o.created_at >= least(f.moved_at, now()) - ${SLACK}
    order by o.written_in limit 1)), 0))::float8 from ${follower} f) as ${follower}`

const TABLES = Object.keys(FOLLOWERS) as Follower[]
const READ = `select ${TABLES.map(lagSql).join(', ')}, c.*,
    (select count(*)::float8 from partner_instruction) as under_way
  from (select coalesce(sum(b.sequence), 0)::float8 as written, coalesce(sum(b.sequence - coalesce(c.sequence, 0)), 0)::float8 as waiting
    from balance b left join journal_chain c on c.chain_id = b.id) c`

/** What is left to do at a time. */
export type Left = Readonly<Record<Follower, number>> & {
  /** Journal lines written so far, and those that are not chained. */
  readonly written: number
  readonly waiting: number
  /** Payments with the bank: a row is written with the payment and deleted with its final outcome. */
  readonly under_way: number
}

/** Reads what is left to do. @throws the driver's errors */
export async function readLeft(database: BenchDatabase): Promise<Left> {
  const [left] = await database.query<Left>(READ)
  return left!
}

/** Whether every follower has done its work. */
export function isCaughtUp(left: Left): boolean {
  return left.waiting === 0 && TABLES.every((follower) => left[follower] === 0)
}

/** Reads what is left to do once a second, until it is stopped. */
export class FollowersWatch {
  readonly #database: BenchDatabase
  readonly #everyMs: number
  readonly #readings: (Left & { readonly at: number })[] = []
  readonly #watched: Promise<void>
  #from = Number.NEGATIVE_INFINITY
  #until = Number.POSITIVE_INFINITY
  #watching = true

  constructor(database: BenchDatabase, everyMs: number = EVERY_MS) {
    this.#database = database
    this.#everyMs = everyMs
    this.#watched = this.#watch()
    // Looked at in `result`; until then a bench that is being taken down must not fall over it.
    this.#watched.catch(() => undefined)
  }

  /** Only readings between the two moments count. */
  readonly onMoment = (moment: Moment): void => {
    if (moment === 'begin') this.#from = performance.now()
    if (moment === 'end') this.#until = performance.now()
  }

  /** Reads no more. */
  end(): void {
    this.#watching = false
  }

  /** Waits for the last reading. @returns the payments under way, and each follower's lag by its name */
  async result(): Promise<{ readonly underWay: readonly Reading[]; readonly lags: Readonly<Record<string, Lag>> }> {
    await this.#watched
    const used = this.#readings.filter(({ at }) => at >= this.#from && at <= this.#until)
    const values = (name: keyof Left): Reading[] => used.map((left) => ({ at: left.at, value: left[name] }))
    const lags = TABLES.map((follower): [string, Lag] => [
      NAMES[follower],
      lagOf(
        values(follower).map(({ value }) => Math.max(0, value - (MEANT[follower] ?? 0))),
        EVENT_READINGS,
      ),
    ])
    if (used.length >= CHAIN_READINGS)
      lags.push([CHAIN, lagOf(chainLag(values('waiting'), values('written')), CHAIN_READINGS)])
    return { underWay: values('under_way'), lags: Object.fromEntries(lags) }
  }

  async #watch(): Promise<void> {
    while (this.#watching) {
      const at = performance.now()
      this.#readings.push({ at, ...(await readLeft(this.#database)) })
      await pause(Math.max(0, this.#everyMs - (performance.now() - at)))
    }
  }
}

/**
 * Follows the events in the order in which their transactions ended. Each follower has a cursor, a row with the
 * position it has reached, moved in the same transaction as the follower's own writes. So each event is followed
 * exactly once, on whichever node it was written or is followed.
 *
 * Only the events of transactions that are over are read: everything older than the oldest transaction under way in
 * this database (event-horizon.ts). A follower takes an advisory lock rather than the lock of its row, because a row
 * lock would give it a transaction number of its own, and hide concurrent commits until the next pass.
 */
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import { eventHorizon, SNAPSHOT } from './event-horizon.ts'
import { through, type Queries, type TransactionClient } from '../db/transaction.ts'
import { FOLLOWERS, type Follower } from './followers.ts'
import { renumberEvents } from './restored-outbox.ts'
import { expression, select } from '../db/select.ts'

/** Slack between clocks: events carry the time of the node that wrote them, and no node is this far behind another. */
const CLOCK_SLACK_MS = 2 * DAY_MS

/** The oldest transaction under way that each follower saw in its last pass on this node. Used only to save queries. */
const OLDEST = new Map<Follower, string>()

/**
 * SQL condition: event `o` is in a range; the range's `bounds` are the first three parameters. Uses the index
 * `outbox_written_in`.
 */
export const IN_EVENT_RANGE = 'o.written_in >= $1::text::xid8 and o.written_in < $2::text::xid8 and o.created_at >= $3'

/** The next range of events. */
export interface EventRange {
  readonly bounds: readonly [from: string, until: string, since: string]
  /** Whether more events follow this range. */
  readonly more: boolean
}

export class OutboxCursor {
  readonly #client: TransactionClient
  readonly #follower: Follower
  readonly #now: number
  readonly #position: string
  #horizon: string
  readonly #since: string

  private constructor(
    client: TransactionClient,
    {
      follower,
      now,
      position,
      horizon,
      movedAt,
    }: {
      readonly follower: Follower
      readonly now: number
      readonly position: string
      readonly horizon: string
      readonly movedAt: Date | null
    },
  ) {
    this.#client = client
    this.#follower = follower
    this.#now = now
    this.#position = position
    this.#horizon = horizon
    this.#since = timestamp((movedAt === null ? now : Math.min(movedAt.getTime(), now)) - CLOCK_SLACK_MS)
  }

  /**
   * Takes the cursor until the transaction ends; null while another pass holds it. `now` is epoch milliseconds.
   *
   * In a database that was restored into a cluster with lower transaction numbers, the events are renumbered first
   * (restored-outbox.ts), and `onRestored` is called.
   */
  static async take(
    client: TransactionClient,
    follower: Follower,
    now: number,
    onRestored?: () => void,
  ): Promise<OutboxCursor | null> {
    const {
      rows: [lock],
    } = await client.query<[boolean]>({
      name: `${follower}_lock`,
      text: `select pg_try_advisory_xact_lock(${FOLLOWERS[follower]})`,
      rowMode: 'array',
    })
    if (lock?.[0] !== true) return null
    let place = await readPosition(client, follower)
    if (place.restored) {
      if (!(await renumberEvents(client))) return null
      onRestored?.()
      place = await readPosition(client, follower)
    }
    const { position, movedAt, oldest, underWay, newest } = place
    // Transactions last milliseconds. Only when the same one is the oldest in two passes is the query for its database
    // worthwhile.
    const stands = OLDEST.get(follower) === oldest
    OLDEST.set(follower, oldest)
    const horizon = stands ? (await eventHorizon(through(client), { underWay, newest })).horizon : oldest
    return new OutboxCursor(client, { follower, now, position, horizon, movedAt })
  }

  /**
   * Reads the next range of events, about `max` of them or, with null, all; null when there are none. With `before`,
   * epoch milliseconds, the range ends before the first event of that time or a later one.
   */
  async next(max: number | null, before: number | null = null): Promise<EventRange | null> {
    const from = this.#position
    if (before !== null && !(await this.#endAt(before))) return null
    const newest = await this.#transactionOf('newest', 'desc limit 1', [from, this.#horizon, this.#since])
    if (newest === undefined) return null
    // Ranges end between transactions, so that one number marks the position; a transaction with more events than `max`
    // is taken whole.
    const cut =
      max === null
        ? undefined
        : await this.#transactionOf('cut', 'limit 1 offset $4', [from, this.#horizon, this.#since, max])
    const until = cut === undefined ? after(newest) : cut === from ? after(from) : cut
    return { bounds: [from, until, this.#since], more: cut !== undefined }
  }

  /** Ends the range before the first event of this time or a later one. @returns whether it has any event */
  async #endAt(before: number): Promise<boolean> {
    const range = [this.#position, this.#horizon, this.#since]
    const first = await this.#transactionOf('first', 'limit 1', range)
    const { rows } = await this.#client.query<[string]>({
      name: 'events_too_young',
      values: [...range, timestamp(before)],
      rowMode: 'array',
      text: `select o.written_in::text from outbox o where ${IN_EVENT_RANGE} and o.created_at >= $4 order by o.written_in limit 1`,
    })
    this.#horizon = rows[0]?.[0] ?? this.#horizon
    return first !== undefined && first !== this.#horizon
  }

  /**
   * Moves the cursor past a range that was followed. Without events nothing is written, because there is no range then.
   */
  async move({ bounds: [, until] }: EventRange): Promise<void> {
    await this.#moveTo(until)
  }

  async #transactionOf(which: string, end: string, values: unknown[]): Promise<string | undefined> {
    const {
      rows: [row],
    } = await this.#client.query<[string]>({
      name: `events_${which}`,
      values,
      rowMode: 'array',
      text: `select o.written_in::text from outbox o where ${IN_EVENT_RANGE} order by o.written_in ${end}`,
    })
    return row?.[0]
  }

  async #moveTo(position: string): Promise<void> {
    await this.#client.query({
      name: `${this.#follower}_move`,
      text: `update ${this.#follower} set position = $1::text::xid8, moved_at = $2`,
      values: [position, timestamp(this.#now)],
    })
  }
}

/**
 * Tells whether there are events that a follower has not followed: those of transactions that were not over at its last
 * pass, and those of a pass that is under way. `now` is epoch milliseconds.
 *
 * @throws the driver's errors
 */
export async function hasUnfollowedEvents(database: Queries, follower: Follower, now: number): Promise<boolean> {
  const [row] = await database.query<[boolean]>({
    name: `${follower}_left`,
    values: [timestamp(now), CLOCK_SLACK_MS / 1_000],
    text: `select exists (select from outbox o where o.written_in >= f.position
        and o.created_at >= least(f.moved_at, $1::timestamptz) - make_interval(secs => $2)) from ${follower} f`,
  })
  return row?.[0] === true
}

const after = (transaction: string): string => String(BigInt(transaction) + 1n)

const POSITION = select({
  position: expression<string>('f.position::text'),
  restored: expression<boolean>('f.position > pg_snapshot_xmax(s)'),
  movedAt: expression<Date | null>('f.moved_at'),
  oldest: expression<string>('pg_snapshot_xmin(s)::text'),
  ...SNAPSHOT,
})

async function readPosition(client: TransactionClient, follower: Follower): Promise<ReturnType<typeof POSITION.read>> {
  const {
    rows: [row],
  } = await client.query<unknown[]>({
    name: `${follower}_place`,
    rowMode: 'array',
    text: `select ${POSITION.sql} from ${follower} f, pg_current_snapshot() s`,
  })
  return POSITION.read(row as unknown[])
}

/** The rests of pollers: until the next due row of a table, or until there are events to follow. */
import type { Clock } from '../../lib/base/clock.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { nextDue, type DueWork } from '../../storage/db/due-work.ts'
import type { Follower } from '../../storage/outbox/followers.ts'
import { hasUnfollowedEvents } from '../../storage/outbox/outbox-cursor.ts'
import type { Rest } from './poller.ts'
import type { Wake, Wakes } from './wakes.ts'

/** Dependencies of a poller's rest. */
export interface RestDeps {
  readonly database: Pick<Database, 'query'>
  readonly clock: Clock
  readonly wakes: Wakes
}

/**
 * Rests until the next row of these tables is due, for the shards of this node.
 *
 * @param also what else ends the rest, for tables without a trigger
 */
export function untilDue(
  { database, clock, wakes, shards }: RestDeps & { readonly shards: Pick<Shards, 'owned'> },
  works: readonly DueWork[],
  also: readonly Wake[] = [],
): Rest {
  return {
    clock,
    wakes,
    on: [...works, ...also],
    next: async () => earliest(await Promise.all(works.map((work) => nextDue(database, work, shards.owned())))),
  }
}

/** After a commit of this node a follower polls on for this time without asking whether there are events. */
const FLOOD_MS = 2_000

/**
 * Rests until this node commits events. While there are events that the follower has not followed, it polls on. In a
 * flood the answer is known, and the question would read many events of the flood.
 */
export function untilEvents({ database, clock, wakes }: RestDeps, follower: Follower): Rest {
  return {
    clock,
    wakes,
    on: ['events'],
    next: async () =>
      wakes.hasEventsWithin(FLOOD_MS) || (await hasUnfollowedEvents(database, follower, clock.now()))
        ? clock.now()
        : null,
  }
}

/** Returns the earliest of these times; null: there is none. */
export function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce((least, time) => (least === null || (time !== null && time < least) ? time : least), null)
}

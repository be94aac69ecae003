/**
 * The pace of the follower of transactions: how long it rests after a pass, and how much the next pass takes.
 *
 * A row of a transaction costs Postgres about as much as the rest of its payment's commit, so in a flood of commands
 * payments go first: a pass is followed by a rest of REST_TIMES its own time. But work that is put off is not saved. So
 * the rest ends when the oldest event that is left is LAG_REST_MS old, and from then on the follower works without
 * rests, in passes that take more the further it is behind, which saves most of a pass's fixed cost. It then has a
 * backend of its own that the operating system treats like that of the commits; a flood slows down by that processor
 * time and by nothing else, until accepting payments and following them are in balance.
 *
 * Figures: 600 whole lives a second for 15 s (1 200 events a second) on two cores with other work, load 5 to 10, in
 * turn, twice. With rests alone the lag rose to 11.6 and 12.1 s; with this bound it was 1.2 s at the end and 1.9 and
 * 2.2 s at most.
 */

/** The number of commands per second of this node that counts as a flood. A follower with rests keeps up with fewer. */
const FLOOD_PER_SECOND = 500
/** In a flood, the rest after a pass as a multiple of the pass: the follower then uses a ninth of one connection. */
const REST_TIMES = 8
/** The follower does not rest while an event of this age waits. Half of what it may be behind. */
const LAG_REST_MS = 1_000
/** Events of a pass of a follower that is hardly behind: a longer pass keeps a processor from payments for as long. */
const EVENTS_MIN = 128
const EVENTS_MAX = 2_048
/** A pass takes EVENTS_MIN more for each such part of its lag. */
const LAG_STEP_MS = 250

/** The facts that are known after a pass. All times are milliseconds. */
export interface Passed {
  readonly passMs: number
  /** The least age of the events that are left; 0 when none is. */
  readonly leftMs: number
  /** The commands that this node has committed in the last `elapsedMs`. */
  readonly commands: number
  readonly elapsedMs: number
}

export interface FollowerPace {
  /** The rest before the next pass, milliseconds. */
  readonly restMs: number
  /** Events of the next pass, at most. */
  readonly eventsMax: number
}

/** The pace of the first pass. */
export const FIRST_PACE: FollowerPace = { restMs: 0, eventsMax: EVENTS_MIN }

/** Decides the pace after a pass. */
export function paceAfter({ passMs, leftMs, commands, elapsedMs }: Passed): FollowerPace {
  const isFlood = commands * 1_000 > FLOOD_PER_SECOND * elapsedMs
  return {
    restMs: isFlood ? Math.max(0, Math.min(passMs * REST_TIMES, LAG_REST_MS - leftMs)) : 0,
    eventsMax: Math.min(EVENTS_MIN * (1 + Math.floor(Math.max(0, leftMs) / LAG_STEP_MS)), EVENTS_MAX),
  }
}

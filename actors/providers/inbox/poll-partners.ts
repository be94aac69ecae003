/**
 * Lists the events of providers that are asked for them, beside whatever they send. Windows overlap, and pages may hold
 * what a page before held: an event is kept once.
 */
import { HOUR_MS, MINUTE_MS, type Clock } from '../../../lib/base/clock.ts'
import { PROVIDER_DESCRIPTIONS } from '../../../lib/providers/descriptions.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import {
  beginPolls,
  endPoll,
  readPoll,
  writePoll,
  type ProviderPoll,
} from '../../../storage/providers/provider-polls.ts'
import type { Task } from '../../runtime/tasks.ts'
import type { EventKeeper } from './event-keeper.ts'
import { ConnectionUnusable } from '../open-connections.ts'
import type { InboxConnection, InboxPartners } from './inbox-ports.ts'

/** Windows overlap by this: the clocks of providers differ, and some list an event a while after it happened. */
const OVERLAP_MS = 10 * MINUTE_MS
/** Pages of one run; the next run goes on. */
const PAGES_MAX = 50
/** The longest pause after failures. */
const PAUSE_MS_MAX = HOUR_MS
const ERROR_MAX = 500

interface PollDeps {
  readonly database: Queries
  readonly clock: Clock
  readonly partners: InboxPartners
  readonly keeper: EventKeeper
  readonly onError: (error: unknown, what: string) => void
}

/** The tasks: to list the events of a connection, and to begin with connections that are new. */
export function pollTasks(deps: PollDeps): readonly Task[] {
  const polled = Object.values(PROVIDER_DESCRIPTIONS)
    .filter(({ poll }) => poll !== null)
    .map(({ provider }) => provider)
  return [
    {
      name: 'providers.poll',
      workers: 'outward',
      run: async (connectionId) => await poll(deps, connectionId),
    },
    {
      name: 'providers.begin_polls',
      cron: '* * * * *',
      async run() {
        await beginPolls(deps.database, polled, deps.clock.now())
      },
    },
  ]
}

async function poll(deps: PollDeps, connectionId: string): Promise<void> {
  const { database, clock, partners, onError } = deps
  const found = await readPoll(database, connectionId)
  if (found === null) return
  const postpone = async (error: unknown, everyMs: number) => {
    if (!(error instanceof ConnectionUnusable)) onError(error, `the events of connection ${connectionId}`)
    const failures = found.failures + 1
    await writePoll(database, {
      ...found,
      failures,
      error: (error as Error).message.slice(0, ERROR_MAX),
      polledAt: clock.now(),
      dueAt: clock.now() + Math.min(everyMs * 2 ** Math.min(failures, 16), PAUSE_MS_MAX),
    })
  }
  let connection: InboxConnection | null
  try {
    connection = await partners.open(connectionId)
  } catch (error) {
    if (!(error instanceof ConnectionUnusable)) throw error
    return await postpone(error, MINUTE_MS)
  }
  if (connection?.adapter.list === undefined) {
    await endPoll(database, connectionId)
    return
  }
  const everyMs = connection.description.poll?.everyMs ?? MINUTE_MS
  if (!partners.mayPoll(connectionId)) {
    await writePoll(database, { ...found, dueAt: clock.now() + everyMs })
    return
  }
  try {
    const listed = await listWindow(deps, connection, found)
    const isEnded = listed.cursor === null
    const dueAt = clock.now() + (isEnded ? everyMs : 0)
    await writePoll(database, { ...listed, failures: 0, error: null, polledAt: clock.now(), dueAt })
  } catch (error) {
    await postpone(error, everyMs)
  }
}

/** Lists the pages of the window that is open, from its cursor on. @returns how far it came */
async function listWindow(deps: PollDeps, connection: InboxConnection, from: ProviderPoll): Promise<ProviderPoll> {
  const { keeper, clock } = deps
  const { id: connectionId, operatorId, adapter } = connection
  let { cursor } = from
  const beganAt = cursor === null || from.beganAt === null ? clock.now() : from.beganAt
  for (let nth = 0; nth < PAGES_MAX; nth++) {
    const now = clock.now()
    const page = await adapter.list?.(from.since - OVERLAP_MS, cursor, now)
    await Promise.all(
      (page?.events ?? []).map(({ source, eventId, type, body, occurredAt }) =>
        keeper.keep({
          connectionId,
          operatorId,
          source,
          partnerEventId: eventId,
          type,
          headers: {},
          body,
          verifiedBy: 'transport',
          occurredAt,
          receivedAt: now,
        }),
      ),
    )
    cursor = page?.cursor ?? null
    if (cursor === null) return { ...from, since: beganAt, beganAt: null, cursor: null }
  }
  return { ...from, beganAt, cursor }
}

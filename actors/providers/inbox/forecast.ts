/** Forecasts the changes that the messages of events would make now: the decisions of their actors, uncommitted. */
import { refuseTransition } from '../../../lib/base/problems.ts'
import type { ProviderEventReprocessing } from '../../../lib/providers/provider-event-schema.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import { knownMessages, type InboxEvent, type KnownMessages } from '../../../storage/providers/provider-inbox.ts'
import { eventLines, isArrival, outcomeOfLack, type EventLine, type ReadyMessage } from './event-lines.ts'
import type { Foreseen, InboxConnection, InboxPartners, InboxPorts } from './inbox-ports.ts'

interface ForecastDeps {
  readonly database: Queries
  readonly partners: InboxPartners
  readonly ports: InboxPorts
}

type EventForecast = ProviderEventReprocessing['events'][number]

/** The status of a credit that is booked: to its balance, or to suspense. */
const CREDITED = 'received'
const SUSPENDED = 'unallocated'

/**
 * Forecasts events of one connection, in their order.
 *
 * @throws ProblemError `invalid-transition` when the connection is closed; what the database throws
 */
export async function forecast(
  { database, partners, ports }: ForecastDeps,
  events: readonly InboxEvent[],
): Promise<EventForecast[]> {
  const [first] = events
  if (first === undefined) return []
  const connection = await partners.open(first.connectionId)
  if (connection === null) refuseTransition('The connection is closed: nothing can translate its events.', null, [])
  const lines = await eventLines(database, connection, events)
  const ready = lines.flatMap((line) => line.ready ?? [])
  const known = await knownMessages(
    database,
    ready.map(({ message }) => message.id),
  )
  const open = ready.filter(({ message }) => !known.counted.has(message.id))
  const foreseen = await foresee(ports, open)
  const byEvent = Map.groupBy(lines, ({ event }) => event)
  return events.map((event) => ({
    eventId: event.id,
    status: event.status,
    messages: (byEvent.get(event) ?? []).map((line) => messageForecast(connection, line, { known, foreseen })),
  }))
}

async function foresee(ports: InboxPorts, ready: readonly ReadyMessage[]): Promise<ReadonlyMap<string, Foreseen>> {
  const bank = ready.flatMap(({ port, message }) => (port === 'bank' ? [message] : []))
  const fx = ready.flatMap(({ port, message }) => (port === 'fx' ? [message] : []))
  const [ofBank, ofFx] = await Promise.all([
    bank.length === 0 ? [] : ports.bank.foresee(bank),
    fx.length === 0 ? [] : ports.fx.foresee(fx),
  ])
  return new Map([...ofBank, ...ofFx])
}

function messageForecast(
  { description }: InboxConnection,
  line: EventLine,
  { known, foreseen }: { readonly known: KnownMessages; readonly foreseen: ReadonlyMap<string, Foreseen> },
): EventForecast['messages'][number] {
  const { facts, ready, target, lack, event } = line
  const { type, reference, object, schemeCode, amount, note } = facts
  const shown = { type, reference, object, schemeCode, amountMinor: amount === null ? null : String(amount), note }
  const status = target?.status ?? null
  const unmoved = { ...shown, objectId: target?.id ?? null, statusBefore: status, statusAfter: status }
  if (ready === null) return { ...unmoved, outcome: outcomeOfLack(lack) === 'unmatched' ? 'unmatched' : 'not_for_us' }
  if (known.counted.has(ready.message.id)) return { ...unmoved, outcome: 'known' }
  if (ready.port === 'credit') {
    if (ready.message.type === 'account.credit_returned') return { ...unmoved, outcome: 'applied' }
    if (target !== null) return { ...unmoved, outcome: 'known' }
    const statusAfter = ready.message.account === null ? SUSPENDED : CREDITED
    return { ...unmoved, objectId: ready.message.reference, statusAfter, outcome: 'applied' }
  }
  if (ready.port === 'incoming_debit') {
    if (isArrival(ready))
      return target === null
        ? { ...unmoved, objectId: ready.message.reference, outcome: 'applied' }
        : { ...unmoved, outcome: 'known' }
    return { ...unmoved, outcome: 'applied' }
  }
  if (ready.port === 'collection') return { ...unmoved, outcome: 'applied' }
  const { before, after } = foreseen.get(ready.message.id) ?? { before: status, after: status }
  const isHint = event.source === 'webhook' && description.webhooks?.areHints === true
  return {
    ...unmoved,
    statusBefore: before,
    statusAfter: after,
    outcome: before === after ? 'no_effect' : 'applied',
    note: isHint ? 'The provider is asked before anything moves, and its answer counts.' : note,
  }
}

/** Every change of a status and its event, and how money ends (C4). */
import type { Books, Effect, History, Resolution, ThingKind } from './history.ts'
import type { Report } from './outcomes.ts'

/**
 * How an exchange ended, or the payment that it buys for, by the word of the operator's people; `ends` is the
 * partner's.
 */
function endsOf(
  effect: Effect,
  ends: string,
  resolutions: ReadonlyMap<string, readonly Resolution[]>,
): readonly string[] {
  const said = resolutions.get(effect.exchangeId ?? '') ?? []
  const booked = said.find((one) => one.booked)
  if (booked !== undefined) return [booked.outcome === 'failed' ? 'failed' : ends]
  return said.some(({ outcome }) => outcome === 'failed') ? [ends, 'failed'] : [ends]
}

export function checkStatuses(
  { commands, resolutions: said, lateEdits }: History,
  { balances, effects, things, updates, events }: Books,
  report: Report,
): void {
  for (const edit of lateEdits) report('C4', 'what was submitted was changed', edit)
  const resolutions = Map.groupBy(said, ({ exchangeId }) => exchangeId)
  for (const of of resolutions.values())
    if (new Set(of.filter(({ booked }) => booked).map(({ outcome }) => outcome)).size > 1)
      report('C4', 'an exchange was resolved twice', of)
  const ofThings = new Set(things.map(({ id }) => id))
  checkEvents(
    effects,
    updates,
    events.filter(({ objectId }) => !ofThings.has(objectId)),
    report,
  )
  const wanted = new Map(
    commands.flatMap(({ kind, wants }) => wants.map((one) => [one.name, { kind, ends: one.ends }] as const)),
  )
  const available = new Map(balances.map(({ id, posted, held }) => [id, posted - held]))
  const last = new Map<string, Books['updates'][number]>()
  for (const update of updates)
    if ((last.get(update.objectId)?.version ?? 0) < update.version) last.set(update.objectId, update)
  for (const effect of effects) {
    // An incoming payment has no moves of its own: it exists, or it does not.
    if (effect.kind !== 'arrival' && last.get(effect.id)?.status !== effect.status)
      report('C4', 'the last update is not the status', { effect, last: last.get(effect.id) })
    const { kind, ends } = wanted.get(effect.name ?? '') ?? {}
    const isInDoubt =
      effect.lost && (effect.status === 'exception' || (effect.kind === 'payment' && effect.status === 'processing'))
    const waits = kind === 'run' && effect.status === 'scheduled'
    if (waits && (available.get(effect.from ?? '') ?? 0n) >= effect.amount)
      report('C4', 'a payment waits for money that is there', { effect })
    if (!waits && !isInDoubt && ends !== undefined && !endsOf(effect, ends, resolutions).includes(effect.status))
      report('C4', 'a payment did not end as its trigger says', { effect, ends })
  }
  const told = Map.groupBy(events, ({ objectId }) => objectId)
  for (const thing of things) checkPath(thing, told.get(thing.id) ?? [], report)
}

/** The events of money: exactly those that its moves call for. */
function checkEvents(
  effects: Books['effects'],
  updates: Books['updates'],
  events: Books['events'],
  report: Report,
): void {
  const kinds = new Map(effects.map(({ id, kind }) => [id, kind]))
  const moved = updates.flatMap(({ objectId, version, previous, status }) => {
    const kind = kinds.get(objectId) ?? 'payment'
    if (kind === 'transfer') return version === 1 ? [`${objectId} transfer.completed ${status}`] : []
    if (kind === 'exchange')
      return [
        `${objectId} exchange.status_changed ${status}`,
        ...(status === 'completed' ? [`${objectId} exchange.completed ${status}`] : []),
      ]
    if (status === 'draft') return []
    if (version === 1 || previous === 'draft') return [`${objectId} payment.created ${status}`]
    if (previous === status) return []
    return [
      `${objectId} payment.status_changed ${status}`,
      ...(status === 'completed' || status === 'failed' || status === 'returned'
        ? [`${objectId} payment.${status} ${status}`]
        : []),
    ]
  })
  const came = effects
    .filter(({ kind }) => kind === 'arrival')
    .map(({ id }) => `${id} incoming_payment.received received`)
  const expected = count([...moved, ...came])
  const sent = count(events.map(({ objectId, type, status }) => `${objectId} ${type} ${status}`))
  for (const [name, times] of expected)
    if (sent.get(name) !== times)
      report('C4', 'a change of a status has not exactly its event', {
        name,
        changes: times,
        events: sent.get(name) ?? 0,
      })
  for (const [name, times] of sent)
    if (!expected.has(name)) report('C4', 'an event tells of no change', { name, events: times })
}

/** How things begin; of a request no event tells, it is open when it is there. */
const BEGINNINGS: Readonly<Record<ThingKind, string | null>> = { file: null, schedule: null, request: 'open' }

/**
 * The events of a thing lead from its beginning to its status, whatever order they are read in: whoever enters a status
 * leaves it, but for the last.
 */
function checkPath(thing: Books['things'][number], events: Books['events'], report: Report): void {
  const entered = count(events.map(({ status }) => status))
  const left = count(events.map(({ previous }) => previous ?? ''))
  const beginning = BEGINNINGS[thing.kind] ?? ''
  for (const status of new Set([...entered.keys(), ...left.keys(), beginning, thing.status])) {
    const surplus = (status === beginning ? 1 : 0) + (entered.get(status) ?? 0) - (left.get(status) ?? 0)
    if (surplus !== (status === thing.status ? 1 : 0)) {
      report('C4', 'the events of a thing do not lead to its status', { thing, events })
      return
    }
  }
}

function count(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Files, schedules and requests for money: made once, honest about themselves, at rest when told to be (C5). */
import type { Books, Effect, History, Thing, ThingKind } from './history.ts'
import type { Outcome, Outcomes, Report } from './outcomes.ts'

const KINDS: ReadonlySet<string> = new Set<ThingKind>(['file', 'schedule', 'request'])
/** The statuses after a cancellation: a file whose payments were made already is not taken back. */
const AFTER_CANCELLATION: Readonly<Record<ThingKind, readonly string[]>> = {
  file: ['cancelled', 'submitted', 'partially_submitted'],
  schedule: ['cancelled'],
  request: ['cancelled'],
}

export function checkThings(
  history: History,
  books: Books,
  outcomes: Outcomes,
  toleranceMs: number,
  report: Report,
): void {
  const { commands, rests } = history
  checkMade(history, books, outcomes, report)
  const about = new Map(commands.flatMap((command) => command.wants.map(({ name }) => [name, command.about] as const)))
  const effectsOf = Map.groupBy(books.effects, ({ name }) => about.get(name ?? ''))
  const failuresOf = Map.groupBy(books.failures, ({ about: key }) => key)
  const countedFor = Map.groupBy(
    books.effects.filter(({ counted }) => counted !== null),
    ({ counted }) => counted!.key,
  )
  for (const thing of books.things) {
    const made = effectsOf.get(thing.key) ?? []
    const counted = countedFor.get(thing.key) ?? []
    if (thing.kind === 'request') checkRequest(thing, made, counted, report)
    else if (thing.made !== BigInt(made.length) || thing.failed !== BigInt(failuresOf.get(thing.key)?.length ?? 0)) {
      report('C5', 'what a thing says of itself is not what has become of it', {
        thing,
        made,
        failed: failuresOf.get(thing.key) ?? [],
      })
    }
    const times = thing.kind === 'request' ? counted.map(({ counted: at }) => at!.at) : made.map(({ at }) => at)
    for (const rest of rests.filter((one) => one.about === thing.key)) {
      if (rest.cancelled && !AFTER_CANCELLATION[thing.kind].includes(thing.status))
        report('C5', 'what was cancelled is not', { thing, rest })
      const disturbed = times.filter((at) => at > rest.from + toleranceMs && at < rest.until - toleranceMs)
      if (disturbed.length > 0)
        report('C5', 'something was made for a thing at rest', { thing, rest, at: disturbed, made, counted })
    }
  }
}

/** A resource that an answer promised exists once; a resource that exists was requested. */
function checkMade({ commands }: History, { things }: Books, outcomes: Outcomes, report: Report): void {
  const asked = new Map(commands.filter(({ kind }) => KINDS.has(kind)).map((command) => [command.key, command]))
  const made = Map.groupBy(things, ({ key }) => key)
  for (const thing of things)
    if (asked.get(thing.key)?.kind !== thing.kind) report('C5', 'something was made for nobody', thing)
  for (const [key, command] of asked) {
    const { final, yes, no } = outcomes.get(key) as Outcome
    const own = made.get(key) ?? []
    if (own.length > 1) report('C5', 'one key has made more than one thing', { command, own })
    if (no && own.length > 0) report('C5', 'what was refused is there', { command, own })
    if (yes && (JSON.parse(final!.answer) as { readonly id: string }).id !== own[0]?.id)
      report('C5', 'what was made is not what the answer names', { command, final, own })
  }
}

/** Money counts as long as some is asked for, and makes the status. `came`: all that quotes it. */
function checkRequest(thing: Thing, came: readonly Effect[], counted: readonly Effect[], report: Report): void {
  const asked = thing.amount as bigint
  const paid = counted.reduce((sum, { amount }) => sum + amount, 0n)
  const evidence = { thing, came, counted }
  if (thing.made !== paid) report('C5', 'what a thing says of itself is not what has become of it', evidence)
  if (counted.some(({ id }) => !came.some((one) => one.id === id)))
    report('C5', 'money counts towards a request that it does not quote', evidence)
  const [reached, waits] = paid >= asked ? ['paid', false] : [paid > 0n ? 'partially_paid' : 'open', true]
  if (thing.status !== reached && (thing.status !== 'cancelled' || !waits))
    report('C5', 'the status of a request does not fit what was paid', evidence)
  if (waits && thing.status !== 'cancelled' && counted.length < came.length)
    report('C5', 'money came that was asked for and is not counted', evidence)
  // Without the last one it was not paid yet; which one was last does not matter, so the largest is tried.
  const largest = counted.reduce((most, { amount }) => (amount > most ? amount : most), 0n)
  if (paid - largest >= asked) report('C5', 'money counts towards a request that was paid already', evidence)
}

/** Created resources against promised ones (C2). */
import { problemOf, type Books, type Command, type Effect, type History, type Rest, type Wanted } from './history.ts'
import type { Outcome, Outcomes, Report } from './outcomes.ts'

/** Money that moves before its command is answered. All other is promised by the answer. */
export const isPrompt = ({ kind }: Pick<Command, 'kind'>): boolean =>
  kind === 'payment' ||
  kind === 'conversion' ||
  kind === 'transfer' ||
  kind === 'exchange' ||
  kind === 'draft_submission'

/** Another command that competes for the same money. */
interface Asked {
  readonly command: Command
  readonly wanted: Wanted
  readonly outcome: Outcome
  /** It is remembered as a yes. */
  readonly promised: boolean
}

export function checkMoney(history: History, books: Books, outcomes: Outcomes, report: Report): void {
  const { commands } = history
  const records = Map.groupBy(books.decisions, ({ key }) => key)
  for (const command of commands)
    checkRecord(command, outcomes.get(command.key) as Outcome, records.get(command.key) ?? [], report)
  const asked = Map.groupBy(
    commands.flatMap((command) => {
      const promised = records.get(command.key)?.some(({ yes }) => yes) ?? false
      return command.wants.map(
        (wanted): Asked => ({ command, wanted, outcome: outcomes.get(command.key) as Outcome, promised }),
      )
    }),
    ({ wanted }) => wanted.name,
  )
  checkWanted(history, books, asked, report)
  checkQuotes(commands, new Set(books.effects.map(({ name }) => name)), outcomes, report)
}

function checkRecord(
  command: Command,
  { final, yes }: Outcome,
  records: readonly Books['decisions'][number][],
  report: Report,
): void {
  if (records.length > 1) report('C2', 'a key was decided twice', { command, records })
  const [record] = records
  if (final !== null && record === undefined)
    report('C2', 'an answer was given that is not remembered', { command, final })
  if (final !== null && record !== undefined && record.yes !== yes)
    report('C2', 'what is remembered is not what was answered', { command, final, record })
}

/**
 * Money that moves because of something else that was asked for: the exchange of a payment, the rest of a balance that
 * is closed.
 */
function isConsequence({ name }: Effect, asked: ReadonlyMap<string, unknown>, closings: History['closings']): boolean {
  const [because, of = ''] = name?.split('/', 2) ?? []
  return (
    (because === 'exchange-of' && asked.has(of)) ||
    (because === 'rest-of' && closings.some(({ balanceId }) => balanceId === of))
  )
}

function checkWanted(
  { rests, closings }: History,
  { effects, failures, things }: Books,
  asked: ReadonlyMap<string, readonly Asked[]>,
  report: Report,
): void {
  for (const effect of effects)
    if ((effect.name === null || !asked.has(effect.name)) && !isConsequence(effect, asked, closings))
      report('C2', 'money moved for nobody', effect)
  const byName = Map.groupBy(effects, ({ name }) => name)
  const failed = Map.groupBy(failures, ({ name }) => name)
  // It stops by itself after failures in a row.
  const stopped = new Set(
    things.filter(({ kind, status }) => kind === 'schedule' && status === 'failed').map(({ key }) => key),
  )
  for (const [name, askers] of asked) {
    const made = byName.get(name) ?? []
    const [effect] = made
    const reasons = failed.get(name) ?? []
    const { command, wanted } = askers[0] as Asked
    const evidence = { commands: askers.map((one) => one.command), wanted, made, reasons }
    if (made.length > 1) report('C2', 'one key has moved money more than once', evidence)
    if (made.length > 0 && reasons.length > 0)
      report('C2', 'money moved for which a reason is written down not to', evidence)
    if (effect === undefined) {
      for (const one of askers)
        if (one.promised && reasons.length === 0 && !isExcused(one, rests, stopped))
          report(
            'C2',
            one.outcome.yes ? 'what was acknowledged is not there' : 'what is remembered is not what was done',
            evidence,
          )
      continue
    }
    if (askers.every(({ outcome }) => outcome.no)) report('C2', 'what was refused has moved money', evidence)
    if (askers.every(({ outcome }) => outcome.calls.length === 0))
      report('C2', 'what was never sent has moved money', evidence)
    if (!askers.some(({ promised }) => promised)) report('C2', 'what is remembered is not what was done', evidence)
    const { kind, from, to, amount } = effect
    if (
      wanted.kind !== kind ||
      wanted.from !== from ||
      wanted.to !== to ||
      (wanted.amount !== amount && wanted.or !== amount)
    )
      report('C2', 'what was made is not what was asked for', evidence)
    const named = askers
      .map(({ outcome }) => (outcome.yes ? namedIn(command, outcome) : null))
      .find((id) => id !== null)
    if (named !== undefined && named !== effect.id)
      report('C2', 'the answer names another resource than the one that was made', evidence)
  }
}

/** Whether what was promised need not come: it was to come later, and its schedule was stopped before it did. */
function isExcused({ command, outcome }: Asked, rests: readonly Rest[], stopped: ReadonlySet<string>): boolean {
  return (
    command.kind === 'run' &&
    (stopped.has(command.about as string) ||
      rests.some(({ about, asked }) => about === command.about && asked >= outcome.firstStart))
  )
}

/** The money that an answer names; null when it names none. */
function namedIn(command: Command, { final }: Outcome): string | null {
  const answer = JSON.parse(final?.answer ?? '{}') as {
    readonly id?: string
    readonly details?: { readonly incomingPaymentRef?: string }
  }
  return (isPrompt(command) ? answer.id : answer.details?.incomingPaymentRef) ?? null
}

function checkQuotes(
  commands: readonly Command[],
  made: ReadonlySet<string | null>,
  outcomes: Outcomes,
  report: Report,
): void {
  for (const [quoteId, of] of Map.groupBy(
    commands.filter((command) => command.quoteId !== undefined),
    (command) => command.quoteId,
  )) {
    const used = of.filter(({ wants }) => wants.some(({ name }) => made.has(name)))
    if (used.length > 1) report('C2', 'a quote was used twice', { quoteId, used })
    const told = of.find(({ key }) => problemOf(outcomes.get(key)?.final?.answer ?? '')?.code === 'invalid-transition')
    if (told !== undefined && used.length === 0)
      report('C2', 'a quote was said to be used that nobody has used', { quoteId, told })
  }
}

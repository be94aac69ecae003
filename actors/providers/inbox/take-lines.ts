/**
 * Gives the messages of events to the inboxes of their ports, and finds out what each has changed.
 *
 * Messages about one object go one after the other, in the order of their events; those about different objects go
 * together. The inboxes take each message once and leave out what comes late, so the order only decides which of two
 * messages changes something. The object is read before and after.
 */
import type { MessageOutcome, EventMessage } from '../../../lib/providers/provider-event.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import type { NamedObject } from '../../../storage/providers/inbox-objects.ts'
import { keepProviderRefs } from '../../../storage/providers/partner-references.ts'
import { knownMessages, type KnownMessages } from '../../../storage/providers/provider-inbox.ts'
import type { OrderQuestion, OrderStatus } from '../bank.ts'
import { isArrival, objectsNow, outcomeOfLack, type EventLine, type ReadyMessage } from './event-lines.ts'
import { isAskable, judgeHint } from './hint.ts'
import type { InboxConnection, InboxPorts } from './inbox-ports.ts'

export interface TakeDeps {
  readonly database: Queries
  readonly ports: InboxPorts
  /** Epoch milliseconds. */
  readonly now: number
}

/** A line after it was taken. */
export interface TakenLine {
  readonly line: EventLine
  readonly message: EventMessage
  /** Whether other events have told the message. */
  readonly isTold: boolean
  /** Why the event has to be tried again: the inbox did not take it, or the provider has not confirmed it yet. */
  readonly retry: 'refused' | 'unconfirmed' | null
}

/** A line that is sent, and the message that is sent for it. */
interface Sending {
  readonly line: EventLine
  readonly ready: ReadyMessage
  readonly isCorrected: boolean
}

/** Takes the lines of events of one connection. @throws what the database throws */
export async function takeLines(
  deps: TakeDeps,
  connection: InboxConnection,
  lines: readonly EventLine[],
): Promise<readonly TakenLine[]> {
  const sent = lines.filter((line) => line.ready !== null)
  const known = await knownMessages(
    deps.database,
    sent.flatMap(({ facts }) => facts.messageId ?? []),
  )
  const isTold = toldElsewhere(sent, known)
  await keepProviderRefs(deps.database, providerRefsOf(sent))
  const ends = new Map<EventLine, Pick<TakenLine, 'message' | 'retry'>>()
  for (const line of lines)
    if (line.ready === null)
      ends.set(line, { message: messageOf(line, outcomeOfLack(line.lack), null, null), retry: null })
  for (const wave of wavesOf(sent)) {
    const before = await objectsNow(deps.database, connection.id, wave)
    const { sending, waiting } = await confirmed(deps, connection, wave)
    for (const { line, says } of waiting)
      ends.set(line, {
        message: messageOf(line, 'waits', line.target, line.target, `The provider was asked and says: ${says}.`),
        retry: 'unconfirmed',
      })
    const acknowledged = await send(deps.ports, sending)
    const after = await objectsNow(deps.database, connection.id, wave)
    for (const { line, ready, isCorrected } of sending) {
      const [was, is] = [before.get(ready.message.reference) ?? null, after.get(ready.message.reference) ?? null]
      const isTaken = acknowledged.has(ready.message.id)
      const outcome: MessageOutcome = !isTaken
        ? 'waits'
        : known.counted.has(ready.message.id)
          ? 'known'
          : was?.status === is?.status
            ? 'no_effect'
            : isCorrected
              ? 'corrected'
              : 'applied'
      const note = isCorrected ? `The provider was asked and says: ${ready.message.type}.` : null
      ends.set(line, { message: messageOf(line, outcome, was, is, note), retry: isTaken ? null : 'refused' })
    }
  }
  return lines.map((line) => ({ line, isTold: isTold(line), ...ends.get(line)! }))
}

/** The provider's references of payments, by the payments' ids. */
function providerRefsOf(lines: readonly EventLine[]): ReadonlyMap<string, string> {
  const refs = new Map<string, string>()
  for (const { ready } of lines)
    if (ready?.port === 'bank' && ready.message.providerRef !== undefined)
      refs.set(ready.message.reference, ready.message.providerRef)
  return refs
}

function messageOf(
  { facts, ready, target }: EventLine,
  outcome: MessageOutcome,
  before: NamedObject | null,
  after: NamedObject | null,
  note: string | null = null,
): EventMessage {
  return {
    ...facts,
    objectId: (after ?? target)?.id ?? (ready !== null && isArrival(ready) ? ready.message.reference : null),
    outcome,
    statusBefore: before?.status ?? null,
    statusAfter: after?.status ?? null,
    note: note ?? facts.note,
  }
}

/** Tells of lines whether another event, stored or earlier in the batch, has told their message. */
function toldElsewhere(lines: readonly EventLine[], known: KnownMessages): (line: EventLine) => boolean {
  const told = new Set<EventLine>()
  const first = new Map<string, string>()
  for (const line of lines) {
    const id = line.facts.messageId
    if (id === null) continue
    const others = known.told.get(id)
    const isStored = others !== undefined && [...others].some((eventId) => eventId !== line.event.id)
    const teller = first.get(id)
    if (teller === undefined) first.set(id, line.event.id)
    if (isStored || (teller !== undefined && teller !== line.event.id)) told.add(line)
  }
  return (line) => told.has(line)
}

/** Parts lines into waves, each with one line about an object at most. */
function wavesOf(lines: readonly EventLine[]): readonly (readonly EventLine[])[] {
  const waves: EventLine[][] = []
  const next = new Map<string, number>()
  for (const line of lines) {
    const key = line.ready?.message.reference ?? ''
    const nth = next.get(key) ?? 0
    next.set(key, nth + 1)
    ;(waves[nth] ??= []).push(line)
  }
  return waves
}

/** Asks the provider about the lines that are hints. */
async function confirmed(
  { now }: TakeDeps,
  { description, adapter }: InboxConnection,
  lines: readonly EventLine[],
): Promise<{
  readonly sending: readonly Sending[]
  readonly waiting: readonly { readonly line: EventLine; readonly says: string }[]
}> {
  const areHints = description.webhooks?.areHints === true && adapter.status !== undefined
  const hints = areHints ? lines.flatMap((line) => questionOf(line) ?? []) : []
  let statuses: ReadonlyMap<string, OrderStatus> = new Map()
  let failure = 'nothing'
  if (hints.length > 0)
    try {
      statuses = (await adapter.status?.(hints, now)) ?? statuses
    } catch (error) {
      failure = (error as Error).message
    }
  const asked = new Set(hints.map(({ reference }) => reference))
  const sending: Sending[] = []
  const waiting: { line: EventLine; says: string }[] = []
  for (const line of lines) {
    const { ready } = line
    if (ready === null) continue
    if (ready.port !== 'bank' || !asked.has(ready.message.reference)) {
      sending.push({ line, ready, isCorrected: false })
      continue
    }
    const status = statuses.get(ready.message.reference)
    const judged = judgeHint(ready.message, status)
    if (judged.kind === 'wait') waiting.push({ line, says: status === undefined ? failure : judged.says })
    else sending.push({ line, ready: { port: 'bank', message: judged.message }, isCorrected: judged.isCorrected })
  }
  return { sending, waiting }
}

/** The question about the order of a hint; null where nothing is asked. */
function questionOf({ event, ready, target }: EventLine): OrderQuestion | null {
  if (event.source !== 'webhook' || ready?.port !== 'bank' || !isAskable(ready.message)) return null
  if (target === null || target.rail === null || target.sentAt === null) return null
  const { id: reference, providerRef, rail, currency, amount, sentAt } = target
  return { reference, connectionId: event.connectionId, providerRef, rail, currency, amount, sentAt }
}

/** Gives messages to the inboxes of their ports. @returns the ids of those that were taken */
async function send(ports: InboxPorts, sending: readonly Sending[]): Promise<ReadonlySet<string>> {
  const of = <Port extends ReadyMessage['port']>(port: Port) =>
    sending.flatMap(({ ready }) =>
      ready.port === port ? [ready.message as Extract<ReadyMessage, { readonly port: Port }>['message']] : [],
    )
  const [bank, fx, credit, debit] = [of('bank'), of('fx'), of('credit'), of('incoming_debit')]
  const collections = of('collection').map(({ reference, shard: _, ...told }) => ({ ...told, collectionId: reference }))
  const taken = await Promise.all([
    bank.length === 0 ? [] : ports.bank.inbox(bank),
    fx.length === 0 ? [] : ports.fx.inbox(fx),
    credit.length === 0 ? [] : ports.credits.inbox(credit),
    debit.length === 0 ? [] : ports.incomingDebits.inbox(debit),
    collections.length === 0 ? [] : ports.debits.inbox(collections),
  ])
  return new Set(taken.flat())
}

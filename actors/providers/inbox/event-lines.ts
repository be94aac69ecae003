/**
 * The messages of events, translated by the adapter of their connection and matched with what they name. A message
 * reaches nothing of another connection.
 */
import {
  EVENT_TYPE_MAX,
  type MessageObject,
  type MessageOutcome,
  type EventMessage,
} from '../../../lib/providers/provider-event.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import { balancesOfAccounts } from '../../../storage/accounts/account-details.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import {
  balancesOfConnection,
  isOwnReference,
  namedObjects,
  type AccountOwner,
  type NamedObject,
} from '../../../storage/providers/inbox-objects.ts'
import type { InboxEvent } from '../../../storage/providers/provider-inbox.ts'
import type { InboxMessage } from '../adapters/adapter.ts'
import type { BankMessage } from '../bank.ts'
import type { CreditMessage } from '../credits.ts'
import type { CollectionTold } from '../debits.ts'
import type { FxMessage } from '../fx.ts'
import type { IncomingDebitMessage } from '../incoming-debits.ts'
import type { InboxConnection } from './inbox-ports.ts'

/** A message that can be sent to its inbox. */
export type ReadyMessage =
  | { readonly port: 'bank'; readonly message: BankMessage }
  | { readonly port: 'credit'; readonly message: CreditMessage }
  | { readonly port: 'fx'; readonly message: FxMessage }
  | { readonly port: 'incoming_debit'; readonly message: IncomingDebitMessage }
  | { readonly port: 'collection'; readonly message: CollectionTold }

/** A message of an event. */
export interface EventLine {
  readonly event: InboxEvent
  readonly facts: Pick<EventMessage, 'messageId' | 'type' | 'reference' | 'object' | 'schemeCode' | 'amount' | 'note'>
  /** The object that it names; null: nothing, or a credit that is not booked yet. */
  readonly target: NamedObject | null
  /** Null: it matches nothing, or is no message for the service. */
  readonly ready: ReadyMessage | null
  /** Why there is nothing to send; null where there is. `fault`: the event cannot be read. */
  readonly lack: 'unmatched' | 'not_for_us' | 'fault' | null
}

const REFERENCE_MAX = 200
const NOTE_MAX = 500
const AMOUNT_MAX = 2n ** 63n - 1n

/** Removes what Postgres cannot store from the texts of a message. */
function storable<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll('\0', '') as Value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(storable) as Value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, storable(member)])) as Value
}

/** Translates an event; an adapter that fails on it makes it unreadable. */
function translated({ adapter }: InboxConnection, event: InboxEvent): readonly InboxMessage[] {
  try {
    return adapter.translate({ ...event, eventId: event.partnerEventId }).map(storable)
  } catch (error) {
    return [{ port: 'none', reason: `The adapter cannot read it: ${(error as Error).message}`, isFault: true }]
  }
}

const OBJECT_OF = {
  bank: 'payment',
  fx: 'exchange',
  credit: 'incoming_payment',
  incoming_debit: 'incoming_debit',
  collection: 'collection',
} as const

/** Whether a message tells of a credit or debit that is not known before it: its account is named, not its object. */
export const isArrival = ({ port, message }: ReadyMessage): boolean =>
  port === 'credit' || (port === 'incoming_debit' && 'account' in message)

function factsOf(said: InboxMessage, event: InboxEvent): EventLine['facts'] {
  if (said.port === 'none')
    return {
      messageId: null,
      type: event.type.slice(0, EVENT_TYPE_MAX),
      reference: null,
      object: null,
      schemeCode: null,
      amount: null,
      note: said.reason.slice(0, NOTE_MAX),
    }
  const { id, type, reference } = said.message
  return {
    messageId: id,
    type,
    reference: reference.slice(0, REFERENCE_MAX),
    object: OBJECT_OF[said.port],
    schemeCode: codeOf(said),
    amount: amountOf(said),
    note: null,
  }
}

function codeOf(said: Exclude<InboxMessage, { readonly port: 'none' }>): string | null {
  switch (said.port) {
    case 'bank':
      return said.message.schemeCode
    case 'fx':
      return said.message.reason
    case 'credit':
      return null
    case 'incoming_debit':
      return 'reasonCode' in said.message ? said.message.reasonCode : null
    case 'collection':
      return said.message.reasonCode
    default:
      return said satisfies never
  }
}

function amountOf(said: InboxMessage): bigint | null {
  switch (said.port) {
    case 'bank':
      return said.message.amount
    case 'fx':
      return said.message.bought
    case 'credit':
      return said.message.type === 'account.credited' ? said.message.credit.amount : null
    case 'incoming_debit':
      return 'debit' in said.message ? said.message.debit.amount : said.message.amount
    case 'collection':
      return said.message.amount
    case 'none':
      return null
    default:
      return said satisfies never
  }
}

/** The account that an arrival of money names, null where the provider does not know it; undefined for other messages. */
function accountOf(said: InboxMessage): string | null | undefined {
  switch (said.port) {
    case 'credit':
      return said.message.type === 'account.credited' ? said.message.account : undefined
    case 'incoming_debit':
      return 'account' in said.message ? said.message.account : undefined
    default:
      return undefined
  }
}

/** Whether a message is one that can be stored at all: adapters are written by many. */
function isSound(said: Exclude<InboxMessage, { readonly port: 'none' }>): boolean {
  const amount = amountOf(said)
  return (
    isOwnReference(said.message.id) &&
    (amount === null || (amount >= 0n && amount <= AMOUNT_MAX)) &&
    (accountOf(said) === undefined || isOwnReference(said.message.reference))
  )
}

const noReferences = (): Record<MessageObject, string[]> => ({
  payment: [],
  exchange: [],
  incoming_payment: [],
  incoming_debit: [],
  collection: [],
})

/** Translates events of a connection and finds what their messages name, in the order of the events. */
export async function eventLines(
  database: Queries,
  connection: InboxConnection,
  events: readonly InboxEvent[],
): Promise<readonly EventLine[]> {
  const said = events.flatMap((event) => {
    const messages = translated(connection, event)
    return messages.map((message) => ({ event, message }))
  })
  const references = noReferences()
  for (const { event, message } of said) {
    if (message.port === 'none') continue
    references[OBJECT_OF[message.port]].push(message.message.reference)
    if (event.assignedId !== null) references[OBJECT_OF[message.port]].push(event.assignedId)
  }
  const [named, accounts] = await Promise.all([
    namedObjects(database, connection.id, references),
    creditedBalances(
      database,
      connection.id,
      said.map(({ message }) => message),
    ),
  ])
  const found = { named: withTheirNames(named, said), accounts }
  return said.map(({ event, message }) => lineOf(connection, event, message, found))
}

/** Adds the provider's names of payments that these messages themselves tell: a later message may use only that name. */
function withTheirNames(
  named: ReadonlyMap<string, NamedObject>,
  said: readonly { readonly message: InboxMessage }[],
): ReadonlyMap<string, NamedObject> {
  const all = new Map(named)
  for (const { message } of said) {
    if (message.port !== 'bank' || message.message.providerRef === undefined) continue
    const payment = named.get(message.message.reference)
    if (payment?.object === 'payment' && !all.has(message.message.providerRef))
      all.set(message.message.providerRef, payment)
  }
  return all
}

interface Found {
  readonly named: ReadonlyMap<string, NamedObject>
  readonly accounts: ReadonlyMap<string, AccountOwner>
}

function lineOf(
  { id: connectionId, operatorId }: InboxConnection,
  event: InboxEvent,
  said: InboxMessage,
  { named, accounts }: Found,
): EventLine {
  const facts = factsOf(said, event)
  const nothing = (lack: EventLine['lack']): EventLine => ({ event, facts, target: null, ready: null, lack })
  if (said.port === 'none') return nothing(said.isFault ? 'fault' : 'not_for_us')
  if (!isSound(said)) return { ...nothing('fault'), facts: { ...facts, messageId: null, amount: null } }
  const object = OBJECT_OF[said.port]
  const target = [facts.reference, event.assignedId]
    .map((reference) => (reference === null ? undefined : named.get(reference)))
    .find((each) => each?.object === object)
  const found = { event, facts, target: target ?? null, lack: null }
  if (said.port === 'credit' && said.message.type === 'account.credited') {
    const owner = said.message.account === null ? undefined : accounts.get(said.message.account)
    const account = owner?.balanceId ?? null
    const shard = shardOf(owner?.customerId ?? operatorId)
    return { ...found, ready: { port: 'credit', message: { ...said.message, connectionId, account, shard } } }
  }
  if (said.port === 'incoming_debit' && 'account' in said.message) {
    const { message } = said
    const owner = message.account === null ? undefined : accounts.get(message.account)
    // No balance can pay it: staff see it among what matches nothing.
    if (owner === undefined) return nothing('unmatched')
    const place = { connectionId, account: owner.balanceId, shard: shardOf(owner.customerId) }
    return { ...found, ready: { port: 'incoming_debit', message: { ...message, ...place } } }
  }
  if (target === undefined) return nothing('unmatched')
  const place = { reference: target.id, shard: target.shard }
  switch (said.port) {
    case 'bank':
      return { ...found, ready: { port: 'bank', message: { ...said.message, ...place, connectionId } } }
    case 'fx':
      return { ...found, ready: { port: 'fx', message: { ...said.message, ...place } } }
    case 'credit':
      return { ...found, ready: { port: 'credit', message: { ...said.message, ...place } } }
    case 'incoming_debit':
      return { ...found, ready: { port: 'incoming_debit', message: { ...said.message, ...place } } }
    case 'collection':
      return { ...found, ready: { port: 'collection', message: { ...said.message, ...place, connectionId } } }
    default:
      return said satisfies never
  }
}

/** Finds the balances that credits and debits name, by the names. */
async function creditedBalances(
  database: Queries,
  connectionId: string,
  said: readonly InboxMessage[],
): Promise<ReadonlyMap<string, AccountOwner>> {
  const names = [...new Set(said.flatMap((each) => accountOf(each) ?? []))]
  const own = names.filter(isOwnReference)
  const theirs = names.filter((name) => !isOwnReference(name))
  const [balances, accounts] = await Promise.all([
    own.length === 0 ? new Map<string, AccountOwner>() : balancesOfConnection(database, connectionId, own),
    theirs.length === 0 ? new Map<string, AccountOwner>() : balancesOfAccounts(database, connectionId, theirs),
  ])
  return new Map([...balances, ...accounts])
}

/** Reads the objects of lines as they are now, by their ids. */
export async function objectsNow(
  database: Queries,
  connectionId: string,
  lines: readonly EventLine[],
): Promise<ReadonlyMap<string, NamedObject>> {
  const references = noReferences()
  for (const { ready } of lines) if (ready !== null) references[OBJECT_OF[ready.port]].push(ready.message.reference)
  return await namedObjects(database, connectionId, references)
}

/** The outcome of a line that is not sent. */
export const outcomeOfLack = (lack: EventLine['lack']): MessageOutcome =>
  lack === 'unmatched' ? 'unmatched' : 'not_for_us'

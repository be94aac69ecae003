/**
 * Payment orders of the sandbox bank: rows of sandbox_order. `next_event` is the next message about an order and
 * `due_at` its time; `steps` is the text of all messages still to come, where those two columns do not suffice.
 * Statements only.
 *
 * Written by hand: every payment of a sandbox passes these rows, in batches.
 */
import type { BankMessageType } from '../../lib/providers/messages.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { BankEvent } from '../../lib/sandbox/plan-steps.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import type { Queries } from '../db/transaction.ts'
import { bigintExpression, expression, instantExpression, instantOrNull, select } from '../db/select.ts'

/** SQL of the time at which the bank debited an order `o`: before it sends the message, and before money comes back. */
const SETTLED_AFTER = `case when o.next_event in ('settled', 'returned') then coalesce(o.settled_at, o.due_at) else o.settled_at end`
/** The state of an order `o` once its message was sent. Refusals of recalls do not change it. */
const STATE_AFTER = `case when o.next_event in ('settled', 'rejected', 'returned') then o.next_event
  when o.next_event = 'pending' then 'accepted' when o.next_event = 'unclear' then 'unanswered' else o.state end`

/** An order as the bank accepts it. The amount is minor units, times are epoch milliseconds. */
export interface NewSandboxOrder {
  readonly reference: string
  readonly shard: number
  readonly currency: string
  readonly amount: bigint
  readonly state: 'accepted' | 'unanswered'
  /** The next message; null where no message is to come. */
  readonly nextEvent: BankEvent | null
  readonly schemeCode: string | null
  readonly dueAt: number | null
  readonly steps: string | null
  readonly connectionId: string
  /** The balance at this bank that is paid; null for an account elsewhere. */
  readonly creditedBalanceId: string | null
}

/**
 * Inserts orders; an existing reference is left as it is. `receivedAt` is epoch milliseconds.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertSandboxOrders(
  database: Queries,
  orders: readonly NewSandboxOrder[],
  receivedAt: number,
): Promise<void> {
  await database.query({
    name: 'sandbox_submit',
    text: `insert into sandbox_order (reference, shard, currency, amount, state, next_event, scheme_code, due_at, steps, connection_id, credited_balance_id, received_at)
          select u.reference, u.shard, u.currency, u.amount, u.state, u.next_event, u.scheme_code, u.due_at, u.steps, u.connection_id, u.credited_balance_id, $12::timestamptz
          from unnest($1::uuid[], $2::smallint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::text[], $10::uuid[], $11::uuid[])
            as u(reference, shard, currency, amount, state, next_event, scheme_code, due_at, steps, connection_id, credited_balance_id)
          on conflict (reference) do nothing`,
    values: [
      plainArray(orders.map(({ reference }) => reference)),
      plainArray(orders.map(({ shard }) => shard)),
      textArray(orders.map(({ currency }) => currency)),
      plainArray(orders.map(({ amount }) => amount)),
      textArray(orders.map(({ state }) => state)),
      textArray(orders.map(({ nextEvent }) => nextEvent)),
      textArray(orders.map(({ schemeCode }) => schemeCode)),
      plainArray(orders.map(({ dueAt }) => (dueAt === null ? null : timestamp(dueAt)))),
      textArray(orders.map(({ steps }) => steps)),
      plainArray(orders.map(({ connectionId }) => connectionId)),
      plainArray(orders.map(({ creditedBalanceId }) => creditedBalanceId)),
      timestamp(receivedAt),
    ],
  })
}

/** The state of an order, for the bank's answer to a status request. */
export interface SandboxOrderState {
  readonly reference: string
  readonly state: 'accepted' | 'unanswered' | BankMessageType
  readonly nextEvent: BankMessageType | null
  readonly schemeCode: string | null
  /** Whether the next event is due. */
  readonly isDue: boolean
  readonly steps: string | null
}

const STATE = select({
  reference: expression<string>('reference'),
  state: expression<SandboxOrderState['state']>('state'),
  nextEvent: expression<SandboxOrderState['nextEvent']>('next_event'),
  schemeCode: expression<string | null>('scheme_code'),
  isDue: expression<boolean>('coalesce(due_at <= $2::timestamptz, false)'),
  steps: expression<string | null>('steps'),
})

/**
 * Reads the states of orders at `now` (epoch milliseconds); references that the bank does not have are absent.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function sandboxOrderStates(
  database: Queries,
  references: readonly string[],
  now: number,
): Promise<readonly SandboxOrderState[]> {
  const rows = await database.query({
    name: 'sandbox_status',
    text: `select ${STATE.sql} from sandbox_order where reference = any($1::uuid[])`,
    values: [plainArray(references), timestamp(now)],
  })
  return rows.map((row) => STATE.read(row))
}

/** The plan of an order. The amount is minor units, times are epoch milliseconds. */
export interface SandboxOrderPlan {
  readonly amount: bigint
  readonly eventNumber: number
  readonly receivedAt: number
  /** Null once the last message was sent and acknowledged. */
  readonly dueAt: number | null
  readonly nextEvent: BankEvent | null
  readonly schemeCode: string | null
  readonly steps: string | null
}

const PLAN = select({
  amount: bigintExpression('amount'),
  eventNumber: expression<number>('event_number'),
  receivedAt: instantExpression('received_at'),
  dueAt: instantOrNull('due_at'),
  nextEvent: expression<BankEvent | null>('next_event'),
  schemeCode: expression<string | null>('scheme_code'),
  steps: expression<string | null>('steps'),
})

/**
 * Reads the plan of an order; null when the bank does not have the order.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function findSandboxOrder(queries: Queries, reference: string): Promise<SandboxOrderPlan | null> {
  const [row] = await queries.query({
    name: 'sandbox_order',
    text: `select ${PLAN.sql} from sandbox_order where reference = $1`,
    values: [reference],
  })
  return row === undefined ? null : PLAN.read(row)
}

/** The next message of an order: `afterMs` counts from the time at which the bank received the order. */
export interface NextSandboxEvent {
  readonly event: BankEvent
  readonly schemeCode: string | null
  readonly afterMs: number
  readonly steps: string | null
}

/**
 * Replaces the plan of an order and raises its event number by one. `isAcknowledged` is whether the last message was
 * acknowledged when the plan was read.
 *
 * @returns false when the order has moved on since it was read
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function replanSandboxOrder(
  queries: Queries,
  {
    reference,
    eventNumber,
    isAcknowledged,
  }: { readonly reference: string; readonly eventNumber: number; readonly isAcknowledged: boolean },
  next: NextSandboxEvent,
): Promise<boolean> {
  const planned = await queries.query({
    name: 'sandbox_replanned',
    text: `update sandbox_order set state = case when state = 'unanswered' then 'accepted' else state end, next_event = $3, scheme_code = $4,
            due_at = received_at + $5 * interval '1 millisecond', steps = $6, event_number = event_number + 1
          where reference = $1 and event_number = $2 and (due_at is null) = $7 returning 1`,
    values: [reference, eventNumber, next.event, next.schemeCode, next.afterMs, next.steps, isAcknowledged],
  })
  return planned.length > 0
}

/** An order with a message that is due. Times are epoch milliseconds. */
export interface DueSandboxOrder {
  readonly reference: string
  readonly shard: number
  readonly event: BankEvent
  readonly schemeCode: string | null
  readonly steps: string | null
  readonly eventNumber: number
  readonly dueAt: number
  /** Null for an order from before orders had connections. */
  readonly connectionId: string | null
  readonly currency: string
  /** The balance at this bank that is paid; null for an account elsewhere. */
  readonly creditedBalanceId: string | null
}

const DUE = select({
  reference: expression<string>('reference'),
  shard: expression<number>('shard'),
  event: expression<BankEvent>('next_event'),
  schemeCode: expression<string | null>('scheme_code'),
  steps: expression<string | null>('steps'),
  eventNumber: expression<number>('event_number'),
  dueAt: instantExpression('due_at'),
  connectionId: expression<string | null>('connection_id'),
  currency: expression<string>('currency'),
  creditedBalanceId: expression<string | null>('credited_balance_id'),
})

/**
 * Reads the orders of these shards (null: all) with a message that is due at `now` (epoch milliseconds), the longest
 * due first, `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueSandboxOrders(
  database: Queries,
  { now, max, owned }: { readonly now: number; readonly max: number; readonly owned: readonly number[] | null },
): Promise<readonly DueSandboxOrder[]> {
  const rows = await database.query({
    name: 'sandbox_due',
    text: `select ${DUE.sql} from sandbox_order
          where due_at <= $1::timestamptz and state <> 'unanswered' and ($3::smallint[] is null or shard = any($3)) order by due_at limit $2`,
    values: [timestamp(now), max, plainArrayOrNull(owned)],
  })
  return rows.map((row) => DUE.read(row))
}

/**
 * Ends the plan of orders whose last message has this event number and was acknowledged; orders planned anew since stay
 * as they are.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function endSandboxPlans(
  database: Queries,
  references: readonly string[],
  eventNumber: number,
): Promise<void> {
  await database.query({
    name: 'sandbox_acknowledged',
    text: `update sandbox_order o set state = ${STATE_AFTER}, settled_at = ${SETTLED_AFTER}, due_at = null where reference = any($1::uuid[]) and event_number = $2`,
    values: [plainArray(references), eventNumber],
  })
}

/**
 * Moves an order whose message of this event number was acknowledged to its next message; an order planned anew since
 * stays as it is.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function advanceSandboxOrder(
  database: Queries,
  { reference, eventNumber }: { readonly reference: string; readonly eventNumber: number },
  next: NextSandboxEvent,
): Promise<void> {
  await database.query({
    name: 'sandbox_advanced',
    text: `update sandbox_order o set state = ${STATE_AFTER}, settled_at = ${SETTLED_AFTER}, next_event = $3, scheme_code = $4, due_at = received_at + $5 * interval '1 millisecond',
            steps = $6, event_number = event_number + 1
          where reference = $1 and event_number = $2`,
    values: [reference, eventNumber, next.event, next.schemeCode, next.afterMs, next.steps],
  })
}

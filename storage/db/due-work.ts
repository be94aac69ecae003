/**
 * The tables of work that becomes due, and when the next of their rows is due: a poller sleeps until then. Each has an
 * index of its due times, so that the answer reads one entry, and its rows have a shard.
 *
 * `notifies`: triggers of the table (migration 0045) notify all nodes when a row becomes due earlier than before; for
 * the orders of the sandbox only when a simulation hastens them, since the sandbox itself knows of new ones. The commit
 * of payments writes the other tables, and a transaction that notifies keeps other transactions from committing; their
 * pollers wake with the events of the commit.
 */
import { plainArrayOrNull } from './array-literal.ts'
import type { Queries } from './transaction.ts'

/** The channel on which triggers notify; the payload is the name of the table. */
export const WORK_CHANNEL = 'work_due'

interface DueTable {
  /** The column of the due time. */
  readonly at: string
  /** Rows that may be due, beside the due time. */
  readonly where?: string
  readonly notifies: boolean
}

export const DUE_TABLES = {
  account_details: { at: 'due_at', notifies: true },
  approval: { at: 'wake_at', where: "status = 'pending'", notifies: true },
  bulk_payment: { at: 'due_at', notifies: true },
  card_transaction: { at: 'expires_at', notifies: false },
  cash_order: { at: 'due_at', notifies: false },
  compliance_hold: { at: 'wake_at', where: "status = 'open'", notifies: true },
  customer_closure: { at: 'due_at', notifies: true },
  funds_request: { at: 'expires_at', where: "status in ('open', 'partially_paid')", notifies: true },
  fx_order: { at: 'due_at', notifies: false },
  incoming_debit: { at: 'answer_due_at', notifies: false },
  incoming_payment: { at: 'received_at', where: "return_state = 'due'", notifies: false },
  payment: { at: 'recall_due_at', notifies: false },
  payment_due: { at: 'due_at', notifies: false },
  provider_inbox: { at: 'due_at', notifies: true },
  sandbox_debit: { at: 'due_at', notifies: true },
  sandbox_fx_order: { at: 'due_at', where: "state <> 'unanswered'", notifies: true },
  sandbox_message: { at: 'due_at', where: 'acknowledged_at is null', notifies: true },
  sandbox_order: { at: 'due_at', where: "state <> 'unanswered'", notifies: true },
  scheduled_occurrence: { at: 'taken_at', where: "status = 'due'", notifies: false },
  scheduled_payment: {
    at: 'next_occurrence_at',
    where: `status = 'active' and not exists (
      select from scheduled_occurrence o where o.scheduled_payment_id = scheduled_payment.id and o.status = 'due')`,
    notifies: true,
  },
  staff_hold: { at: 'expires_at', where: "status = 'active'", notifies: true },
  transfer_order: { at: 'due_at', notifies: false },
} as const satisfies Readonly<Record<string, DueTable>>

/** A kind of work, by the name of its table. */
export type DueWork = keyof typeof DUE_TABLES

/**
 * Work whose next time the noun itself reads. Triggers of the table notify of endpoints; a balance that was stopped and
 * pays again notifies of itself (storage/balances/stopped-balances.ts).
 */
export type OtherWork = 'webhook_endpoint' | 'balance'

/** The triggers of a table of due work, as migration 0045 defines them; `at` is the column of the due time. */
export function dueTriggers(table: string, at: string) {
  return workTriggers(table, `new.${at} is not null`, [at, `new.${at} < coalesce(old.${at}, 'infinity')`])
}

/** Triggers that notify nodes after inserts and updates of a table, where the condition holds; null: no trigger. */
export function workTriggers(table: string, inserted: string | null, [columns, hastened]: readonly [string, string]) {
  const expression = (name: string, event: string, when: string) =>
    `create trigger ${name} after ${event} on ${table} for each row when (${when}) execute function work_due('${table}')`
  const onUpdate = {
    name: 'work_hastened',
    timing: 'after' as const,
    events: ['update' as const],
    expression: expression('work_hastened', `update of ${columns}`, hastened),
  }
  if (inserted === null) return [onUpdate]
  const onInsert = {
    name: 'work_inserted',
    timing: 'after' as const,
    events: ['insert' as const],
    expression: expression('work_inserted', 'insert', inserted),
  }
  return [onInsert, onUpdate]
}

/**
 * Returns when the next row of these shards (null: of all) is due, epoch milliseconds, which may have passed; null when
 * no row is to become due.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function nextDue(
  database: Queries,
  work: DueWork,
  owned: readonly number[] | null,
): Promise<number | null> {
  const { at, where }: DueTable = DUE_TABLES[work]
  const [row] = await database.query<[number]>({
    name: `next_${work}`,
    values: [plainArrayOrNull(owned)],
    text: `select ceil(extract(epoch from ${at}) * 1000)::float8 from ${work}
      where ${where === undefined ? '' : `${where} and `}${at} is not null and ($1::smallint[] is null or shard = any($1)) order by ${at} limit 1`,
  })
  return row?.[0] ?? null
}

/**
 * Incoming payments as rows: read for display, changed under their lock. Rules are elsewhere.
 *
 * Written by hand: the commit writes these rows, in the floods of the partner's messages.
 */
import type { IncomingChange, IncomingRecord } from '../../lib/incoming-payments/incoming-payment.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'

/** A row with the columns `INCOMING_COLUMNS`. */
export interface IncomingRow {
  readonly id: string
  readonly customer_id: string | null
  readonly balance_id: string | null
  readonly operator_id: string
  readonly connection_id: string
  readonly shard: number
  readonly status: IncomingRecord['status']
  readonly version: number
  readonly currency: string
  readonly amount: string
  readonly payer_name: string | null
  readonly payer_identifier: string | null
  readonly payer_bank_name: string | null
  readonly payer_country: string | null
  readonly reference: string | null
  readonly rail: IncomingRecord['rail']
  readonly end_to_end_id: string | null
  readonly uetr: string | null
  readonly funds_request_id: string | null
  readonly value_day: string
  readonly credited_ms: number | null
  readonly received_ms: number
  readonly suspense: IncomingRecord['suspense']
  readonly suspense_reason: IncomingRecord['suspenseReason']
  readonly decided_by: string | null
  readonly decided_ms: number | null
  readonly decision_reason: string | null
  readonly recall: string | null
  readonly recall_hold_id: string | null
  readonly returned_amount: string | null
  readonly return_reason: string | null
  readonly return_state: IncomingRecord['returnState']
}

const ms = (column: string, name: string): string => `(extract(epoch from i.${column}) * 1000)::float8 as ${name}`

/** Columns of an incoming payment `i`. */
export const INCOMING_COLUMNS = `i.id, i.customer_id, i.balance_id, i.operator_id, i.connection_id, i.shard, i.status, i.version, i.currency, i.amount, i.payer_name,
  i.payer_identifier, i.payer_bank_name, i.payer_country, i.reference, i.rail, i.end_to_end_id, i.uetr, i.funds_request_id, i.value_date::text as value_day,
  ${ms('credited_at', 'credited_ms')}, ${ms('received_at', 'received_ms')}, i.suspense, i.suspense_reason, i.decided_by, ${ms('decided_at', 'decided_ms')},
  i.decision_reason, i.recall, i.recall_hold_id, i.returned_amount, i.return_reason, i.return_state`

/** Converts a row to the domain's record. */
export function incomingRecord(row: IncomingRow): IncomingRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    balanceId: row.balance_id,
    operatorId: row.operator_id,
    connectionId: row.connection_id,
    shard: row.shard,
    status: row.status,
    version: row.version,
    currency: row.currency,
    amount: BigInt(row.amount),
    payerName: row.payer_name,
    payerIdentifier: row.payer_identifier,
    payerBankName: row.payer_bank_name,
    payerCountry: row.payer_country,
    reference: row.reference,
    rail: row.rail,
    endToEndId: row.end_to_end_id,
    uetr: row.uetr,
    fundsRequestId: row.funds_request_id,
    valueDate: row.value_day,
    creditedAt: row.credited_ms,
    receivedAt: row.received_ms,
    suspense: row.suspense,
    suspenseReason: row.suspense_reason,
    decidedBy: row.decided_by,
    decidedAt: row.decided_ms,
    decisionReason: row.decision_reason,
    recall: row.recall === null ? null : (JSON.parse(row.recall) as IncomingRecord['recall']),
    recallHoldId: row.recall_hold_id,
    returnedAmount: row.returned_amount === null ? null : BigInt(row.returned_amount),
    returnReason: row.return_reason,
    returnState: row.return_state,
  }
}

/** Locks one incoming payment, of any customer, until the transaction ends; null when it does not exist. */
export async function lockIncoming(client: TransactionClient, id: string): Promise<IncomingRecord | null> {
  const {
    rows: [row],
  } = await client.query<IncomingRow>({
    name: 'lock_incoming',
    text: `select ${INCOMING_COLUMNS} from incoming_payment i where i.id = $1 for update`,
    values: [id],
  })
  return row === undefined ? null : incomingRecord(row)
}

const CHANGED = {
  status: ['status', 'text'],
  customerId: ['customer_id', 'uuid'],
  balanceId: ['balance_id', 'uuid'],
  shard: ['shard', 'smallint'],
  creditedAt: ['credited_at', 'timestamptz'],
  suspense: ['suspense', 'text'],
  decidedBy: ['decided_by', 'uuid'],
  decidedAt: ['decided_at', 'timestamptz'],
  decisionReason: ['decision_reason', 'text'],
  recall: ['recall', 'text'],
  recallHoldId: ['recall_hold_id', 'uuid'],
  returnedAmount: ['returned_amount', 'bigint'],
  returnReason: ['return_reason', 'text'],
  returnState: ['return_state', 'text'],
} as const satisfies Record<keyof IncomingChange, readonly [string, string]>

/** Writes the next version of a row that the transaction has locked. */
export async function changeIncoming(
  client: TransactionClient,
  id: string,
  change: IncomingChange,
  now: number,
): Promise<void> {
  const values: Record<string, string | null> = {}
  for (const [member, [name, type]] of Object.entries(CHANGED)) {
    const value = change[member as keyof IncomingChange]
    if (value === undefined) continue
    values[name] =
      value === null
        ? null
        : type === 'timestamptz'
          ? timestamp(value as number)
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value)
  }
  await client.query({
    name: 'change_incoming',
    values: [id, JSON.stringify(values), timestamp(now)],
    text: `update incoming_payment i set version = i.version + 1, updated_at = $3,
      ${Object.values(CHANGED)
        .map(([name, type]) => `${name} = case when c.v ? '${name}' then (c.v->>'${name}')::${type} else i.${name} end`)
        .join(', ')}
      from (select $2::jsonb as v) c where i.id = $1`,
  })
}

/** Selects the partner's messages that were taken before: by their own id, or because their credit exists. */
export async function knownCredits(
  database: Database,
  messages: readonly { readonly id: string; readonly reference: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<[string]>({
    name: 'known_credits',
    values: [plainArray(messages.map(({ id }) => id)), plainArray(messages.map(({ reference }) => reference))],
    text: `select u.id from unnest($1::uuid[], $2::uuid[]) u(id, reference)
      where exists (select from provider_event e where e.id = u.id) or exists (select from incoming_payment i where i.id = u.reference)`,
  })
  return new Set(rows.map(([id]) => id))
}

/**
 * Locks a balance until the transaction ends and reads the facts that a hold needs; null when the balance does not
 * exist.
 */
export async function lockBalance(
  client: TransactionClient,
  id: string,
): Promise<{
  readonly status: BalanceStatus
  readonly available: bigint
  readonly version: bigint
  readonly connectionId: string
} | null> {
  const {
    rows: [row],
  } = await client.query<{ status: BalanceStatus; available: string; version: string; connection_id: string }>({
    name: 'lock_one_balance',
    text: 'select status, posted - held as available, version, connection_id from balance where id = $1 for update',
    values: [id],
  })
  return row === undefined
    ? null
    : {
        status: row.status,
        available: BigInt(row.available),
        version: BigInt(row.version),
        connectionId: row.connection_id,
      }
}

/** Reads returns that were not handed to the partner yet: at most `limit`, of the given shards; null for all. */
export async function dueReturns(
  database: Database,
  shards: readonly number[] | null,
  limit: number,
): Promise<readonly IncomingRecord[]> {
  const { rows } = await database.pool.query<IncomingRow>({
    name: 'due_returns',
    values: [limit, plainArrayOrNull(shards)],
    text: `select ${INCOMING_COLUMNS} from incoming_payment i where i.return_state = 'due' and ($2::smallint[] is null or i.shard = any($2)) order by i.id limit $1`,
  })
  return rows.map(incomingRecord)
}

/** Marks returns as taken by the partner. Only the state of the return changes, so the payment's version stays. */
export async function returnsSent(database: Database, ids: readonly string[]): Promise<void> {
  await database.query({
    name: 'returns_sent',
    values: [plainArray(ids)],
    text: `update incoming_payment set return_state = 'sent' where id = any($1::uuid[]) and return_state = 'due'`,
  })
}

/** Reads the operator of a connection; null when the connection does not exist. */
export async function operatorOfConnection(database: Database, connectionId: string): Promise<string | null> {
  const [row] = await database.query<[string]>({
    name: 'operator_of_connection',
    text: 'select operator_id from provider_connection where id = $1',
    values: [connectionId],
  })
  return row === undefined ? null : row[0]
}

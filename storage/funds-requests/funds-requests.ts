/** Rows of funds requests as they are created and moved; the rules are in lib/funds-requests. */
import { moveFundsRequest, type FundsRequestState } from '../../lib/funds-requests/funds-request.ts'
import { laterThan, timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { writeEvent } from '../outbox/outbox.ts'
import {
  fundsRequestColumns,
  fundsRequestRecord,
  type FundsRequestColumns,
  type FundsRequestRecord,
} from './funds-request-queries.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import type { IncomingStatus } from '../../lib/incoming-payments/incoming-payment.ts'

/** The fields of a new funds request. Amounts are minor units, times epoch milliseconds. */
export interface NewFundsRequest {
  readonly id: string
  readonly customerId: string
  readonly number: string
  readonly externalId: string | null
  readonly balanceId: string
  readonly currency: string
  readonly amount: bigint
  readonly payer: { readonly name: string; readonly email: string | null; readonly recipientId: string | null }
  readonly description: string
  readonly invoiceNumber: string | null
  readonly dueDate: string | null
  readonly expiresAt: number
  readonly allowPartial: boolean
  readonly reference: string
  readonly linkSha256: string
  readonly metadata: Readonly<Record<string, string>>
  readonly createdBy: string
  readonly now: number
}

/** An open transaction, with the ids and the time for new rows. */
export interface FundsRequestTx {
  readonly client: TransactionClient
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Serialises the creation of funds requests of one customer until the transaction ends, because their number is
 * limited.
 */
export async function lockFundsRequestsOf(client: TransactionClient, customerId: string): Promise<void> {
  await client.query({
    name: 'lock_funds_requests',
    text: `select pg_advisory_xact_lock(hashtextextended('funds requests of ' || $1::text, 0))`,
    values: [customerId],
  })
}

/** Whether a customer has at least this many funds requests that wait for money. */
export async function hasWaiting(client: TransactionClient, customerId: string, count: number): Promise<boolean> {
  const { rows } = await client.query({
    name: 'has_waiting_funds_requests',
    text: `select from funds_request where customer_id = $1 and status in ('open', 'partially_paid') offset $2 limit 1`,
    values: [customerId, count - 1],
  })
  return rows.length > 0
}

/** Finds the funds request that has an external id already; null when none has. */
export async function fundsRequestWithExternalId(
  client: TransactionClient,
  customerId: string,
  externalId: string,
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'funds_request_with_external_id',
    text: 'select id from funds_request where customer_id = $1 and external_id = $2',
    values: [customerId, externalId],
  })
  return rows[0]?.id ?? null
}

/**
 * Reads the facts about a customer's balance that a funds request needs; null when the balance is not the customer's.
 */
export async function receivingBalance(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<{ readonly currency: string; readonly status: BalanceStatus } | null> {
  const {
    rows: [row],
  } = await client.query<{ currency: string; status: BalanceStatus }>({
    name: 'receiving_balance',
    text: 'select currency, status from balance where id = $1 and customer_id = $2',
    values: [id, customerId],
  })
  return row ?? null
}

/** Whether a customer has a recipient. */
export async function hasRecipient(client: TransactionClient, customerId: string, id: string): Promise<boolean> {
  const { rows } = await client.query({
    name: 'has_recipient',
    text: `select from recipient where id = $1 and customer_id = $2 and status <> 'deleted'`,
    values: [id, customerId],
  })
  return rows.length > 0
}

export async function insertFundsRequest(client: TransactionClient, made: NewFundsRequest): Promise<void> {
  await client.query({
    name: 'insert_funds_request',
    text: `insert into funds_request (id, customer_id, operator_id, shard, number, external_id, status, balance_id, currency, amount, payer_name, payer_email,
        payer_recipient_id, description, invoice_number, due_date, expires_at, allow_partial, reference, link_sha256, metadata, created_by, created_at, updated_at)
      select $1, c.id, c.operator_id, c.shard, $3, $4, 'open', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, decode($17, 'hex'), $18, $19, $20, $20
      from customer c where c.id = $2`,
    values: [
      made.id,
      made.customerId,
      made.number,
      made.externalId,
      made.balanceId,
      made.currency,
      made.amount,
      made.payer.name,
      made.payer.email,
      made.payer.recipientId,
      made.description,
      made.invoiceNumber,
      made.dueDate,
      timestamp(made.expiresAt),
      made.allowPartial,
      made.reference,
      made.linkSha256,
      JSON.stringify(made.metadata),
      made.createdBy,
      timestamp(made.now),
    ],
  })
}

/**
 * Locks the row first, and reads the rest after the lock: another transaction may have counted money during the wait.
 */
async function lockWhere(
  client: TransactionClient,
  name: string,
  where: string,
  values: unknown[],
): Promise<FundsRequestRecord | null> {
  const {
    rows: [found],
  } = await client.query<{ id: string }>({
    name,
    text: `select r.id from funds_request r where ${where} for update`,
    values,
  })
  return found === undefined ? null : await readFundsRequest(client, found.id)
}

/** Reads a funds request within this transaction; null when it does not exist. */
export async function readFundsRequest(client: TransactionClient, id: string): Promise<FundsRequestRecord | null> {
  const {
    rows: [row],
  } = await client.query<FundsRequestColumns>({
    name: 'read_funds_request',
    text: `select ${fundsRequestColumns} from funds_request r where r.id = $1`,
    values: [id],
  })
  return row === undefined ? null : fundsRequestRecord(row)
}

/** Locks a funds request of a customer until the transaction ends; null when it is not the customer's. */
export async function lockFundsRequest(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<FundsRequestRecord | null> {
  return await lockWhere(client, 'lock_funds_request', 'r.id = $1 and r.customer_id = $2', [id, customerId])
}

/** Locks a funds request of any customer. */
export async function lockAnyFundsRequest(client: TransactionClient, id: string): Promise<FundsRequestRecord | null> {
  return await lockWhere(client, 'lock_any_funds_request', 'r.id = $1', [id])
}

/** Locks the funds request of a reference, if it requests money on this balance in this currency. */
export async function lockFundsRequestOfReference(
  client: TransactionClient,
  {
    reference,
    balanceId,
    currency,
  }: { readonly reference: string; readonly balanceId: string; readonly currency: string },
): Promise<FundsRequestRecord | null> {
  return await lockWhere(
    client,
    'lock_funds_request_of_reference',
    'r.reference = $1 and r.balance_id = $2 and r.currency = $3',
    [reference, balanceId, currency],
  )
}

/** Writes the fields of a request that users may change. */
export async function updateFundsRequest(
  client: TransactionClient,
  id: string,
  values: {
    readonly description: string
    readonly dueDate: string | null
    readonly expiresAt: number
    readonly metadata: Readonly<Record<string, string>>
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'update_funds_request',
    text: 'update funds_request set description = $2, due_date = $3, expires_at = $4, metadata = $5, updated_at = greatest(updated_at, $6), version = version + 1 where id = $1',
    values: [
      id,
      values.description,
      values.dueDate,
      timestamp(values.expiresAt),
      JSON.stringify(values.metadata),
      timestamp(values.now),
    ],
  })
}

/** Records that the payer was reminded. */
export async function noteReminder(client: TransactionClient, id: string, now: number): Promise<void> {
  await client.query({
    name: 'funds_request_reminded',
    values: [id, timestamp(now)],
    text: 'update funds_request set reminders_sent = reminders_sent + 1, last_reminded_at = $2, updated_at = greatest(updated_at, $2), version = version + 1 where id = $1',
  })
}

/** Writes the state of a locked request after a move, with its event. */
export async function writeMove(
  tx: FundsRequestTx,
  before: FundsRequestRecord,
  { status, paidAmount }: Pick<FundsRequestState, 'status' | 'paidAmount'>,
  incomingPaymentId: string | null,
): Promise<void> {
  const { client, ids } = tx
  const now = laterThan(before.updatedAt, tx.now)
  await client.query({
    name: 'move_funds_request',
    text: 'update funds_request set status = $2, paid_amount = $3, updated_at = $4, version = version + 1 where id = $1',
    values: [before.id, status, paidAmount, timestamp(now)],
  })
  const last = incomingPaymentId ?? before.payments.at(-1)?.incomingPaymentId ?? null
  await writeEvent(client, {
    id: ids.next(),
    createdAt: now,
    customerId: before.customerId,
    operatorId: before.operatorId,
    shard: before.shard,
    type: 'funds_request.status_changed',
    object: 'funds_request',
    objectId: before.id,
    status,
    previousStatus: before.status,
    amount: before.amount,
    currency: before.currency,
    related: last === null ? null : { object: 'incoming_payment', id: last },
  })
}

/** Money on a balance, with the fields that decide whether it counts towards a request. Minor units. */
export interface Arrival {
  readonly id: string
  readonly amount: bigint
}

/**
 * Counts an arrival towards a locked request, once: the request moves, and the arrival's row names the request.
 *
 * @returns false when the arrival counts towards a request already, or the request waits for no money; then nothing was
 * written
 */
export async function countArrival(
  tx: FundsRequestTx,
  request: FundsRequestRecord,
  arrival: Arrival,
): Promise<boolean> {
  const { client, now } = tx
  const moved = moveFundsRequest(request, { kind: 'pay', amount: arrival.amount })
  if ('refused' in moved) return false
  const { rowCount } = await client.query({
    name: 'insert_funds_request_payment',
    values: [arrival.id, request.id, arrival.amount, timestamp(now)],
    text: 'insert into funds_request_payment (incoming_payment_id, funds_request_id, amount, at) values ($1, $2, $3, $4) on conflict (incoming_payment_id) do nothing',
  })
  if (rowCount !== 1) return false
  await client.query({
    name: 'arrival_for_request',
    values: [arrival.id, request.id, timestamp(now)],
    text: 'update incoming_payment set funds_request_id = $2, updated_at = $3, version = version + 1 where id = $1',
  })
  await writeMove(tx, request, moved, arrival.id)
  return true
}

/** Locks an arrival that the customer can see until the transaction ends; null when it is not the customer's. */
export async function lockArrival(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<
  | (Arrival & {
      readonly status: IncomingStatus
      readonly balanceId: string
      readonly currency: string
      readonly fundsRequestId: string | null
    })
  | null
> {
  const {
    rows: [row],
  } = await client.query<{
    id: string
    amount: string
    status: IncomingStatus
    balance_id: string
    currency: string
    funds_request_id: string | null
  }>({
    name: 'lock_arrival',
    values: [id, customerId],
    text: `select id, amount, status, balance_id, currency, funds_request_id from incoming_payment where id = $1 and customer_id = $2 and credited_at is not null for update`,
  })
  return row === undefined
    ? null
    : {
        id: row.id,
        amount: BigInt(row.amount),
        status: row.status,
        balanceId: row.balance_id,
        currency: row.currency,
        fundsRequestId: row.funds_request_id,
      }
}

const DUE_FUNDS_REQUESTS = `select id from funds_request where status in ('open', 'partially_paid') and expires_at <= $1::timestamptz
  and ($2::smallint[] is null or shard = any($2)) order by expires_at limit $3`

/**
 * Reads the open requests of these shards (null: all) that have expired at `now` (epoch milliseconds), the longest
 * expired first, `max` at most, as ids.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function expiredFundsRequests(
  database: Queries,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'due_funds_requests',
    text: DUE_FUNDS_REQUESTS,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return rows.map(([id]) => id)
}

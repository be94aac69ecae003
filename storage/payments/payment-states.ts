/** Reads the state that payment actors cache from Postgres: many payments at once, on the lane's own connection. */
import type { PaymentState } from '../../lib/payments/payment-state.ts'
import { type PaymentDetails, type PaymentRecall, type PaymentStatus, spenderOf } from '../../lib/payments/payment.ts'
import { plainArray } from '../db/array-literal.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { Reader } from '../db/connection.ts'

export const PAYMENTS = `select id, customer_id, operator_id, connection_id, shard, number, status, version, sent_at is not null,
    source_balance_id, paying_balance_id, hold_id, currency, amount, fee, rail, details, (extract(epoch from created_at) * 1000)::float8, recall, created_by
  from payment where id = any($1::uuid[]) order by id`

/** Reads the states of payments; an id without a row is absent. */
export async function loadPayments(
  reader: Reader,
  ids: readonly string[],
  lock: boolean,
): Promise<Map<string, PaymentState>> {
  const { rows } = await reader.query(
    lock
      ? { name: 'lock_payments', text: `${PAYMENTS} for update`, values: [plainArray(ids)] }
      : { name: 'load_payments', text: PAYMENTS, values: [plainArray(ids)] },
  )
  const states = new Map<string, PaymentState>()
  for (const row of rows as [
    string,
    string,
    string,
    string,
    number,
    string,
    PaymentStatus,
    number,
    boolean,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    number,
    string | null,
    string,
  ][]) {
    const [
      id,
      customerId,
      operatorId,
      connectionId,
      shard,
      number,
      status,
      version,
      sent,
      sourceBalanceId,
      payingBalanceId,
      holdId,
      currency,
      amount,
      fee,
      rail,
      text,
      createdAt,
      recall,
      createdBy,
    ] = row
    const details = JSON.parse(text) as PaymentDetails
    states.set(id, {
      id,
      customerId,
      operatorId,
      connectionId,
      shard,
      number,
      status,
      version,
      sent,
      sourceBalanceId,
      payingBalanceId,
      holdId,
      currency,
      amount: BigInt(amount),
      fee: BigInt(fee),
      rail,
      reference: details.reference,
      recipientName: details.recipient.name,
      createdAt: details.heldAt ?? createdAt,
      spenderId: spenderOf({ createdBy, details }),
      recall: recall === null ? null : (JSON.parse(recall) as PaymentRecall),
      charges: details.charges,
      conversion: details.conversion,
      payeeBalanceId: details.payeeBalanceId,
    })
  }
  return states
}

/** Reads the state of one payment within a transaction; null when it does not exist. */
export async function readPayment(client: TransactionClient, id: string): Promise<PaymentState | null> {
  return (await readPayments(client, [id])).get(id) ?? null
}

/** Reads the states of payments within a transaction; an id without a row is absent. */
export async function readPayments(
  client: TransactionClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaymentState>> {
  const reader: Reader = {
    query: async (statement) =>
      (await client.query({ ...statement, rowMode: 'array' })) as unknown as { rows: unknown[][] },
  }
  return await loadPayments(reader, ids, false)
}

/** Reads the details of a payment, within a transaction; empty when there is no such payment. @throws what the driver throws */
export async function readPaymentDetails(client: TransactionClient, id: string): Promise<PaymentDetails> {
  const {
    rows: [row],
  } = await client.query<{ details: string }>({
    name: 'payment_details',
    text: 'select details from payment where id = $1',
    values: [id],
  })
  return JSON.parse(row?.details ?? '{}') as PaymentDetails
}

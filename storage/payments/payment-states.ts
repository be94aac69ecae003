/** Reads the state that payment actors cache from Postgres: many payments at once, on the lane's own connection. */
import type { PaymentState } from '../../lib/payments/payment-state.ts'
import { type PaymentDetails, spenderOf } from '../../lib/payments/payment.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import { plainArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { Reader } from '../db/connection.ts'
import { Payment } from './payment-entity.ts'

const STATE = select({
  ...pick(from(Payment, ''), [
    'id',
    'customerId',
    'operatorId',
    'connectionId',
    'shard',
    'number',
    'status',
    'version',
    'sourceBalanceId',
    'payingBalanceId',
    'holdId',
    'currency',
    'amount',
    'fee',
    'recall',
  ]),
  sent: expression<boolean>('sent_at is not null'),
  // A draft has no rail, and no actor.
  rail: expression<Rail>('rail'),
})
/** The columns of which the state has other members. */
const ORIGIN = select(pick(from(Payment, ''), ['details', 'createdAt', 'createdBy']))

const PAYMENTS = `select ${STATE.sql}, ${ORIGIN.sql} from payment where id = any($1::uuid[]) order by id`

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
  for (const row of rows) {
    const state = STATE.read(row)
    const { details, createdAt, createdBy } = ORIGIN.read(row, STATE.width)
    states.set(state.id, {
      ...state,
      reference: details.reference,
      recipientName: details.recipient.name,
      createdAt: details.heldAt ?? createdAt,
      spenderId: spenderOf({ createdBy, details }),
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

/** Reads the number of a payment, and the person or key that ordered it. @throws Error when there is no such payment */
export async function readPaymentOrder(
  client: TransactionClient,
  id: string,
): Promise<{ readonly number: string; readonly createdBy: string }> {
  const {
    rows: [row],
  } = await client.query<{ number: string; created_by: string }>({
    name: 'payment_order',
    text: 'select number, created_by from payment where id = $1',
    values: [id],
  })
  if (row === undefined) throw new Error(`The payment ${id} does not exist.`)
  return { number: row.number, createdBy: row.created_by }
}

/**
 * Reads the details of a payment, within a transaction; empty when there is no such payment. @throws what the driver
 * throws
 */
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

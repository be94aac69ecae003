/** What actors remember, read from Postgres: many at once, on the lane's own connection. */
import type { BalanceState } from '../lib/ledger/balance.ts'
import type { PaymentState } from '../lib/payments/payment-moves.ts'
import type { PaymentDetails, PaymentStatus } from '../lib/payments/payment.ts'
import { plainArray } from './array-literal.ts'
import type { Statement } from './connection.ts'

interface Reader {
  query(statement: Statement): Promise<{ rows: unknown[][] }>
}

const BALANCES = `select id, customer_id, operator_id, connection_id, shard, currency, name, status, posted - held, version
  from balance where id = any($1::uuid[]) order by id`

/** The states of balances; an id without a row is absent. `lock` holds the rows in the order of their ids (I3). */
export async function loadBalances(reader: Reader, ids: readonly string[], lock: boolean): Promise<Map<string, BalanceState>> {
  const { rows } = await reader.query(lock
    ? { name: 'lock_balances', text: `${BALANCES} for update`, values: [plainArray(ids)] }
    : { name: 'load_balances', text: BALANCES, values: [plainArray(ids)] })
  const states = new Map<string, BalanceState>()
  for (const row of rows as [string, string, string, string, number, string, string, BalanceState['status'], string, string][]) {
    const [id, customerId, operatorId, connectionId, shard, currency, name, status, available, version] = row
    states.set(id, { id, customerId, operatorId, connectionId, shard, currency, name, status, available: BigInt(available), version: BigInt(version) })
  }
  return states
}

const PAYMENTS = `select id, customer_id, operator_id, connection_id, shard, number, status, version, sent_at is not null,
    source_balance_id, hold_id, currency, amount, fee, rail, details
  from payment where id = any($1::uuid[]) order by id`

/** The states of payments; an id without a row is absent. */
export async function loadPayments(reader: Reader, ids: readonly string[], lock: boolean): Promise<Map<string, PaymentState>> {
  const { rows } = await reader.query(lock
    ? { name: 'lock_payments', text: `${PAYMENTS} for update`, values: [plainArray(ids)] }
    : { name: 'load_payments', text: PAYMENTS, values: [plainArray(ids)] })
  const states = new Map<string, PaymentState>()
  for (const row of rows as [string, string, string, string, number, string, PaymentStatus, number, boolean, string, string, string, string, string, string, string][]) {
    const [id, customerId, operatorId, connectionId, shard, number, status, version, sent, sourceBalanceId, holdId, currency, amount, fee, rail, text] = row
    const details = JSON.parse(text) as PaymentDetails
    states.set(id, { id, customerId, operatorId, connectionId, shard, number, status, version, sent, sourceBalanceId, holdId, currency,
      amount: BigInt(amount), fee: BigInt(fee), rail, reference: details.reference, recipientName: details.recipient.name })
  }
  return states
}

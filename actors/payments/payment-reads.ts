/** The reads of payments. Null means: no such row in this tenant. */
import { NO_RATES } from '../../lib/approvals/policy.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { Money } from '../../lib/contract/primitives.ts'
import { converterAt } from '../../lib/exchange/worth.ts'
import type { ExchangeDeps } from '../exchange/create-exchange.ts'
import type { OperatorReads } from '../operators/operator-operations.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { getPayment, listPayments, type PaymentListQuery } from '../../storage/payments/payment-queries.ts'
import type { Queue } from '../../storage/payments/queue-places.ts'

/** Creates the reads. They throw DatabaseUnavailable while Postgres is slow or gone. */
export function createPaymentReads({ database, ...queue }: Queue & { readonly database: Database }) {
  const db = readDatabase(database)
  return {
    /** `forOperator`: with the members that customers never see. */
    listPayments: (query: PaymentListQuery, forOperator = false) =>
      listPayments(database, db, query, queue, forOperator),
    /** `forOperator`: with the members that customers never see. */
    getPayment: (tenant: Tenant, id: string, forOperator = false) =>
      getPayment(database, tenant, id, queue, forOperator),
  }
}

export interface ThresholdDeps {
  readonly clock: Clock
  readonly desks: Pick<ExchangeDeps['desks'], 'of'>
  readonly market: Pick<ExchangeDeps['market'], 'rates'>
  readonly operators: Pick<OperatorReads, 'stepUpThreshold'>
}

/** Creates the read of whether a person of a customer has to prove themselves for a payment of an amount. */
export const createProofReads = (deps: ThresholdDeps) => ({
  needsProof: ({ id }: Tenant, amount: Money) => needsProof(deps, id, amount),
})

/** Returns true above the operator's threshold, and where the amount cannot be compared with it. */
async function needsProof(
  { desks, market, operators, clock }: ThresholdDeps,
  customerId: string,
  { amountMinor, currency }: Money,
): Promise<boolean> {
  const threshold = await operators.stepUpThreshold(customerId)
  if (threshold.amount === 0n) return true
  const desk = await desks.of(customerId)
  const convert = desk === null ? NO_RATES : converterAt(market.rates(), desk.connectionId, clock.now())
  const worth = convert(BigInt(amountMinor), currency, threshold.currency)
  return worth === null || worth > threshold.amount
}

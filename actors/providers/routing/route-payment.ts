/** Routes a payment that is being made. */
import type { KeptRouting } from '../../../lib/providers/routing.ts'
import type { CustomerType } from '../../../lib/customers/types.ts'
import { chooseRail, type RailQuestion } from '../../../lib/rails/choose-rail.ts'
import type { Rail, RailTable } from '../../../lib/rails/rails.ts'
import type { RoutingTable } from './routing-table.ts'

export interface RouteNewOptions {
  /** The customer that pays, and the rails that it may use. */
  readonly payer: {
    readonly customerId: string
    readonly payer: { readonly operatorId: string; readonly customerType: CustomerType }
    readonly rails: { readonly table: RailTable }
  }
  /** The question by which the rail was chosen. */
  readonly question: RailQuestion
  readonly rail: Rail
  /** Finds the connection of the balance that pays; undefined when there is no such balance. */
  readonly homeConnectionId: () => Promise<string | undefined>
  /** Whether the payment will be made, so that it counts for the volumes of the day. */
  readonly isMade: boolean
}

/** The rail and the routing of a payment; no routing: it leaves through the connection of its balance. */
interface RoutedRail {
  readonly rail: Rail
  readonly routing: KeptRouting | undefined
}

/**
 * Routes a new payment of an operator that has something to decide.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function routeNew(
  routing: RoutingTable,
  { payer: { customerId, payer, rails }, question, rail, homeConnectionId, isMade }: RouteNewOptions,
): Promise<RoutedRail> {
  const home = await homeConnectionId()
  if (home === undefined) return { rail, routing: undefined }
  const payment = {
    currency: question.currency,
    amount: question.amountMinor,
    rail,
    isRailFixed: question.requested != null,
    country: question.bankCountry,
    customerId,
    customerType: payer.customerType,
    homeConnectionId: home,
  }
  const canUse = (wanted: Rail) => 'rail' in chooseRail({ ...question, requested: wanted }, rails.table)
  const decision = await routing.decide(payer.operatorId, payment, { canUse })
  const isOrdinary = decision.ruleId === null && decision.connectionId === home
  return { rail: decision.rail, routing: isMade && !isOrdinary ? routing.keep(decision, payment) : undefined }
}

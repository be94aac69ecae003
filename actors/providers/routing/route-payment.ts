/** Chooses the rail, the connection and the calendar of a payment that is checked or made. */
import type { KeptRouting } from '../../../lib/providers/routing.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import type { CreatePayment } from '../../../lib/payments/create-payment-command.ts'
import type { CustomerType } from '../../../lib/customers/types.ts'
import { chooseRail, type RailChoice, type RailQuestion } from '../../../lib/rails/choose-rail.ts'
import { ON_PLATFORM_RAIL, type Rail, type RailTable } from '../../../lib/rails/rails.ts'
import type { BalanceCache } from '../../../storage/balances/balance-cache.ts'
import type { PayableRecipient } from '../../../storage/recipients/recipient-cache.ts'
import type { RoutingTable } from './routing-table.ts'

interface RouteNewOptions {
  /** The customer that pays, and the rails that it may use. */
  readonly payer: {
    readonly customerId: string
    readonly payer: { readonly operatorId: string; readonly customerType: CustomerType }
    readonly rails: { readonly table: RailTable }
  }
  /** The question by which the rail was chosen. */
  readonly question: RailQuestion
  readonly rail: Rail
  /** The connection of the balance that pays. */
  readonly home: string
  /** Whether the payment will be made, so that it counts for the volumes of the day. */
  readonly isMade: boolean
}

/** How a payment leaves. */
interface RoutedRail {
  readonly rail: Rail
  readonly connectionId: string
  /** Absent: by the connection of its balance. */
  readonly routing?: KeptRouting | undefined
}

/**
 * Routes a new payment of an operator that has something to decide.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
async function routeNew(
  routing: RoutingTable,
  { payer: { customerId, payer, rails }, question, rail, home, isMade }: RouteNewOptions,
): Promise<RoutedRail> {
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
  return {
    rail: decision.rail,
    connectionId: decision.connectionId,
    routing: isMade && !isOrdinary ? routing.keep(decision, payment) : undefined,
  }
}

/** The dependencies of the choice. */
export interface RoutingDeps {
  /** Finds the balance that pays. */
  readonly balances: Pick<BalanceCache, 'find'>
  /** Absent: payments leave through the connection of their balance. */
  readonly routing?: RoutingTable
}

/** The members of a requested payment on which the choice depends. */
export interface RoutedInput {
  readonly sourceBalanceId: string
  readonly amount: { readonly amountMinor: string; readonly currency: string }
  readonly requestedRail?: Rail | null
  readonly quoteId?: string | null
}

export interface WayOptions {
  /** Finds the connection of the balance that an exchange buys for; undefined where nothing is bought. */
  readonly home: () => Promise<string | undefined>
  /** Whether the payment will be made, so that it counts for the volumes of the day. */
  readonly isMade: boolean
}

/**
 * Chooses the rail, and the connection and its calendar where the operator has something to decide; no rail: none can
 * carry the payment.
 */
export async function routedRail(
  deps: RoutingDeps,
  input: RoutedInput,
  recipient: PayableRecipient,
  { home: boughtAt, isMade }: WayOptions,
): Promise<
  { readonly choice: RailChoice } & Partial<Omit<RoutedRail, 'connectionId'>> & Pick<CreatePayment, 'calendar'>
> {
  const { routing, balances } = deps
  const { operatorId } = recipient.payer
  const isRouted = routing?.isRouted(operatorId) === true
  const own = isRouted || input.quoteId != null ? (await balances.find(input.sourceBalanceId))?.connectionId : undefined
  const home = own === undefined ? undefined : ((await boughtAt()) ?? own)
  const question = railQuestion(deps, input, recipient, home)
  const choice = chooseRail(question, recipient.rails.table)
  if (!('rail' in choice)) return { choice }
  const { rail } = choice
  if (routing === undefined || home === undefined || rail === ON_PLATFORM_RAIL) return { choice, rail }
  const { connectionId, ...routed } = isRouted
    ? await routeNew(routing, { payer: recipient, question, rail, home, isMade })
    : { rail, connectionId: home }
  // A balance knows the calendar of its own connection, which its version fences.
  const calendar = connectionId === own ? {} : { calendar: routing.calendarOf(operatorId, connectionId) }
  return { choice, ...routed, ...calendar }
}

/** The facts on which the rail of a payment depends. `homeConnectionId`: undefined where every rail is offered. */
export function railQuestion(
  { routing }: Pick<RoutingDeps, 'routing'>,
  { amount, requestedRail }: Pick<RoutedInput, 'amount' | 'requestedRail'>,
  recipient: PayableRecipient,
  homeConnectionId: string | undefined,
): RailQuestion {
  const { customerId, payer } = recipient
  const [currency, amountMinor] = [amount.currency as CurrencyCode, BigInt(amount.amountMinor)]
  const offered =
    homeConnectionId === undefined
      ? undefined
      : routing?.offeredRails(payer.operatorId, { currency, amount: amountMinor, customerId, homeConnectionId })
  return {
    currency,
    amountMinor,
    bankCountry: recipient.bankCountry,
    fields: recipient.fields,
    requested: requestedRail ?? null,
    onPlatform: payeeOnPlatform(recipient) !== null,
    ...(offered === undefined ? {} : { offered }),
  }
}

/**
 * Finds the account of a recipient when the rail `internal` can carry a payment to it: a balance of the same operator.
 * Null for any other account. Where the two balances sit at two connections, their cash is moved by L21.
 */
export const payeeOnPlatform = ({
  platformAccount,
}: Pick<PayableRecipient, 'platformAccount'>): PayableRecipient['platformAccount'] =>
  platformAccount?.sameOperator === true ? platformAccount : null

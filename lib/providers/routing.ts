/**
 * Routing: through which connection, and by which rail, a payment leaves. One pure function decides for new payments, for
 * payments that move to another connection, and for the simulator, which also shows every rule's reasons.
 *
 * The rules of an operator are asked by ascending priority; among rules of one priority the one that costs least for
 * this payment is asked first, then the oldest. The first rule that matches decides. Where none does, the payment leaves
 * through the connection of its balance; when that takes no payments, through the active primary, the customer's own
 * first, and then through a fallback that serves the currency.
 *
 * A rule matches when its conditions fit the payment and its connection takes the payment now: it is active, not down
 * and not paused, carries the rail and the amount, and has volume left for the day. A rail that the caller asked for is
 * never replaced; a preferred rail that cannot carry the payment leaves the payment on the rail that it had.
 */
import type { CustomerType } from '../customers/types.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import { ON_PLATFORM_RAIL, RAILS, type Rail } from '../rails/rails.ts'
import type { ConnectionRole, ConnectionStatus } from './connection.ts'
import type { HealthState } from './health.ts'
import type { ProviderCapability, ProviderDescription } from './provider.ts'

/** The conditions of a rule; null: any. Amounts are minor units of `currency`, the limits included. */
export interface RoutingMatch {
  readonly currency: string | null
  readonly rail: Rail | null
  /** The country of the recipient's bank. */
  readonly country: string | null
  readonly customerType: CustomerType | null
  readonly amountMin: bigint | null
  readonly amountMax: bigint | null
}

/** A routing rule. Amounts are minor units of the currency that it matches. */
export interface RoutingRule {
  readonly id: string
  readonly name: string | null
  /** The lowest number is asked first. */
  readonly priority: number
  readonly match: RoutingMatch
  readonly connectionId: string
  readonly preferredRail: Rail | null
  /** The charge of the connection to the operator for a payment: a fixed amount and a share, in hundredths of a per cent. */
  readonly costPerPayment: bigint | null
  readonly costBps: number
  /** The most that rules may send through the connection on one day (UTC). */
  readonly dailyVolumeMax: bigint | null
  readonly dailyCountMax: number | null
  readonly enabled: boolean
}

/** A connection as routing sees it. */
export interface RoutingConnection {
  readonly id: string
  /** The only customer that it serves; null: every customer of the operator. */
  readonly customerId: string | null
  readonly name: string
  readonly status: ConnectionStatus
  readonly role: ConnectionRole
  /** The currencies that a fallback serves. */
  readonly fallbackCurrencies: readonly string[]
  readonly health: HealthState
  /** The rails that its provider carries; null: every rail. */
  readonly rails: ProviderDescription['rails'] | null
  /** The abilities of its provider; null: this version has no adapter for it. */
  readonly capabilities: ProviderDescription['capabilities'] | null
  /** Its cut-offs and closed days; null where none are kept. */
  readonly calendar: CalendarTerms | null
}

/** The facts of a payment. */
export interface RoutedPayment {
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  /** The rail that the payment has without a rule. */
  readonly rail: Rail
  readonly customerId: string
  /** Whether the caller asked for that rail, or it can no longer change. */
  readonly isRailFixed: boolean
  /** The country of the recipient's bank. */
  readonly country: string
  readonly customerType: CustomerType
  /** The connection where the balance sits that pays. */
  readonly homeConnectionId: string
}

/** The sum that rules have sent through a connection on the day, in the currency of the payment and in all currencies. */
export interface RoutedVolume {
  /** Minor units. */
  readonly amount: bigint
  readonly count: number
}

/** The rules and connections of one operator. */
export interface RoutingTerms {
  readonly rules: readonly RoutingRule[]
  readonly connections: readonly RoutingConnection[]
}

/** The facts on which a decision rests beside the terms and the payment. */
export interface RoutingQuestion {
  /** The volume of the day of a connection, in the currency of the payment. */
  readonly volumeOf: (connectionId: string) => RoutedVolume
  /** Whether a rail can carry the payment to its recipient. */
  readonly canUse: (rail: Rail) => boolean
  /** Connections that have refused the payment, which are not asked again. */
  readonly refusedBy?: ReadonlySet<string>
}

/** A rule with the reasons why it matched, or why it did not. */
export interface RuleOutcome {
  readonly ruleId: string
  readonly matched: boolean
  readonly reasons: readonly string[]
}

/** The decision. */
export interface RoutingDecision {
  /** The rule that decided; null where none did. */
  readonly ruleId: string | null
  readonly connectionId: string
  readonly rail: Rail
  /** False: no connection takes the payment now, so it waits at the connection of its balance. */
  readonly isOpen: boolean
  /** The reason in words for staff. */
  readonly reason: string
  /** Every rule in the order in which it was asked. */
  readonly rules: readonly RuleOutcome[]
}

/** The decision as a payment keeps it. A payment without one leaves through the connection of its balance. */
export interface KeptRouting {
  readonly ruleId: string | null
  readonly connectionId: string
  readonly reason: string
  /** `YYYY-MM-DD` (UTC): the day whose volume the payment counts for. */
  readonly day: string
  /** The connections that have refused the payment. */
  readonly refusedBy?: readonly string[]
}

/** Decides how a payment leaves. */
export function route(terms: RoutingTerms, payment: RoutedPayment, question: RoutingQuestion): RoutingDecision {
  const connections = new Map(terms.connections.map((each) => [each.id, each]))
  const outcomes: RuleOutcome[] = []
  let chosen: { readonly rule: RoutingRule; readonly rail: Rail } | null = null
  for (const rule of inOrder(terms.rules, payment)) {
    const judged = judge(rule, connections.get(rule.connectionId), payment, question)
    const isMatch = judged.faults.length === 0
    const isLate = isMatch && chosen !== null
    outcomes.push({
      ruleId: rule.id,
      matched: isMatch,
      reasons: [
        ...(isMatch ? judged.fits : judged.faults),
        ...(isLate ? ['A rule that is asked before it has decided.'] : []),
      ],
    })
    if (isMatch && chosen === null) chosen = { rule, rail: judged.rail }
  }
  if (chosen !== null) {
    const { id: ruleId, name, connectionId } = chosen.rule
    const reason = name === null ? 'A rule matched.' : `The rule “${name}” matched.`
    return { ruleId, connectionId, rail: chosen.rail, isOpen: true, reason, rules: outcomes }
  }
  return { ruleId: null, rail: payment.rail, rules: outcomes, ...unruled(terms.connections, payment, question) }
}

/** Whether a connection is sent new payments now. */
export const takesPayments = ({ status, health }: Pick<RoutingConnection, 'status' | 'health'>): boolean =>
  status === 'active' && health !== 'down' && health !== 'paused'

/** A question that is no payment, such as the check of a payee's name. */
export interface RoutedQuestion {
  readonly customerId: string
  readonly currency: string
  /** The ability that the provider must have. */
  readonly capability: ProviderCapability
}

/**
 * Finds the connection that answers a question of a customer: an active one whose provider has the ability in the
 * currency. One that is well goes before one that is not, a primary before a fallback, and the customer's own before
 * that of all customers. Null: no connection can answer.
 */
export function connectionForQuestion(
  connections: readonly RoutingConnection[],
  { customerId, currency, capability }: RoutedQuestion,
): string | null {
  const able = connections.filter(
    ({ status, capabilities, role, fallbackCurrencies, ...connection }) =>
      status === 'active' &&
      capabilities?.[capability] === true &&
      capabilities.currencies.some((each) => each === currency) &&
      (connection.customerId === null || connection.customerId === customerId) &&
      (role === 'primary' || fallbackCurrencies.includes(currency)),
  )
  const rank = (connection: RoutingConnection): number =>
    (takesPayments(connection) ? 0 : 4) +
    (connection.role === 'primary' ? 0 : 2) +
    (connection.customerId === null ? 1 : 0)
  return able.toSorted((one, other) => rank(one) - rank(other))[0]?.id ?? null
}

/**
 * Whether an operator has anything to decide: a rule, a connection whose payments leave elsewhere, or one that does not
 * carry every rail.
 */
export const isRouted = ({ rules, connections }: RoutingTerms): boolean =>
  rules.some(({ enabled }) => enabled) ||
  connections.some((each) => WORKED.has(each.status) && (!takesPayments(each) || isPartial(each)))

/** The rails that connections may carry at all. */
const CARRIED_RAILS = [...RAILS.keys()].filter((rail) => rail !== ON_PLATFORM_RAIL && rail !== 'card')

/** Whether a connection lacks a rail, or carries one in some currencies or up to an amount alone. */
const isPartial = ({ rails }: Pick<RoutingConnection, 'rails'>): boolean =>
  rails !== null &&
  CARRIED_RAILS.some((rail) => rails[rail]?.currencies !== 'all' || rails[rail]?.amountMax !== undefined)

/**
 * The rails by which a payment could leave, in its currency and up to its amount: those of the connection of its balance
 * and of every other one that takes new work of the customer, whatever its health is now. Undefined: every rail.
 */
export function offeredRails(
  { connections }: RoutingTerms,
  payment: Pick<RoutedPayment, 'currency' | 'amount' | 'customerId' | 'homeConnectionId'>,
): ReadonlySet<Rail> | undefined {
  const { customerId, currency, homeConnectionId } = payment
  const able = connections.filter(
    ({ id, status, role, customerId: only, fallbackCurrencies }) =>
      (status === 'active' || (status === 'draining' && id === homeConnectionId)) &&
      (only === null || only === customerId) &&
      (role === 'primary' || id === homeConnectionId || fallbackCurrencies.includes(currency)),
  )
  if (able.length === 0 || able.some((each) => !isPartial(each))) return undefined
  return new Set(CARRIED_RAILS.filter((rail) => able.some((each) => carries(each, rail, payment))))
}

/** Statuses of connections where balances may sit. */
const WORKED: ReadonlySet<ConnectionStatus> = new Set(['active', 'draining', 'retired'])

/** Computes what a payment costs through the connection of a rule, in minor units; shares are rounded up. */
export function costOf({ costPerPayment, costBps }: RoutingRule, amount: bigint): bigint {
  return (costPerPayment ?? 0n) + (amount * BigInt(costBps) + 9_999n) / 10_000n
}

function inOrder(rules: readonly RoutingRule[], { amount }: RoutedPayment): RoutingRule[] {
  const compared = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
  return [...rules].sort(
    (a, b) =>
      a.priority - b.priority ||
      compared(costOf(a, amount), costOf(b, amount)) ||
      (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  )
}

/** Judges one rule: all its faults, or the reasons why it fits, and the rail that the payment takes under it. */
function judge(
  rule: RoutingRule,
  connection: RoutingConnection | undefined,
  payment: RoutedPayment,
  { volumeOf, canUse, refusedBy }: RoutingQuestion,
): { readonly faults: readonly string[]; readonly fits: readonly string[]; readonly rail: Rail } {
  const faults: string[] = []
  const fits: string[] = []
  const { match, preferredRail } = rule
  const check = (what: string, wanted: string | null, is: string) => {
    if (wanted === null) return
    if (wanted === is) fits.push(`The ${what} is ${is}.`)
    else faults.push(`The ${what} is ${is}, not ${wanted}.`)
  }
  if (!rule.enabled) faults.push('The rule is switched off.')
  check('currency', match.currency, payment.currency)
  check('rail', match.rail, payment.rail)
  check('country', match.country, payment.country)
  check('type of the customer', match.customerType, payment.customerType)
  if (match.amountMin !== null && payment.amount < match.amountMin) faults.push('The amount is below the range.')
  else if (match.amountMax !== null && payment.amount > match.amountMax) faults.push('The amount is above the range.')
  else if (match.amountMin !== null || match.amountMax !== null) fits.push('The amount is in the range.')
  const prefers = preferredRail !== null && preferredRail !== payment.rail
  const isPreferred =
    prefers && !payment.isRailFixed && canUse(preferredRail) && carries(connection, preferredRail, payment)
  const rail = isPreferred ? preferredRail : payment.rail
  if (isPreferred) fits.push(`The payment takes the preferred rail ${preferredRail}.`)
  else if (prefers) fits.push(`The preferred rail ${preferredRail} cannot be taken.`)
  const fault =
    connection === undefined ? 'There is no such connection.' : faultOf(connection, rail, payment, refusedBy)
  if (fault !== null) faults.push(fault)
  const volume = rule.dailyVolumeMax === null && rule.dailyCountMax === null ? null : volumeOf(rule.connectionId)
  if (volume !== null && rule.dailyVolumeMax !== null && volume.amount + payment.amount > rule.dailyVolumeMax)
    faults.push('The volume of the day is used up.')
  if (volume !== null && rule.dailyCountMax !== null && volume.count >= rule.dailyCountMax)
    faults.push('The number of payments of the day is used up.')
  if (faults.length === 0 && fits.length === 0) fits.push('The rule has no conditions.')
  return { faults, fits, rail }
}

/** The reason why a connection does not take a payment; null: it does. */
function faultOf(
  { id, name, customerId, status, role, health, fallbackCurrencies, ...connection }: RoutingConnection,
  rail: Rail,
  payment: RoutedPayment,
  refusedBy: ReadonlySet<string> | undefined,
): string | null {
  if (status !== 'active') return `“${name}” is ${status}.`
  if (health === 'down' || health === 'paused') return `“${name}” is ${health}.`
  if (refusedBy?.has(id) === true) return `“${name}” has refused the payment.`
  if (customerId !== null && customerId !== payment.customerId) return `“${name}” serves another customer.`
  if (role === 'fallback' && id !== payment.homeConnectionId && !fallbackCurrencies.includes(payment.currency))
    return `“${name}” is a fallback that does not serve ${payment.currency}.`
  if (!carries(connection, rail, payment)) return `“${name}” does not carry the payment by ${rail}.`
  return null
}

function carries(
  connection: Pick<RoutingConnection, 'rails'> | undefined,
  rail: Rail,
  { currency, amount }: Pick<RoutedPayment, 'currency' | 'amount'>,
): boolean {
  if (connection === undefined) return false
  if (connection.rails === null) return true
  const carried = connection.rails[rail]
  return (
    carried !== undefined &&
    (carried.currencies === 'all' || carried.currencies.some((each) => each === currency)) &&
    (carried.amountMax === undefined || amount <= carried.amountMax)
  )
}

/** The way of a payment that no rule has decided. */
function unruled(
  connections: readonly RoutingConnection[],
  payment: RoutedPayment,
  { refusedBy }: RoutingQuestion,
): Pick<RoutingDecision, 'connectionId' | 'isOpen' | 'reason'> {
  const home = connections.find(({ id }) => id === payment.homeConnectionId)
  const fault = home === undefined ? 'There is no such connection.' : faultOf(home, payment.rail, payment, refusedBy)
  if (fault === null) return { connectionId: payment.homeConnectionId, isOpen: true, reason: 'The balance sits there.' }
  const others = connections.filter(
    (each) => each.id !== payment.homeConnectionId && faultOf(each, payment.rail, payment, refusedBy) === null,
  )
  const primaries = others.filter(({ role }) => role === 'primary')
  const other = primaries.find(({ customerId }) => customerId !== null) ?? primaries[0] ?? others[0]
  return other === undefined
    ? {
        connectionId: payment.homeConnectionId,
        isOpen: false,
        reason: `${fault} No other connection takes the payment.`,
      }
    : { connectionId: other.id, isOpen: true, reason: fault }
}

/**
 * Connections of operators to banking partners: their states and rules. Pure.
 *
 *   draft ──verify──▶ verified ──activate──▶ active ──drain──▶ draining ──retire──▶ retired
 *     └────▶ failed ──▶ (verify again)                 (or by the activation of another primary)
 *
 * A connection that was never active is retired, or deleted, at once.
 */
import { createHmac } from 'node:crypto'
import type { CurrencyCode } from '../base/currency.ts'
import { moneyJson } from '../base/money.ts'
import type { AccountKey } from '../ledger/chart.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import type { HealthState } from './health.ts'
import type { ProviderEnvironment } from './provider.ts'

export const CONNECTION_STATUSES = ['draft', 'verified', 'active', 'draining', 'retired', 'failed'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]

export const CONNECTION_ROLES = ['primary', 'fallback'] as const
export type ConnectionRole = (typeof CONNECTION_ROLES)[number]

/** The party that the partner has its contract with: the operator, or the customer that the connection is for. */
export const CONTRACT_MODELS = ['platform_of_record', 'customer_of_record'] as const
export type ContractModel = (typeof CONTRACT_MODELS)[number]

/**
 * Whether the partner sends its webhooks here. `pending`: none has come with a valid signature yet; `failed`: what came
 * was not signed with the secret of the connection.
 */
export const WEBHOOK_REGISTRATIONS = ['not_supported', 'pending', 'registered', 'failed'] as const
export type WebhookRegistration = (typeof WEBHOOK_REGISTRATIONS)[number]

/** Connections of one operator that are not retired. */
export const CONNECTIONS_MAX = 50

/** The first of the two people who ask for a migration, or the job that runs since the second has. */
export interface ConnectionMigration {
  readonly toConnectionId: string
  readonly proposedBy: string
  readonly proposedByName: string
  /** Epoch milliseconds. */
  readonly proposedAt: number
  /** Null until a second person has agreed. */
  readonly jobId: string | null
}

/** The end of a probe. `message`: the provider's trouble in words for staff; null when it is well. */
export interface ProbeResult {
  readonly ok: boolean
  readonly latencyMs: number
  readonly message: string | null
}

/** A connection. Times are epoch milliseconds. */
export interface ProviderConnectionRecord {
  readonly id: string
  readonly operatorId: string
  /** The customer that it is for; null: all customers of the operator. */
  readonly customerId: string | null
  /** A `ProviderId`; a row may be older than the adapters of this version. */
  readonly provider: string
  readonly environment: ProviderEnvironment
  readonly name: string
  readonly role: ConnectionRole
  readonly status: ConnectionStatus
  /** The configuration of the provider's adapter. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly fallbackCurrencies: readonly string[]
  readonly contractModel: ContractModel | null
  /** Sealed. */
  readonly credentials: Uint8Array | null
  readonly credentialsKid: string | null
  readonly credentialsFingerprint: string | null
  readonly credentialsUpdatedAt: number | null
  /** Sealed. */
  readonly webhookSecret: Uint8Array | null
  readonly webhookSecretUpdatedAt: number | null
  readonly webhookRegistration: WebhookRegistration
  readonly verifiedAt: number | null
  readonly activatedAt: number | null
  readonly drainingAt: number | null
  readonly retiredAt: number | null
  readonly health: HealthState
  readonly migration: ConnectionMigration | null
  readonly version: number
  readonly createdAt: number
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

/** The places of the sealed secrets of a connection. */
export const credentialsContext = (id: string): string => `provider_connection.credentials ${id}`
export const webhookSecretContext = (id: string): string => `provider_connection.webhook_secret ${id}`

const FINGERPRINT_DIGITS = 12

/** A text with the members of objects in the order of their names, so that equal values have equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

/**
 * Returns the fingerprint by which staff recognise credentials without seeing them: equal for equal credentials of one
 * connection. `key` is secret, and the id is the salt, so credentials can be neither guessed from it nor compared between
 * connections.
 */
export function fingerprintOf(key: Uint8Array, id: string, credentials: unknown): string {
  const hmac = createHmac('sha256', key).update(`${id} ${canonical(credentials)}`)
  return `fp_${hmac.digest('hex').slice(0, FINGERPRINT_DIGITS)}`
}

/** Returns the role: connections for some currencies are fallbacks, others are primaries. */
export const roleFor = (fallbackCurrencies: readonly string[]): ConnectionRole =>
  fallbackCurrencies.length === 0 ? 'primary' : 'fallback'

/** The moves of a connection by staff. */
export type ConnectionMove = 'activate' | 'drain' | 'retire' | 'delete'

const MOVES: Readonly<
  Record<ConnectionMove, { readonly from: readonly ConnectionStatus[]; readonly to: ConnectionStatus }>
> = {
  activate: { from: ['verified'], to: 'active' },
  drain: { from: ['active'], to: 'draining' },
  retire: { from: ['draft', 'verified', 'failed', 'draining'], to: 'retired' },
  delete: { from: ['draft', 'verified', 'failed'], to: 'retired' },
}

/** Moves a connection; a problem where its status does not allow it. */
export function moveConnection(
  status: ConnectionStatus,
  move: ConnectionMove,
): ConnectionStatus | { readonly refused: Problem } {
  const { from, to } = MOVES[move]
  return from.includes(status) ? to : { refused: transitionProblem(`The connection is ${status}.`, status, from) }
}

/** The status after a probe. One that works for customers goes on: the probe shows in its health. */
export function statusAfterProbe(status: ConnectionStatus, ok: boolean): ConnectionStatus {
  if (status === 'active' || status === 'draining' || status === 'retired') return status
  return ok ? 'verified' : 'failed'
}

/** The status after new credentials or another configuration: they have to be tried. */
export const statusAfterChange = (status: ConnectionStatus): ConnectionStatus =>
  status === 'verified' || status === 'failed' ? 'draft' : status

/**
 * The ties of a connection, which keep it from being retired or deleted, in words for staff. `deleted`: the tie counts
 * only for a connection that was never active.
 */
const TIES = {
  inFlight: { text: (count) => `${count} orders or returns are in flight` },
  waitingCredits: { text: (count) => `${count} credits wait for an owner or a review` },
  exchanges: { text: (count) => `${count} exchanges or contracts are open` },
  debits: { text: (count) => `${count} direct debits or collections are not over` },
  mandates: { text: (count) => `${count} mandates are bound to it: end them, or have them made at another connection` },
  holds: { text: (count) => `${count} transfers or credits are held for a review or a recall` },
  balances: { text: (count) => `${count} balances have not moved` },
  files: { text: (count) => `${count} files of orders are not sent` },
  events: { text: (count) => `${count} events wait in the inbox or have failed` },
  rules: { text: (count) => `${count} routing rules name it`, deleted: true },
  webhooks: { text: () => 'webhooks still come: end them with the partner, and set another secret', deleted: true },
} as const satisfies Readonly<Record<string, { readonly text: (count: number) => string; readonly deleted?: true }>>

/** An account of a connection that is not zero, in minor units by its normal side. */
export interface OpenAccount {
  readonly key: AccountKey
  readonly currency: string
  readonly amount: bigint
}

/** The ties that a connection has: counts by tie, and its accounts of the ledger that are not zero. */
export interface ConnectionTies extends Readonly<Record<keyof typeof TIES, number>> {
  readonly accounts: readonly OpenAccount[]
}

/** The account of the money at the bank. When nothing else is left, it is the operator's own: fees, less charges. */
const AT_BANK: AccountKey = 'nostro'

/**
 * The money at a connection that is the operator's own, as nothing of customers is left there; none before.
 *
 * @returns the accounts of money at the bank that are not zero
 */
export function ownMoneyLeft({
  accounts,
  balances,
  waitingCredits,
  exchanges,
}: ConnectionTies): readonly OpenAccount[] {
  const isEmpty = balances + waitingCredits + exchanges === 0 && accounts.every(({ key }) => key === AT_BANK)
  return isEmpty ? accounts : []
}

/**
 * Checks whether a connection may retire (`draining`), or be given up though it was never active; null when it may.
 *
 * @returns a problem with the reasons, each with its count, or with the amount of an account
 */
export function retirementProblem(status: ConnectionStatus, ties: ConnectionTies): Problem | null {
  const isLeft = status === 'draining'
  const reasons = [
    ...Object.entries(TIES).flatMap(([tie, { text, ...rest }]) => {
      const count = ties[tie as keyof typeof TIES]
      return count === 0 || (isLeft && 'deleted' in rest) ? [] : [{ tie, count, message: text(count) }]
    }),
    ...ties.accounts.map(({ key, currency, amount }) => ({
      tie: 'ledger',
      account: key,
      balance: moneyJson({ amountMinor: amount, currency: currency as CurrencyCode }),
      message:
        isLeft && key === AT_BANK
          ? `money in ${currency} is left at the bank, which a migration moves when all else is gone`
          : `the account ${key} in ${currency} is not zero`,
    })),
  ]
  if (reasons.length === 0) return null
  const what = reasons.map(({ message }) => message).join(', ')
  const { inFlight, balances } = ties
  return transitionProblem(`The connection cannot ${isLeft ? 'retire' : 'be deleted'}: ${what}.`, status, [], {
    inFlight,
    balances,
    reasons,
  })
}

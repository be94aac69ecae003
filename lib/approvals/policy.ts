/**
 * Approval policies: which payments, recipients and changes need approval, how many approvals, and from which people.
 *
 * A customer has one policy for each kind, with tiers by amount. An approval keeps the tier that its subject had when
 * the approval opened; later changes of the policy do not affect it.
 */
import type { MemberRole } from '../identity/capabilities.ts'
import type { Rail } from '../rails/rails.ts'

export const POLICY_KINDS = ['payment', 'bulk_payment', 'exchange', 'recipient', 'policy_change'] as const
export type PolicyKind = (typeof POLICY_KINDS)[number]

export const RECIPIENT_MODES = ['none', 'customer_tier', 'operator_queue', 'customer_then_operator'] as const
export type RecipientMode = (typeof RECIPIENT_MODES)[number]

/** The roles that may decide on approvals. */
export const APPROVER_ROLES = ['owner', 'admin', 'approver'] as const satisfies readonly MemberRole[]

/**
 * A tier; amounts in minor units of the policy's currency. If all three approver lists are empty, every person with an
 * approver role may decide.
 */
export interface Tier {
  readonly tier: number
  /** Inclusive. */
  readonly minAmount: bigint
  /** Exclusive; null for no limit. */
  readonly maxAmount: bigint | null
  readonly requiredApprovals: number
  readonly approverRoles: readonly MemberRole[]
  readonly approverUserIds: readonly string[]
  readonly approverTeamIds: readonly string[]
  readonly allowSelfApproval: boolean
  /** True when no two approvals may come from people of the same team. */
  readonly distinctTeams: boolean
  readonly expiresAfterHours: number
}

/** The scope that a policy is limited to; a null member matches everything. All members that are given must match. */
export interface AppliesTo {
  readonly balanceIds: string[] | null
  readonly rails: Rail[] | null
  readonly recipientIds: string[] | null
}

/** The terms that a customer sets for a policy. */
export interface PolicyTerms {
  readonly enabled: boolean
  /** ISO 4217; the currency of the tiers' amounts. */
  readonly currency: string
  readonly tiers: readonly Tier[]
  readonly appliesTo: AppliesTo | null
  readonly exemptOwnAccounts: boolean
  readonly recipientMode: RecipientMode
}

export const TIERS_MAX = 5
export const APPROVALS_MAX = 5
export const EXPIRES_HOURS_MAX = 720
/** Default lifetime of a pending approval: 168 hours, one week. */
export const EXPIRES_HOURS = 168

/** The built-in tier of one approval, used where a subject needs approval and no policy tier covers it. */
export const DEFAULT_TIER: Tier = {
  tier: 1,
  minAmount: 0n,
  maxAmount: null,
  requiredApprovals: 1,
  approverRoles: APPROVER_ROLES,
  approverUserIds: [],
  approverTeamIds: [],
  allowSelfApproval: false,
  distinctTeams: false,
  expiresAfterHours: EXPIRES_HOURS,
}

/** The terms of a policy that was never set. */
export const NO_POLICY: PolicyTerms = {
  enabled: false,
  currency: 'EUR',
  tiers: [],
  appliesTo: null,
  exemptOwnAccounts: true,
  recipientMode: 'none',
}

/** The properties of a subject that are compared with a policy. */
export interface PolicySubject {
  /** Minor units of `currency`; null for a subject without an amount. */
  readonly amount: bigint | null
  readonly currency: string | null
  readonly balanceId?: string
  readonly rail?: Rail
  readonly recipientId?: string
  /** Whether the money goes to an account that the customer owns. */
  readonly toOwnAccount?: boolean
}

/** Converts an amount to another currency, exact minor units; null when there is no rate. */
export type Convert = (amount: bigint, from: string, to: string) => bigint | null

/** The converter without rates: it converts only between equal currencies. */
export const NO_RATES: Convert = (amount, from, to) => (from === to ? amount : null)

/**
 * The tier of a subject. `converted` is false where the amount could not be converted; the highest tier, the strictest
 * choice, applies then.
 */
export interface TierMatch {
  readonly tier: Tier
  readonly converted: boolean
}

/** Finds the tier of a policy that covers the subject; null when the subject needs no approval. */
export function tierFor(
  policy: PolicyTerms | null,
  measured: PolicySubject,
  convert: Convert = NO_RATES,
): TierMatch | null {
  if (policy === null || !policy.enabled || policy.tiers.length === 0 || !applies(policy.appliesTo, measured))
    return null
  if (policy.exemptOwnAccounts && measured.toOwnAccount === true) return null
  if (measured.amount === null || measured.currency === null) return { tier: policy.tiers[0] as Tier, converted: true }
  const amount = convert(measured.amount, measured.currency, policy.currency)
  if (amount === null) return { tier: policy.tiers.at(-1) as Tier, converted: false }
  const tier = policy.tiers.find(
    ({ minAmount, maxAmount }) => amount >= minAmount && (maxAmount === null || amount < maxAmount),
  )
  return tier === undefined ? null : { tier, converted: true }
}

function applies(appliesTo: AppliesTo | null, { balanceId, rail, recipientId }: PolicySubject): boolean {
  if (appliesTo === null) return true
  const within = (list: readonly string[] | null, value: string | undefined) =>
    list === null || (value !== undefined && list.includes(value))
  return (
    within(appliesTo.balanceIds, balanceId) &&
    within(appliesTo.rails, rail) &&
    within(appliesTo.recipientIds, recipientId)
  )
}

/** Finds the first fault in the tiers of a policy, as a JSON Pointer, a code and a message; null when there is none. */
export function tiersFault(
  { enabled, tiers, currency }: Pick<PolicyTerms, 'enabled' | 'tiers' | 'currency'>,
  currencies: readonly string[],
): {
  readonly field: string
  readonly message: string
  readonly code: 'required' | 'invalid_value' | 'currency_mismatch'
} | null {
  const foreign = currencies.findIndex((one) => one !== currency)
  if (foreign >= 0)
    return {
      field: '/tiers',
      code: 'currency_mismatch',
      message: `Amounts of tiers are in ${currency}, the currency of the policy.`,
    }
  if (enabled && tiers.length === 0)
    return { field: '/tiers', code: 'required', message: 'An enabled policy has at least one tier.' }
  for (const [
    index,
    { tier, minAmount, maxAmount, requiredApprovals, distinctTeams, approverUserIds, approverRoles, approverTeamIds },
  ] of tiers.entries()) {
    const field = `/tiers/${index}`
    const before = tiers[index - 1]
    if (tier !== index + 1)
      return { field: `${field}/tier`, code: 'invalid_value', message: 'Tiers are numbered from 1.' }
    if (maxAmount !== null && maxAmount <= minAmount)
      return {
        field: `${field}/maxAmount`,
        code: 'invalid_value',
        message: 'The end of a tier must be above its start.',
      }
    if (before !== undefined && (before.maxAmount === null || minAmount < before.maxAmount)) {
      return {
        field: `${field}/minAmount`,
        code: 'invalid_value',
        message: 'A tier must start at the end of the tier before it.',
      }
    }
    const onlyUsers = approverRoles.length === 0 && approverTeamIds.length === 0 && approverUserIds.length > 0
    if (onlyUsers && new Set(approverUserIds).size < requiredApprovals) {
      return {
        field: `${field}/approverUserIds`,
        code: 'invalid_value',
        message: 'The tier names fewer people than it requires approvals.',
      }
    }
    if (
      distinctTeams &&
      approverTeamIds.length > 0 &&
      onlyTeams({ approverRoles, approverUserIds }) &&
      new Set(approverTeamIds).size < requiredApprovals
    ) {
      return {
        field: `${field}/approverTeamIds`,
        code: 'invalid_value',
        message: 'The tier names fewer teams than it requires approvals.',
      }
    }
  }
  return null
}

const onlyTeams = ({ approverRoles, approverUserIds }: Pick<Tier, 'approverRoles' | 'approverUserIds'>): boolean =>
  approverRoles.length === 0 && approverUserIds.length === 0

// ── Stored form and API form
// ──────────────────────────────────────────────────────────────────────────────────────────

/** A tier as JSON, with amounts as money; the API and the stored snapshots share this form. */
export interface TierJson
  extends Omit<Tier, 'minAmount' | 'maxAmount' | 'approverRoles' | 'approverUserIds' | 'approverTeamIds'> {
  readonly approverRoles: MemberRole[]
  readonly approverUserIds: string[]
  readonly approverTeamIds: string[]
  readonly minAmount: { readonly amountMinor: string; readonly currency: string }
  readonly maxAmount: { readonly amountMinor: string; readonly currency: string } | null
}

/** Converts a tier to JSON. `currency` is that of the policy. */
export function tierJson(
  { tier, minAmount, maxAmount, approverRoles, approverUserIds, approverTeamIds, ...rest }: Tier,
  currency: string,
): TierJson {
  return {
    tier,
    minAmount: { amountMinor: minAmount.toString(), currency },
    maxAmount: maxAmount === null ? null : { amountMinor: maxAmount.toString(), currency },
    approverRoles: [...approverRoles],
    approverUserIds: [...approverUserIds],
    approverTeamIds: [...approverTeamIds],
    ...rest,
  }
}

/** Converts JSON back to a tier. */
export function tierOf({ minAmount, maxAmount, ...tier }: TierJson): Tier {
  return {
    ...tier,
    minAmount: BigInt(minAmount.amountMinor),
    maxAmount: maxAmount === null ? null : BigInt(maxAmount.amountMinor),
  }
}

/** The terms of a policy as JSON, as a row stores them. */
export interface TermsJson extends Omit<PolicyTerms, 'tiers'> {
  readonly tiers: readonly TierJson[]
}

/** Converts the terms of a policy to JSON. */
export const termsJson = (terms: PolicyTerms): TermsJson => ({
  ...terms,
  tiers: terms.tiers.map((tier) => tierJson(tier, terms.currency)),
})
/** Converts JSON back to the terms of a policy. */
export const termsOf = (json: TermsJson): PolicyTerms => ({ ...json, tiers: json.tiers.map(tierOf) })

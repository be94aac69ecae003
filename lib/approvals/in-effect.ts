/**
 * The approval rules in effect for each kind of subject, computed from the stored policies and the operator's mode.
 * Pure.
 *
 * Every reader of a policy and the comparison of a change use these functions, so that a change is compared with
 * exactly the rules that decide on payments, exchanges, files, recipients and policy changes:
 *
 *   kind           row is set                      row was never set
 *   payment        its tiers while it is enabled   no approval is needed
 *   exchange       the same                        the payment policy applies
 *   bulk_payment   the same                        the payment policy applies
 *   recipient      its mode; its tiers while       the mode of the operator; the default tier
 *                  enabled, else the default tier
 *   policy_change  its tiers while it is enabled,  the default tier
 *                  else the default tier
 *
 * Changes that one person can make and that could loosen the rules, and the safeguard against each:
 *  * A change of any policy row, also of one that applies in place of another: `loosens` compares all kinds. A
 *    loosening change waits for an approval that its requester cannot give (actors/approvals/change-policy.ts).
 *    Policies cannot be deleted.
 *  * A change of roles, teams or members: it cannot make one person two. A member cannot change their own membership
 *    or add themselves to a team, and each such change needs a step-up (actors/identity/members.ts). At the time of
 *    the last approval, a person is still needed who did not shape the terms (lib/approvals/requesters.ts).
 *  * Deleting a team that a policy names: the policy then names a team without members, so fewer people may approve.
 *  * An invitation: the new member proves a mailbox of an approved domain and has a password and a second factor. The
 *    service counts two such members as two people; it cannot detect that both are one person.
 *  * The operator's mode for recipients: the operator's staff set it, and staff cannot make payments for a customer.
 *    The policy for payments, which decides on money, does not depend on it.
 */
import {
  APPROVER_ROLES,
  DEFAULT_TIER,
  termsOf,
  tierFor,
  type AppliesTo,
  type Convert,
  type PolicySubject,
  type PolicyKind,
  type PolicyTerms,
  type RecipientMode,
  type TermsJson,
  type Tier,
  type TierMatch,
} from './policy.ts'

/** The stored policies of a customer; a kind that was never set is absent. */
export type StoredPolicies = { readonly [kind in PolicyKind]?: PolicyTerms }

/** Builds the same from the terms that rows store. */
export function storedPolicies(rows: { readonly [kind in PolicyKind]?: TermsJson }): StoredPolicies {
  return Object.fromEntries(Object.entries(rows).map(([kind, terms]) => [kind, termsOf(terms)]))
}

/** The kind whose policy applies while a kind has never been set. */
const STANDS_IN: Readonly<Partial<Record<PolicyKind, PolicyKind>>> = { exchange: 'payment', bulk_payment: 'payment' }

/** The tier of a subject that no tier of a policy covers; null: such a subject needs no approval. */
const OTHERWISE: Readonly<Record<PolicyKind, Tier | null>> = {
  payment: null,
  bulk_payment: null,
  exchange: null,
  recipient: DEFAULT_TIER,
  policy_change: DEFAULT_TIER,
}

/** The rule in effect for one kind. */
export interface RuleInEffect {
  /** The kind of the stored policy that the terms come from; null where no policy is in effect. */
  readonly from: PolicyKind | null
  /** Enabled terms with at least one tier; null where no policy is in effect. */
  readonly terms: PolicyTerms | null
  /** The tier of a subject that the terms do not cover; null: it needs no approval. */
  readonly otherwise: Tier | null
}

/** All rules in effect for one customer. */
export interface RulesInEffect {
  readonly rules: { readonly [kind in PolicyKind]: RuleInEffect }
  readonly recipientMode: RecipientMode
}

/** Computes the rule in effect for one kind. */
export function ruleInEffect(kind: PolicyKind, stored: StoredPolicies): RuleInEffect {
  const standsIn = STANDS_IN[kind]
  const from = stored[kind] !== undefined ? kind : standsIn
  const terms = from === undefined ? undefined : stored[from]
  const decides = from !== undefined && terms?.enabled === true && terms.tiers.length > 0
  return { from: decides ? from : null, terms: decides ? terms : null, otherwise: OTHERWISE[kind] }
}

/** Returns the recipient mode in effect: the customer's own policy takes precedence over the operator's setting. */
export function recipientModeInEffect({ recipient }: StoredPolicies, operatorMode: RecipientMode): RecipientMode {
  return recipient?.recipientMode ?? operatorMode
}

/** Computes all rules in effect for a customer, given its operator's mode for recipients. */
export function rulesInEffect(stored: StoredPolicies, operatorMode: RecipientMode): RulesInEffect {
  return {
    rules: {
      payment: ruleInEffect('payment', stored),
      bulk_payment: ruleInEffect('bulk_payment', stored),
      exchange: ruleInEffect('exchange', stored),
      recipient: ruleInEffect('recipient', stored),
      policy_change: ruleInEffect('policy_change', stored),
    },
    recipientMode: recipientModeInEffect(stored, operatorMode),
  }
}

/** Finds the tier of a subject, and whether it comes from a policy; null when the subject needs no approval. */
export function tierInEffect(
  rule: RuleInEffect,
  measured: PolicySubject,
  convert?: Convert,
): (TierMatch & { readonly fromPolicy: boolean }) | null {
  const match = tierFor(rule.terms, measured, convert)
  if (match !== null) return { ...match, fromPolicy: true }
  return rule.otherwise === null ? null : { tier: rule.otherwise, converted: true, fromPolicy: false }
}

// ── Comparison
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Whether `after` lets a subject pass that `before` would have stopped, or lets it pass with fewer or other approvers,
 * or later. A doubtful change counts as loosening: two scopes or two currencies that cannot be compared, two modes of
 * which neither includes the other.
 */
export function loosens(before: RulesInEffect, after: RulesInEffect): boolean {
  return (
    loosensAmounts(before.rules.payment, after.rules.payment) ||
    loosensAmounts(before.rules.bulk_payment, after.rules.bulk_payment) ||
    loosensAmounts(before.rules.exchange, after.rules.exchange) ||
    loosensWithoutAmount(before.rules.policy_change, after.rules.policy_change) ||
    loosensWithoutAmount(before.rules.recipient, after.rules.recipient) ||
    loosensMode(before.recipientMode, after.recipientMode)
  )
}

/** Compares one kind whose subjects have amounts. */
function loosensAmounts({ terms: before }: RuleInEffect, { terms: after }: RuleInEffect): boolean {
  if (before === null) return false
  if (after === null || after.currency !== before.currency) return true
  if (narrows(before.appliesTo, after.appliesTo) || (after.exemptOwnAccounts && !before.exemptOwnAccounts)) return true
  // An amount that cannot be converted takes the highest tier.
  if (isLooser(before.tiers.at(-1), after.tiers.at(-1))) return true
  // Tiers change only at their thresholds, so comparing at all thresholds compares all amounts.
  const thresholds = new Set(
    [...before.tiers, ...after.tiers].flatMap(({ minAmount, maxAmount }) =>
      maxAmount === null ? [minAmount] : [minAmount, maxAmount],
    ),
  )
  for (const amount of thresholds) if (isLooser(tierAt(before.tiers, amount), tierAt(after.tiers, amount))) return true
  return false
}

/**
 * Compares one kind whose subjects have no amount: each subject takes the first tier of a policy that applies to it.
 */
function loosensWithoutAmount(before: RuleInEffect, after: RuleInEffect): boolean {
  const named = [...(before.terms?.appliesTo?.recipientIds ?? []), ...(after.terms?.appliesTo?.recipientIds ?? [])]
  // Every recipient that either policy names, and one that neither names.
  return [undefined, ...named].some((recipientId) => {
    const measured: PolicySubject = {
      amount: null,
      currency: null,
      ...(recipientId === undefined ? {} : { recipientId }),
    }
    return isLooser(tierInEffect(before, measured)?.tier, tierInEffect(after, measured)?.tier)
  })
}

/**
 * Whether the new mode omits a review that the old mode required. `operator_queue` is no loosening compared with
 * `none`: it takes recipients made by keys from the customer's people, but gives all recipients to other people, the
 * operator's staff.
 */
function loosensMode(before: RecipientMode, after: RecipientMode): boolean {
  return before !== 'none' && after !== before && after !== 'customer_then_operator'
}

const tierAt = (tiers: readonly Tier[], amount: bigint): Tier | undefined =>
  tiers.find(({ minAmount, maxAmount }) => amount >= minAmount && (maxAmount === null || amount < maxAmount))

/** Whether the new scope omits something that the old scope covered. */
function narrows(before: AppliesTo | null, after: AppliesTo | null): boolean {
  if (after === null) return false
  const lost = (was: readonly string[] | null, is: readonly string[] | null) =>
    is !== null && (was === null || was.some((value) => !is.includes(value)))
  const all = before ?? { balanceIds: null, rails: null, recipientIds: null }
  return (
    lost(all.balanceIds, after.balanceIds) || lost(all.rails, after.rails) || lost(all.recipientIds, after.recipientIds)
  )
}

/** Whether a tier asks for less than the earlier tier. */
function isLooser(was: Tier | undefined, is: Tier | undefined): boolean {
  if (was === undefined) return false
  if (is === undefined || is.requiredApprovals < was.requiredApprovals || is.expiresAfterHours > was.expiresAfterHours)
    return true
  if ((is.allowSelfApproval && !was.allowSelfApproval) || (was.distinctTeams && !is.distinctTeams)) return true
  return admitsMore(was, is)
}

/**
 * Whether a tier lets a person approve who could not approve before. A person without an approver role never decides.
 */
function admitsMore(was: Tier, is: Tier): boolean {
  if (isOpen(was)) return false
  if (isOpen(is)) return true
  const more = (before: readonly string[], after: readonly string[]) => after.some((value) => !before.includes(value))
  return (
    more(was.approverRoles, deciding(is)) ||
    more(was.approverUserIds, is.approverUserIds) ||
    more(was.approverTeamIds, is.approverTeamIds)
  )
}

const deciding = ({ approverRoles }: Tier) => APPROVER_ROLES.filter((role) => approverRoles.includes(role))

/** Whether a tier admits every person who has an approver role. */
function isOpen(tier: Tier): boolean {
  const { approverRoles, approverUserIds, approverTeamIds } = tier
  return (
    approverRoles.length + approverUserIds.length + approverTeamIds.length === 0 ||
    deciding(tier).length === APPROVER_ROLES.length
  )
}

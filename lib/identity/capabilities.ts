/**
 * Who may do what: the roles of people, the capabilities each role has, and which scope of an API key each capability
 * stands for. Data, so that it can be read as the table it is.
 */
import { CUSTOMER_SCOPES, OPERATOR_SCOPES } from './api-key.ts'

/** What an API key can be allowed to do. */
export type Scope = (typeof CUSTOMER_SCOPES)[number] | (typeof OPERATOR_SCOPES)[number]

export const MEMBER_ROLES = ['owner', 'admin', 'approver', 'preparer', 'accountant', 'viewer', 'cardholder'] as const
export const STAFF_ROLES = ['operator_admin', 'compliance', 'operations', 'treasury', 'support', 'integration'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]
export type StaffRole = (typeof STAFF_ROLES)[number]
export type Role = MemberRole | StaffRole

/** What a member of a customer can be allowed to do, besides reading. */
export const MEMBER_CAPABILITIES = [
  'payments.create', 'recipients.manage', 'exchanges.create', 'approvals.decide', 'transactions.annotate', 'balances.manage',
  'settings.manage', 'members.manage', 'webhooks.manage', 'onboarding.write', 'api_keys.manage', 'settings.read', 'members.read',
  'audit.read', 'owner', 'cards.manage',
] as const

/** What staff of an operator can be allowed to do, besides reading. */
export const STAFF_CAPABILITIES = [
  'operator.manage', 'pricing.manage', 'providers.manage', 'providers.read', 'compliance.manage', 'onboarding.review',
  'customers.manage', 'operations.manage', 'treasury.read', 'treasury.manage', 'reports.read', 'support.impersonate',
  'integration.manage', 'developer.manage', 'audit.read',
] as const

const CUSTOMER_READS = [
  'balances:read', 'transactions:read', 'statements:read', 'recipients:read', 'payments:read', 'exchanges:read',
] as const
const STAFF_READS = [...CUSTOMER_READS, 'customers:read', 'onboarding:read', 'integration:read', 'treasury:read', 'reports:read'] as const

/** Reading is allowed by the scope's own name. */
export type Capability = (typeof MEMBER_CAPABILITIES)[number] | (typeof STAFF_CAPABILITIES)[number] | (typeof STAFF_READS)[number]

/** What a role amounts to. */
export interface Grant {
  readonly capabilities: ReadonlySet<Capability>
  /** The operations of API keys that the role may call as well. */
  readonly scopes: ReadonlySet<Scope>
}

const ADMINISTRATION = [
  'payments.create', 'recipients.manage', 'exchanges.create', 'approvals.decide', 'transactions.annotate', 'balances.manage',
  'settings.manage', 'members.manage', 'webhooks.manage', 'onboarding.write', 'api_keys.manage', 'settings.read', 'members.read',
  'audit.read', 'cards.manage',
] as const

const CAPABILITIES: Readonly<Record<Role, readonly Capability[]>> = {
  owner: [...CUSTOMER_READS, ...ADMINISTRATION, 'owner'],
  admin: [...CUSTOMER_READS, ...ADMINISTRATION],
  approver: [...CUSTOMER_READS, 'approvals.decide', 'transactions.annotate', 'settings.read', 'members.read'],
  preparer: [
    ...CUSTOMER_READS, 'payments.create', 'recipients.manage', 'exchanges.create', 'transactions.annotate', 'settings.read', 'members.read',
  ],
  accountant: [...CUSTOMER_READS, 'transactions.annotate', 'settings.read', 'members.read', 'audit.read'],
  viewer: CUSTOMER_READS.filter((scope) => scope !== 'statements:read'),
  // Their own card is theirs without a capability.
  cardholder: [],
  operator_admin: [...STAFF_READS, ...STAFF_CAPABILITIES],
  compliance: [...STAFF_READS, 'compliance.manage', 'onboarding.review', 'customers.manage'],
  operations: [...STAFF_READS, 'operations.manage', 'providers.read'],
  treasury: [...STAFF_READS, 'treasury.read', 'treasury.manage', 'reports.read'],
  support: [...STAFF_READS, 'support.impersonate'],
  integration: [...STAFF_READS, 'integration.manage', 'providers.manage', 'developer.manage'],
}

/** The capabilities that let a session call what a key may call with a scope that writes. */
const SCOPE_OF: Readonly<Partial<Record<Capability, Scope>>> = {
  'payments.create': 'payments:write',
  'recipients.manage': 'recipients:write',
  'exchanges.create': 'exchanges:write',
  'webhooks.manage': 'webhooks:manage',
  'integration.manage': 'webhooks:manage',
  'customers.manage': 'customers:write',
}

const SCOPES: ReadonlySet<string> = new Set<Scope>([...CUSTOMER_SCOPES, ...OPERATOR_SCOPES])

function grantOf(capabilities: readonly Capability[]): Grant {
  const scopes = capabilities.flatMap((capability): Scope[] => {
    if (SCOPES.has(capability)) return [capability as Scope]
    const scope = SCOPE_OF[capability]
    return scope === undefined ? [] : [scope]
  })
  return { capabilities: new Set(capabilities), scopes: new Set(scopes) }
}

const GRANTS = new Map(Object.entries(CAPABILITIES).map(([role, capabilities]) => [role, grantOf(capabilities)] as const))
const NOTHING: Grant = { capabilities: new Set(), scopes: new Set() }

/** What a role may do. A role that this version does not know may do nothing. */
export function grantOfRole(role: string): Grant {
  return GRANTS.get(role) ?? NOTHING
}

/** The capability a session needs where a key needs the scope, for telling the caller what is missing. */
export function capabilityForScope(scope: Scope, level: 'customer' | 'operator'): Capability {
  if (scope === 'webhooks:manage') return level === 'operator' ? 'integration.manage' : 'webhooks.manage'
  const found = Object.entries(SCOPE_OF).find(([, written]) => written === scope)
  return (found?.[0] ?? scope) as Capability
}

/**
 * Permissions: the roles of people, the capabilities of each role, and the API key scope that each capability stands
 * for. Kept as data, so that it can be read as a table.
 */
import { CUSTOMER_SCOPES, OPERATOR_SCOPES } from './api-key.ts'

/** A permission of an API key. */
export type Scope = (typeof CUSTOMER_SCOPES)[number] | (typeof OPERATOR_SCOPES)[number]

export const MEMBER_ROLES = ['owner', 'admin', 'approver', 'preparer', 'accountant', 'viewer', 'cardholder'] as const
export const STAFF_ROLES = ['operator_admin', 'compliance', 'operations', 'treasury', 'support', 'integration'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]
export type StaffRole = (typeof STAFF_ROLES)[number]
export type Role = MemberRole | StaffRole
/** The role of staff in a session that impersonates a customer: reading alone, and nothing that is a secret. */
export const IMPERSONATOR = 'impersonator'
/** A role in which a person acts. */
export type ActingRole = Role | typeof IMPERSONATOR

/** Capabilities of a customer's members, besides reading. */
export const MEMBER_CAPABILITIES = [
  'payments.create',
  'recipients.manage',
  'exchanges.create',
  'approvals.decide',
  'transactions.annotate',
  'balances.manage',
  'settings.manage',
  'members.manage',
  'webhooks.manage',
  'onboarding.write',
  'api_keys.manage',
  'settings.read',
  'members.read',
  'audit.read',
  'owner',
  'cards.manage',
  'cards.own',
] as const

/** Capabilities of an operator's staff, besides reading. */
export const STAFF_CAPABILITIES = [
  'operator.manage',
  'pricing.manage',
  'providers.manage',
  'providers.read',
  'compliance.manage',
  'onboarding.review',
  'customers.manage',
  'operations.manage',
  'treasury.read',
  'treasury.manage',
  'reports.read',
  'support.impersonate',
  'integration.manage',
  'developer.manage',
  'audit.read',
] as const

const CUSTOMER_READS = [
  'balances:read',
  'transactions:read',
  'statements:read',
  'recipients:read',
  'payments:read',
  'exchanges:read',
] as const
const STAFF_READS = [
  ...CUSTOMER_READS,
  'customers:read',
  'onboarding:read',
  'integration:read',
  'treasury:read',
  'reports:read',
] as const

/** A capability; the capability to read has the name of its scope. */
export type Capability =
  | (typeof MEMBER_CAPABILITIES)[number]
  | (typeof STAFF_CAPABILITIES)[number]
  | (typeof STAFF_READS)[number]

/** The permissions of a role. */
export interface Grant {
  readonly capabilities: ReadonlySet<Capability>
  /** The scopes whose operations the role may call, too. */
  readonly scopes: ReadonlySet<Scope>
}

const ADMINISTRATION = [
  'payments.create',
  'recipients.manage',
  'exchanges.create',
  'approvals.decide',
  'transactions.annotate',
  'balances.manage',
  'settings.manage',
  'members.manage',
  'webhooks.manage',
  'onboarding.write',
  'api_keys.manage',
  'settings.read',
  'members.read',
  'audit.read',
  'cards.manage',
] as const

const CAPABILITIES: Readonly<Record<ActingRole, readonly Capability[]>> = {
  owner: [...CUSTOMER_READS, ...ADMINISTRATION, 'owner'],
  admin: [...CUSTOMER_READS, ...ADMINISTRATION],
  approver: [...CUSTOMER_READS, 'approvals.decide', 'transactions.annotate', 'settings.read', 'members.read'],
  preparer: [
    ...CUSTOMER_READS,
    'payments.create',
    'recipients.manage',
    'exchanges.create',
    'transactions.annotate',
    'settings.read',
    'members.read',
  ],
  accountant: [...CUSTOMER_READS, 'transactions.annotate', 'settings.read', 'members.read', 'audit.read'],
  viewer: CUSTOMER_READS.filter((scope) => scope !== 'statements:read'),
  // Of the cards that they hold themselves.
  cardholder: ['cards.own'],
  operator_admin: [...STAFF_READS, ...STAFF_CAPABILITIES],
  compliance: [...STAFF_READS, 'compliance.manage', 'onboarding.review', 'customers.manage'],
  operations: [...STAFF_READS, 'operations.manage', 'providers.read'],
  treasury: [...STAFF_READS, 'treasury.read', 'treasury.manage', 'reports.read'],
  support: [...STAFF_READS, 'support.impersonate'],
  integration: [...STAFF_READS, 'integration.manage', 'providers.manage', 'developer.manage'],
  impersonator: [...CUSTOMER_READS, 'customers:read', 'settings.read', 'members.read'],
}

/** The capabilities that let a session call operations for which a key needs a scope that writes. */
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

const GRANTS = new Map(
  Object.entries(CAPABILITIES).map(([role, capabilities]) => [role, grantOf(capabilities)] as const),
)
const NOTHING: Grant = { capabilities: new Set(), scopes: new Set() }

/** Returns the permissions of a role. A role that this version does not know has none. */
export function grantOfRole(role: string): Grant {
  return GRANTS.get(role) ?? NOTHING
}

/** Returns the roles that have a capability. */
export function rolesWith(capability: Capability): readonly Role[] {
  return [...MEMBER_ROLES, ...STAFF_ROLES].filter((role) => grantOfRole(role).capabilities.has(capability))
}

/** Returns the capability that a session needs where a key needs the scope, for the text of a refusal. */
export function capabilityForScope(scope: Scope, level: 'customer' | 'operator'): Capability {
  if (scope === 'webhooks:manage') return level === 'operator' ? 'integration.manage' : 'webhooks.manage'
  const found = Object.entries(SCOPE_OF).find(([, written]) => written === scope)
  return (found?.[0] ?? scope) as Capability
}

/** The roles of the contract and what each may do. */
import { table, words } from './table.ts'

/** The scopes of keys of customers, and those of operators' keys beside `balances:read` and the like. */
export const CONTRACT_SCOPES = {
  customer: words(
    'balances:read transactions:read statements:read recipients:read recipients:write payments:read payments:write ' +
      'exchanges:read exchanges:write webhooks:manage',
  ),
  operatorOnly: words('customers:read customers:write onboarding:read integration:read treasury:read reports:read'),
} as const

/** The scopes that a role with the right to read has; a staff role also has those of operators' keys. */
export const READ_SCOPES = words(
  'balances:read transactions:read statements:read recipients:read payments:read exchanges:read',
)

/** The capabilities of the members of a customer: `y` has it, `n` has it not. */
const MEMBERS = table(
  ['capability', 'owner', 'admin', 'approver', 'preparer', 'accountant', 'viewer', 'cardholder'],
  `
  balances:read | y | y | y | y | y | y | n
  transactions:read | y | y | y | y | y | y | n
  statements:read | y | y | y | y | y | n | n
  recipients:read | y | y | y | y | y | y | n
  payments:read | y | y | y | y | y | y | n
  exchanges:read | y | y | y | y | y | y | n
  payments.create | y | y | n | y | n | n | n
  recipients.manage | y | y | n | y | n | n | n
  exchanges.create | y | y | n | y | n | n | n
  approvals.decide | y | y | y | n | n | n | n
  transactions.annotate | y | y | y | y | y | n | n
  balances.manage | y | y | n | n | n | n | n
  settings.manage | y | y | n | n | n | n | n
  members.manage | y | y | n | n | n | n | n
  webhooks.manage | y | y | n | n | n | n | n
  onboarding.write | y | y | n | n | n | n | n
  api_keys.manage | y | y | n | n | n | n | n
  settings.read | y | y | y | y | y | n | n
  members.read | y | y | y | y | y | n | n
  audit.read | y | y | n | n | y | n | n
  owner | y | n | n | n | n | n | n
  cards.manage | y | y | n | n | n | n | n
  cards.own | n | n | n | n | n | n | y
`,
)

/** The capabilities of an operator's staff beside reading. An `operator_admin` has all of them. */
const STAFF = table(
  ['role', 'capabilities'],
  `
  operator_admin | compliance.manage onboarding.review customers.manage operations.manage providers.read treasury.read treasury.manage reports.read support.impersonate integration.manage providers.manage developer.manage operator.manage pricing.manage audit.read
  compliance | compliance.manage onboarding.review customers.manage
  operations | operations.manage providers.read
  treasury | treasury.read treasury.manage reports.read
  support | support.impersonate
  integration | integration.manage providers.manage developer.manage
`,
)

const MEMBER_ROLES = ['owner', 'admin', 'approver', 'preparer', 'accountant', 'viewer', 'cardholder'] as const

/** The capabilities of each role of members; the capability to read has the name of its scope. */
export const CONTRACT_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  MEMBER_ROLES.map((role) => [
    role,
    new Set(MEMBERS.filter((row) => row[role] === 'y').map(({ capability }) => capability)),
  ]),
)

/** The capabilities of each role of staff, reading included. */
export const CONTRACT_STAFF: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  STAFF.map(({ role, capabilities }) => [
    role,
    new Set([
      ...READ_SCOPES,
      ...CONTRACT_SCOPES.operatorOnly.filter((scope) => scope.endsWith(':read')),
      ...words(capabilities),
    ]),
  ]),
)

/** The capability that lets a person call an operation for which a key needs a scope that writes. */
export const CAPABILITY_OF_SCOPE: ReadonlyMap<string, { readonly customer: string; readonly operator: string }> =
  new Map([
    ['payments:write', { customer: 'payments.create', operator: 'payments.create' }],
    ['recipients:write', { customer: 'recipients.manage', operator: 'recipients.manage' }],
    ['exchanges:write', { customer: 'exchanges.create', operator: 'exchanges.create' }],
    ['webhooks:manage', { customer: 'webhooks.manage', operator: 'integration.manage' }],
    ['customers:write', { customer: 'customers.manage', operator: 'customers.manage' }],
  ])

/** Operations with which people open, change and close balances. */
import { resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { AccountDetails } from '../../lib/accounts/account-details-schema.ts'
import {
  AccountDetailsRequest,
  Balance,
  BalanceClose,
  BalanceOpen,
  BalanceUpdate,
} from '../../lib/balances/balance-schema.ts'
import type { ReadServices } from '../route/services.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

const shared = {
  tag: 'accounts',
  callers: 'session',
  scope: null,
  capability: 'balances.manage',
  tenant: 'customer',
  idempotency: 'optional',
} as const

const current = async (
  { tenant, params }: { readonly tenant: Tenant | null; readonly params: { readonly balanceId: string } },
  { balances }: ReadServices,
) => (tenant === null ? null : await balances.getBalance(tenant, params.balanceId))
const exists = async (tenant: Tenant, { balanceId }: { readonly balanceId: string }, { balances }: ReadServices) =>
  (await balances.getBalance(tenant, balanceId)) !== null

export const openBalance = route({
  ...shared,
  method: 'post',
  path: '/balances',
  operationId: 'openBalance',
  money: 'prepare',
  summary: 'Open a balance',
  description:
    'The customer must have enabled the currency. The first balance in a currency is its default. A balance ' +
    'can receive money from outside once it has account details.',
  body: BalanceOpen,
  success: { status: 201, description: 'The balance.', schema: Balance, etag: true, location: true },
  problems: ['limit-reached'],
  handle: ({ caller, command }, { balances }) => balances.open(caller, command),
})

export const updateBalance = route({
  ...shared,
  idempotency: 'none',
  method: 'patch',
  path: '/balances/{balanceId}',
  operationId: 'updateBalance',
  summary: 'Change a balance',
  description:
    'An ETag of the balance stays good for `If-Match` while money moves; it is outdated when a person has changed ' +
    'the balance since.',
  ifMatch: true,
  ifMatchesVersion: true,
  current,
  body: BalanceUpdate,
  success: { status: 200, description: 'The balance as it is now.', schema: Balance, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { balances }) =>
    resource(await balances.update(caller, params.balanceId, body, expectedVersion)),
})

export const closeBalance = route({
  ...shared,
  method: 'post',
  path: '/balances/{balanceId}/close',
  operationId: 'closeBalance',
  money: 'move',
  summary: 'Close a balance',
  description:
    'A balance can be closed when it is empty and has no holds and no orders under way. The request may move ' +
    'the remaining amount to another balance. The balance is `closing` until the bank has closed its ' +
    'accounts.',
  body: BalanceClose,
  bodyOptional: true,
  exists,
  success: { status: 200, description: 'The balance as it is now.', schema: Balance, etag: true },
  problems: ['invalid-transition'],
  handle: ({ caller, params, command }, { balances }) => balances.close(caller, params.balanceId, command),
})

export const requestAccountDetails = route({
  ...shared,
  method: 'post',
  path: '/balances/{balanceId}/details',
  operationId: 'requestAccountDetails',
  money: 'prepare',
  summary: 'Request account details for a balance',
  description:
    'The details are `pending`, without identifiers, until the bank has opened the account. They replace ' +
    'existing details of the same kind (`balance.details_changed`); payers may use the old details for ' +
    'another 90 days.',
  body: AccountDetailsRequest,
  exists,
  success: { status: 202, description: 'The requested details.', schema: AccountDetails, location: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, command }, { balances }) => {
    const answer = await balances.requestDetails(caller, params.balanceId, command)
    // A stored refusal has no location.
    return answer.status < 300 ? { ...answer, location: `/v1/balances/${params.balanceId}/details` } : answer
  },
})

/** Operations with which the operator's staff freeze balances and hold money on them. */
import { json, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Balance } from '../../lib/balances/balance-schema.ts'
import { FreezeReason, StaffHold, StaffHoldCreate } from '../../lib/balances/staff-hold-schema.ts'

const STAFF = {
  tag: 'accounts',
  callers: 'staff',
  capability: 'compliance.manage',
  scope: null,
  tenant: 'operator',
} as const

export const freezeBalance = route({
  ...STAFF,
  method: 'post',
  path: '/balances/{balanceId}/freeze',
  operationId: 'freezeBalance',
  summary: 'Freeze a balance',
  description:
    'A frozen balance takes credits and pays nothing: payments, transfers, exchanges and deposits from it are ' +
    'refused, approvals of them too, on every node from the moment of the answer. Payments that wait for the bank stay ' +
    'in the queue with their money held, and go on when the freeze ends; those that the bank has go on.',
  idempotency: 'none',
  body: FreezeReason,
  success: { status: 200, description: 'The balance as it is now.', schema: Balance },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body }, { balances }) =>
    json(200, await balances.freeze(caller, params.balanceId, 'freeze', body)),
})

export const unfreezeBalance = route({
  ...STAFF,
  method: 'post',
  path: '/balances/{balanceId}/unfreeze',
  operationId: 'unfreezeBalance',
  summary: 'End the freeze of a balance',
  idempotency: 'none',
  body: FreezeReason,
  success: { status: 200, description: 'The balance as it is now.', schema: Balance },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body }, { balances }) =>
    json(200, await balances.freeze(caller, params.balanceId, 'unfreeze', body)),
})

export const placeStaffHold = route({
  ...STAFF,
  method: 'post',
  path: '/balances/{balanceId}/holds',
  operationId: 'placeStaffHold',
  summary: 'Hold money on a balance',
  description:
    'For an order of an authority (`legal_order`) or another reason (`manual`). The available amount must cover it. ' +
    'The money stays on the balance and cannot be spent until staff release the hold, or until it ends by itself.',
  idempotency: 'optional',
  body: StaffHoldCreate,
  success: { status: 201, description: 'The hold.', schema: StaffHold, etag: true, location: true },
  problems: ['invalid-transition', 'insufficient-funds'],
  handle: ({ caller, params, command }, { balances }) => balances.hold(caller, command, params.balanceId),
})

export const getStaffHold = route({
  ...STAFF,
  method: 'get',
  path: '/staff-holds/{holdId}',
  operationId: 'getStaffHold',
  summary: 'Read a hold that staff have placed',
  idempotency: 'none',
  success: { status: 200, description: 'The hold with its reason.', schema: StaffHold, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { balances }) => resource(await balances.getStaffHold(tenant, params.holdId)),
})

export const releaseStaffHold = route({
  ...STAFF,
  method: 'post',
  path: '/staff-holds/{holdId}/release',
  operationId: 'releaseStaffHold',
  summary: 'Release a hold that staff have placed',
  idempotency: 'none',
  body: FreezeReason,
  success: { status: 200, description: 'The hold as it is now.', schema: StaffHold, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body }, { balances }) =>
    resource(await balances.releaseHold(caller, params.holdId, body)),
})

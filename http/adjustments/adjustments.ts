/** Entries that the operator's treasury makes by hand. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  Adjustment,
  AdjustmentApprove,
  AdjustmentCreate,
  adjustmentList,
  AdjustmentReject,
} from '../../lib/adjustments/adjustment-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const READ = {
  tag: 'accounts',
  callers: 'staff',
  capability: 'treasury.read',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

const STAFF = {
  tag: 'accounts',
  callers: 'staff',
  capability: 'treasury.manage',
  scope: null,
  tenant: 'operator',
} as const

export const listLedgerAdjustments = route({
  ...READ,
  method: 'get',
  path: '/ledger/adjustments',
  operationId: 'listLedgerAdjustments',
  summary: 'List adjustments',
  list: adjustmentList,
  success: {
    status: 200,
    description: 'A page of adjustments.',
    schema: PageOf('AdjustmentPage', Adjustment),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { adjustments }) => page(list, await adjustments.list(list)),
})

export const createLedgerAdjustment = route({
  ...STAFF,
  method: 'post',
  path: '/ledger/adjustments',
  operationId: 'createLedgerAdjustment',
  summary: 'Ask for an adjustment',
  description:
    'An entry made by hand. Nothing is booked until another person approves it. Credits in suspense are allocated or ' +
    'returned with `/incoming-suspense`.',
  idempotency: 'required',
  body: AdjustmentCreate,
  success: {
    status: 202,
    description: 'The adjustment, which waits for another person.',
    schema: Adjustment,
    etag: true,
    location: true,
  },
  problems: ['invalid-transition', 'insufficient-funds', 'document-not-clean'],
  handle: ({ caller, command }, { adjustments }) => adjustments.request(caller, command),
})

export const getLedgerAdjustment = route({
  ...READ,
  method: 'get',
  path: '/ledger/adjustments/{adjustmentId}',
  operationId: 'getLedgerAdjustment',
  summary: 'Read an adjustment',
  success: { status: 200, description: 'The adjustment.', schema: Adjustment, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { adjustments }) => resource(await adjustments.get(tenant, params.adjustmentId)),
})

export const approveLedgerAdjustment = route({
  ...STAFF,
  method: 'post',
  path: '/ledger/adjustments/{adjustmentId}/approve',
  operationId: 'approveLedgerAdjustment',
  summary: 'Approve an adjustment',
  description:
    'By another person than the one who asked. The entries are posted with the approval; what the operator’s own money ' +
    'does not cover is refused with `insufficient-funds`.',
  idempotency: 'none',
  body: AdjustmentApprove,
  bodyOptional: true,
  success: { status: 200, description: 'The posted adjustment.', schema: Adjustment, etag: true },
  problems: ['not-found', 'invalid-transition', 'insufficient-funds'],
  handle: async ({ caller, params, body }, { adjustments }) =>
    resource(await adjustments.approve(caller, params.adjustmentId, body)),
})

export const rejectLedgerAdjustment = route({
  ...STAFF,
  method: 'post',
  path: '/ledger/adjustments/{adjustmentId}/reject',
  operationId: 'rejectLedgerAdjustment',
  summary: 'Reject an adjustment',
  idempotency: 'none',
  body: AdjustmentReject,
  success: { status: 200, description: 'The rejected adjustment.', schema: Adjustment, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { adjustments }) =>
    resource(await adjustments.reject(caller, params.adjustmentId, body)),
})

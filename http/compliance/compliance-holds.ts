/** Compliance holds: operations with which the operator's staff review payments that are held. */
import { created, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  ComplianceHold,
  ComplianceHoldDetail,
  complianceHoldList,
  HoldBlock,
  HoldNoteCreate,
  HoldRelease,
} from '../../lib/compliance/compliance-hold-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import type { ReadServices } from '../route/services.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

const STAFF = {
  tag: 'payments',
  callers: 'staff',
  capability: 'compliance.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const exists = async (tenant: Tenant, { holdId }: { readonly holdId: string }, { compliance }: ReadServices) =>
  (await compliance.getComplianceHold(tenant, holdId)) !== null

const FOUR_EYES =
  'When the operator requires two people, the first decision is recorded as a proposal (202), and the same ' +
  'decision of another person takes effect. A different decision replaces the proposal.'
const decided = {
  status: 200,
  description: 'The hold with the decision.',
  schema: ComplianceHoldDetail,
  etag: true,
  or: { status: 202, description: 'The hold, which waits for the decision of a second person.' },
} as const

export const listComplianceHolds = route({
  ...STAFF,
  method: 'get',
  path: '/compliance-holds',
  operationId: 'listComplianceHolds',
  summary: 'List compliance holds',
  description: 'By default open holds.',
  list: complianceHoldList,
  success: {
    status: 200,
    description: 'A page of holds.',
    schema: PageOf('ComplianceHoldPage', ComplianceHold),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { compliance }) => page(list, await compliance.listComplianceHolds(list)),
})

export const getComplianceHold = route({
  ...STAFF,
  method: 'get',
  path: '/compliance-holds/{holdId}',
  operationId: 'getComplianceHold',
  summary: 'Read a compliance hold',
  success: { status: 200, description: 'The hold with its notes.', schema: ComplianceHoldDetail, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { compliance }) =>
    resource(await compliance.getComplianceHold(tenant, params.holdId)),
})

export const releaseComplianceHold = route({
  ...STAFF,
  method: 'post',
  path: '/compliance-holds/{holdId}/release',
  operationId: 'releaseComplianceHold',
  summary: 'Release the subject of a compliance hold',
  description: FOUR_EYES,
  body: HoldRelease,
  exists,
  success: decided,
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { compliance }) => {
    const { hold, waits } = await compliance.decide(caller, params.holdId, {
      decision: 'released',
      reason: body.reason,
      freezeFunds: false,
    })
    return resource(hold, waits ? 202 : 200)
  },
})

export const blockComplianceHold = route({
  ...STAFF,
  method: 'post',
  path: '/compliance-holds/{holdId}/block',
  operationId: 'blockComplianceHold',
  summary: 'Block the subject of a compliance hold',
  description: FOUR_EYES,
  body: HoldBlock,
  exists,
  success: decided,
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { compliance }) => {
    const { hold, waits } = await compliance.decide(caller, params.holdId, {
      decision: 'blocked',
      reason: body.reason,
      freezeFunds: body.freezeFunds ?? false,
    })
    return resource(hold, waits ? 202 : 200)
  },
})

export const addComplianceHoldNote = route({
  ...STAFF,
  method: 'post',
  path: '/compliance-holds/{holdId}/notes',
  operationId: 'addComplianceHoldNote',
  summary: 'Add a note to a compliance hold',
  body: HoldNoteCreate,
  exists,
  success: {
    status: 201,
    description: 'The hold with the note.',
    schema: ComplianceHoldDetail,
    etag: true,
    location: true,
  },
  problems: ['not-found', 'limit-reached'],
  handle: async ({ caller, params, body }, { compliance }) =>
    created(await compliance.note(caller, params.holdId, body.text), `/v1/compliance-holds/${params.holdId}`),
})

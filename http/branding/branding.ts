/** The branding of the operator: how it appears to people in mails and on pages. */
import { Branding, BrandingUpdate } from '../../lib/branding/branding-schema.ts'
import { resource } from '../route/answer.ts'
import { route } from '../route/route.ts'

const shared = {
  tag: 'tenants',
  callers: 'staff',
  capability: 'operator.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
  problems: [],
  path: '/operator/branding',
} as const

export const getBranding = route({
  ...shared,
  method: 'get',
  operationId: 'getBranding',
  summary: "Read the operator's branding",
  success: { status: 200, description: 'The branding.', schema: Branding, etag: true },
  handle: async ({ tenant }, { branding }) => resource(await branding.getBranding(tenant.id)),
})

export const updateBranding = route({
  ...shared,
  method: 'patch',
  operationId: 'updateBranding',
  summary: "Change the operator's branding",
  description:
    'Members that are left out stay unchanged; null removes one. Mails that leave after the answer show the branding.',
  ifMatch: true,
  current: async ({ tenant }, { branding }) => (tenant === null ? null : await branding.getBranding(tenant.id)),
  body: BrandingUpdate,
  success: { status: 200, description: 'The branding as it is now.', schema: Branding, etag: true },
  handle: async ({ caller, body, expectedVersion }, { branding }) =>
    resource(await branding.updateBranding(caller, body, expectedVersion)),
})

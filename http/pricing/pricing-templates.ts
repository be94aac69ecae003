/** Pricing templates: the fees of an operator. */
import { created, empty, page, resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  PricingTemplate,
  PricingTemplateCreate,
  pricingTemplateList,
  PricingTemplateUpdate,
} from '../../lib/pricing/pricing-template-schema.ts'
import type { ReadServices } from '../route/services.ts'

const STAFF = {
  tag: 'tenants',
  callers: 'staff',
  capability: 'pricing.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const current = async (
  { tenant, params }: CurrentContext<'/pricing-templates/{templateId}'>,
  { pricing }: ReadServices,
) => (tenant === null ? null : await pricing.get(tenant.id, params.templateId))

export const listPricingTemplates = route({
  ...STAFF,
  method: 'get',
  path: '/pricing-templates',
  operationId: 'listPricingTemplates',
  summary: 'List price lists',
  list: pricingTemplateList,
  success: {
    status: 200,
    description: 'A page of price lists.',
    schema: PageOf('PricingTemplatePage', PricingTemplate),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { pricing }) => page(list, await pricing.list(list)),
})

export const createPricingTemplate = route({
  ...STAFF,
  method: 'post',
  path: '/pricing-templates',
  operationId: 'createPricingTemplate',
  summary: 'Create a price list',
  description: "A price list is in force when the operator's settings name it (`pricing.defaultTemplateId`).",
  body: PricingTemplateCreate,
  success: { status: 201, description: 'The price list.', schema: PricingTemplate, etag: true, location: true },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { pricing }) => {
    const template = await pricing.create(caller, body)
    return created(template, `/v1/pricing-templates/${template.view.id}`)
  },
})

export const getPricingTemplate = route({
  ...STAFF,
  method: 'get',
  path: '/pricing-templates/{templateId}',
  operationId: 'getPricingTemplate',
  summary: 'Read a price list',
  success: { status: 200, description: 'The price list.', schema: PricingTemplate, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { pricing }) => resource(await pricing.get(tenant.id, params.templateId)),
})

export const updatePricingTemplate = route({
  ...STAFF,
  method: 'patch',
  path: '/pricing-templates/{templateId}',
  operationId: 'updatePricingTemplate',
  summary: 'Change a price list',
  description:
    'Rules are replaced as a whole. They apply to payments submitted after the answer; a payment under way ' +
    'keeps its fees.',
  ifMatch: true,
  current,
  body: PricingTemplateUpdate,
  success: { status: 200, description: 'The price list after the change.', schema: PricingTemplate, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { pricing }) =>
    resource(await pricing.update(caller, params.templateId, body, expectedVersion)),
})

export const deletePricingTemplate = route({
  ...STAFF,
  method: 'delete',
  path: '/pricing-templates/{templateId}',
  operationId: 'deletePricingTemplate',
  summary: 'Delete a price list',
  description: 'The price list in force cannot be deleted.',
  ifMatch: true,
  current,
  success: { status: 204, description: 'The price list was deleted.' },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { pricing }) => {
    await pricing.remove(caller, params.templateId, expectedVersion)
    return empty()
  },
})

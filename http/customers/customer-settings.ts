/** Settings of a customer. */
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { CustomerLimits, CustomerLimitsWrite } from '../../lib/customers/customer-limits-schema.ts'
import {
  AlertSettings,
  AlertSettingsWrite,
  ApprovedDomains,
  ApprovedDomainsWrite,
  CustomerPreferences,
  CustomerPreferencesUpdate,
} from '../../lib/customers/customer-settings-schema.ts'
import type { ReadServices } from '../route/services.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** @throws ProblemError `not-found` for a customer that the tenant does not reach */
async function reach(tenant: Tenant, customerId: string, { customers }: ReadServices): Promise<void> {
  if (!(await customers.reaches(tenant, customerId))) refuseNotFound()
}

export const getCustomerLimits = route({
  method: 'get',
  path: '/customers/{customerId}/settings/limits',
  operationId: 'getCustomerLimits',
  tag: 'tenants',
  summary: 'Read the limits of a customer',
  callers: 'session',
  capability: ['settings.read', 'customers.manage'],
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  success: { status: 200, description: 'The limits and their used amounts.', schema: CustomerLimits, etag: true },
  problems: [],
  handle: async ({ tenant, params }, services) => {
    await reach(tenant, params.customerId, services)
    return resource(await services.customers.getCustomerLimits(params.customerId))
  },
})

export const updateCustomerLimits = route({
  method: 'put',
  path: '/customers/{customerId}/settings/limits',
  operationId: 'updateCustomerLimits',
  tag: 'tenants',
  summary: 'Change the limits of a customer',
  description:
    'For staff of the operator. Payments already made on the running day and month count against new limits.',
  callers: 'session',
  capability: 'customers.manage',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  body: CustomerLimitsWrite,
  exists: (tenant, { customerId }, { customers }) => customers.reaches(tenant, customerId),
  success: { status: 200, description: 'The limits as they are now.', schema: CustomerLimits, etag: true },
  problems: [],
  handle: async ({ caller, params, body, tenant }, services) => {
    await reach(tenant, params.customerId, services)
    return resource(await services.customers.updateCustomerLimits(caller, params.customerId, body))
  },
})

/** Returns the customer in the path, which must be the tenant. @throws ProblemError `not-found` for any other */
function own(tenant: Tenant | null, { customerId }: { readonly customerId: string }): string {
  if (tenant?.id !== customerId) refuseNotFound()
  return customerId
}

const shared = {
  tag: 'tenants',
  callers: 'session',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  problems: [],
} as const

export const getAlertSettings = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/settings/alerts',
  operationId: 'getAlertSettings',
  summary: 'Read the alert settings',
  capability: 'settings.manage',
  success: { status: 200, description: 'The alerts.', schema: AlertSettings, etag: true },
  handle: async ({ tenant, params }, { customers }) =>
    resource(await customers.getSetting(own(tenant, params), 'alerts')),
})

export const updateAlertSettings = route({
  ...shared,
  method: 'put',
  path: '/customers/{customerId}/settings/alerts',
  operationId: 'updateAlertSettings',
  summary: 'Change the alert settings',
  capability: 'settings.manage',
  ifMatch: true,
  current: async ({ tenant, params }, { customers }) => await customers.getSetting(own(tenant, params), 'alerts'),
  body: AlertSettingsWrite,
  success: { status: 200, description: 'The alerts as they are now.', schema: AlertSettings, etag: true },
  handle: async ({ caller, body, expectedVersion }, { customers }) =>
    resource(await customers.updateSetting(caller, 'alerts', body, expectedVersion)),
})

export const getApprovedDomains = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/settings/approved-domains',
  operationId: 'getApprovedDomains',
  summary: 'Read the invitation domains',
  capability: 'settings.manage',
  success: { status: 200, description: 'The domains.', schema: ApprovedDomains, etag: true },
  handle: async ({ tenant, params }, { customers }) =>
    resource(await customers.getSetting(own(tenant, params), 'approved_domains')),
})

export const updateApprovedDomains = route({
  ...shared,
  method: 'put',
  path: '/customers/{customerId}/settings/approved-domains',
  operationId: 'updateApprovedDomains',
  summary: 'Change the invitation domains',
  capability: 'settings.manage',
  stepUp: { action: 'settings.change' },
  ifMatch: true,
  current: async ({ tenant, params }, { customers }) =>
    await customers.getSetting(own(tenant, params), 'approved_domains'),
  body: ApprovedDomainsWrite,
  success: { status: 200, description: 'The domains as they are now.', schema: ApprovedDomains, etag: true },
  handle: async ({ caller, body, expectedVersion }, { customers }) =>
    resource(await customers.updateSetting(caller, 'approved_domains', body, expectedVersion)),
})

export const getCustomerPreferences = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/settings/preferences',
  operationId: 'getCustomerPreferences',
  summary: 'Read the preferences',
  capability: 'settings.manage',
  success: { status: 200, description: 'The preferences.', schema: CustomerPreferences, etag: true },
  handle: async ({ tenant, params }, { customers }) =>
    resource(await customers.getSetting(own(tenant, params), 'preferences')),
})

export const updateCustomerPreferences = route({
  ...shared,
  method: 'patch',
  path: '/customers/{customerId}/settings/preferences',
  operationId: 'updateCustomerPreferences',
  summary: 'Change the preferences',
  capability: 'settings.manage',
  ifMatch: true,
  current: async ({ tenant, params }, { customers }) => await customers.getSetting(own(tenant, params), 'preferences'),
  body: CustomerPreferencesUpdate,
  success: { status: 200, description: 'The preferences as they are now.', schema: CustomerPreferences, etag: true },
  handle: async ({ caller, body, expectedVersion }, { customers }) => {
    if (body.timezone !== undefined && !isTimeZone(body.timezone)) {
      const message = 'No such time zone.'
      refuse('validation-error', message, { errors: [{ field: '/timezone', code: 'invalid_value', message }] })
    }
    return resource(await customers.updateSetting(caller, 'preferences', body, expectedVersion))
  },
})

function isTimeZone(name: string): boolean {
  try {
    // The runtime accepts offsets as time zones too, but they are not permitted as a preference.
    return !/^[+-]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    // The runtime throws a RangeError for an unknown time zone.
    return false
  }
}

/** The operator itself: its name, its settings for its customers, and its feature flags. */
import { resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import {
  FeatureFlags,
  FeatureFlagsUpdate,
  Operator,
  OperatorSettings,
  OperatorSettingsUpdate,
  OperatorUpdate,
} from '../../lib/operators/operator-schema.ts'
import type { ReadServices } from '../route/services.ts'
import type { Versioned } from '../../lib/commands/command.ts'

const shared = {
  tag: 'tenants',
  callers: 'staff',
  capability: 'operator.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
  problems: [],
} as const

/** Loads the operator's resource that is being changed; every operator has one. */
const current =
  (read: (services: ReadServices, operatorId: string) => Promise<Versioned<unknown>>) =>
  async ({ tenant }: CurrentContext<string>, services: ReadServices) =>
    tenant === null ? null : await read(services, tenant.id)

export const getOperator = route({
  ...shared,
  method: 'get',
  path: '/operator',
  operationId: 'getOperator',
  summary: 'Read the operator',
  success: { status: 200, description: 'The operator.', schema: Operator, etag: true },
  handle: async ({ tenant }, { operators }) => resource(await operators.getOperator(tenant.id)),
})

export const updateOperator = route({
  ...shared,
  method: 'patch',
  path: '/operator',
  operationId: 'updateOperator',
  summary: 'Rename the operator',
  ifMatch: true,
  current: current(({ operators }, id) => operators.getOperator(id)),
  body: OperatorUpdate,
  success: { status: 200, description: 'The operator as it is now.', schema: Operator, etag: true },
  handle: async ({ caller, body, expectedVersion }, { operators }) =>
    resource(await operators.updateOperator(caller, body, expectedVersion)),
})

export const getOperatorSettings = route({
  ...shared,
  method: 'get',
  path: '/operator/settings',
  operationId: 'getOperatorSettings',
  summary: "Read the operator's settings for its customers",
  success: { status: 200, description: 'The settings.', schema: OperatorSettings, etag: true },
  handle: async ({ tenant }, { operators }) => resource(await operators.getSettings(tenant.id)),
})

export const updateOperatorSettings = route({
  ...shared,
  method: 'patch',
  path: '/operator/settings',
  operationId: 'updateOperatorSettings',
  summary: "Change the operator's settings for its customers",
  description:
    'Members that are left out stay unchanged; the limits of a customer type and the limits of rails are ' +
    'replaced as a whole. The settings apply to every request after the answer. Payments already made on the ' +
    'running day and month count against new limits.',
  ifMatch: true,
  current: current(({ operators }, id) => operators.getSettings(id)),
  body: OperatorSettingsUpdate,
  success: { status: 200, description: 'The settings as they are now.', schema: OperatorSettings, etag: true },
  handle: async ({ caller, body, expectedVersion }, { operators }) =>
    resource(await operators.updateSettings(caller, body, expectedVersion)),
})

export const getFeatureFlags = route({
  ...shared,
  method: 'get',
  path: '/operator/feature-flags',
  operationId: 'getFeatureFlags',
  summary: 'Read which features are enabled',
  success: { status: 200, description: 'The features.', schema: FeatureFlags, etag: true },
  handle: async ({ tenant }, { operators }) => resource(await operators.getFlags(tenant.id)),
})

export const updateFeatureFlags = route({
  ...shared,
  method: 'patch',
  path: '/operator/feature-flags',
  operationId: 'updateFeatureFlags',
  summary: 'Enable and disable features',
  description:
    'Applies to the operator and its customers. Operations of a disabled feature answer `404 ' +
    'feature-disabled`. `sandbox` cannot be changed.',
  ifMatch: true,
  current: current(({ operators }, id) => operators.getFlags(id)),
  body: FeatureFlagsUpdate,
  success: { status: 200, description: 'The features as they are now.', schema: FeatureFlags, etag: true },
  handle: async ({ caller, body, expectedVersion }, { operators }) =>
    resource(await operators.updateFlags(caller, body, expectedVersion)),
})

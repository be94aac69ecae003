/** Rules that route payments through an operator's connections, and their simulator. */
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'
import {
  RoutingResult,
  RoutingRule,
  RoutingRuleWrite,
  RoutingSimulation,
} from '../../lib/providers/routing-rule-schema.ts'
import { created, empty, json, resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const STAFF = {
  tag: 'providers',
  callers: 'staff',
  capability: 'providers.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const current = async ({ tenant, params }: CurrentContext<'/routing-rules/{ruleId}'>, { routing }: ReadServices) =>
  tenant === null ? null : await routing.rule(tenant.id, params.ruleId)

export const listRoutingRules = route({
  ...STAFF,
  method: 'get',
  path: '/routing-rules',
  operationId: 'listRoutingRules',
  summary: 'List the routing rules',
  success: {
    status: 200,
    description: 'All rules, by priority.',
    schema: PageOf('RoutingRulePage', RoutingRule),
  },
  problems: [],
  handle: async ({ tenant }, { routing }) =>
    json(200, {
      data: [...(await routing.rules(tenant.id))],
      page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
    }),
})

export const createRoutingRule = route({
  ...STAFF,
  method: 'post',
  path: '/routing-rules',
  operationId: 'createRoutingRule',
  summary: 'Create a routing rule',
  description:
    'The rules are asked by ascending `priority`, the cheapest of one priority first; the first that matches decides ' +
    'through which connection a payment leaves. They apply to payments submitted after the answer. A rule to a ' +
    'connection that is not active, is down or paused, does not carry the payment or has used up its volume of the ' +
    'day does not match.',
  body: RoutingRuleWrite,
  success: { status: 201, description: 'The rule.', schema: RoutingRule, etag: true, location: true },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { routing }) => {
    const rule = await routing.createRule(caller, body)
    return created(rule, `/v1/routing-rules/${rule.view.id}`)
  },
})

export const simulateRouting = route({
  ...STAFF,
  method: 'post',
  path: '/routing-rules/simulate',
  operationId: 'simulateRouting',
  summary: 'Simulate the routing of a payment',
  description: 'Tells for every rule why it matched or did not, with the volumes of the day; sends and stores nothing.',
  body: RoutingSimulation,
  success: { status: 200, description: 'The decision.', schema: RoutingResult },
  problems: [],
  handle: async ({ tenant, body }, { routing }) => json(200, await routing.simulate(tenant.id, body)),
})

export const getRoutingRule = route({
  ...STAFF,
  method: 'get',
  path: '/routing-rules/{ruleId}',
  operationId: 'getRoutingRule',
  summary: 'Read a routing rule',
  success: { status: 200, description: 'The rule.', schema: RoutingRule, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { routing }) => resource(await routing.rule(tenant.id, params.ruleId)),
})

export const replaceRoutingRule = route({
  ...STAFF,
  method: 'put',
  path: '/routing-rules/{ruleId}',
  operationId: 'replaceRoutingRule',
  summary: 'Replace a routing rule',
  description: 'Members that are left out get their defaults. Payments under way keep their routing.',
  ifMatch: true,
  current,
  body: RoutingRuleWrite,
  success: { status: 200, description: 'The rule after the change.', schema: RoutingRule, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { routing }) =>
    resource(await routing.replaceRule(caller, params.ruleId, body, expectedVersion)),
})

export const deleteRoutingRule = route({
  ...STAFF,
  method: 'delete',
  path: '/routing-rules/{ruleId}',
  operationId: 'deleteRoutingRule',
  summary: 'Delete a routing rule',
  ifMatch: true,
  current,
  success: { status: 204, description: 'The rule was deleted.' },
  problems: ['not-found'],
  handle: async ({ caller, params, expectedVersion }, { routing }) => {
    await routing.removeRule(caller, params.ruleId, expectedVersion)
    return empty()
  },
})

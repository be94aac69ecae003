/** Routing: the rules of operators, their simulator, and the table by which this node routes payments. */
import { refuseNotFound } from '../../../lib/base/problems.ts'
import type { Versioned } from '../../../lib/commands/command.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type {
  RoutingResult,
  RoutingRuleView,
  RoutingRuleWrite,
  RoutingSimulation,
} from '../../../lib/providers/routing-rule-schema.ts'
import {
  listRoutingRules,
  readRoutingRule,
  type RoutingRuleRecord,
} from '../../../storage/providers/routing/routing-rules.ts'
import type { Background, Node } from '../../runtime/node.ts'
import { createRule, removeRule, replaceRule } from './change-routing-rule.ts'
import { ruleView } from './routing-rule-view.ts'
import { RoutingTable } from './routing-table.ts'
import { simulateRouting } from './simulate-routing.ts'

/** The NOTIFY channel for changes of rules and of connections. */
const ROUTING_CHANGED = 'routing_changed'

/** The reads, of the operator that is the tenant. */
export interface RoutingReads {
  rules(operatorId: string): Promise<readonly RoutingRuleView[]>
  rule(operatorId: string, id: string): Promise<Versioned<RoutingRuleView> | null>
  simulate(operatorId: string, body: RoutingSimulation): Promise<RoutingResult>
}

/** The writes. Every refusal is thrown as a problem. When one is answered, this node routes by it. */
export interface RoutingCommands {
  createRule(by: Caller<'person'>, body: RoutingRuleWrite): Promise<Versioned<RoutingRuleView>>
  replaceRule(
    by: Caller<'person'>,
    id: string,
    body: RoutingRuleWrite,
    expected: number | bigint | null,
  ): Promise<Versioned<RoutingRuleView>>
  removeRule(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
}

/** Creates the service. */
export function createRoutingService(node: Node) {
  const { database, listener, system } = node
  const table = new RoutingTable(node)
  listener.subscribe(ROUTING_CHANGED, { onMessage: () => table.changed(), onGap: () => table.changed() })
  system.onReconnected(() => table.changed())
  const done = async <Result>(change: Promise<Result>): Promise<Result> => {
    const result = await change
    await table.reload()
    return result
  }
  const reads: RoutingReads = {
    rules: async (operatorId) =>
      (await listRoutingRules(database.pool, operatorId)).map((record) => ruleView(record).view),
    async rule(operatorId, id) {
      const record = await readRoutingRule(database.pool, operatorId, id)
      return record === null ? null : ruleView(record)
    },
    simulate: (operatorId, body) => simulateRouting({ ...node, table }, operatorId, body),
  }
  const shown = (record: RoutingRuleRecord | null) => ruleView(record ?? refuseNotFound())
  const commands: RoutingCommands = {
    createRule: async (by, body) => shown(await done(createRule(node, by, body))),
    replaceRule: async (by, id, body, expected) => shown(await done(replaceRule(node, by, id, body, expected))),
    removeRule: (by, id, expected) => done(removeRule(node, by, id, expected)),
  }
  const background: readonly Background[] = [{ name: 'routing', start: () => table.reload(), stop: () => undefined }]
  return { reads, commands, background, table }
}

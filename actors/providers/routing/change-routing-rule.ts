/** Makes, replaces and deletes routing rules; each change is one transaction with its trail entry. */
import type { AuditVerb } from '../../../lib/base/audit-actions.ts'
import { isCurrencyCode } from '../../../lib/base/currency.ts'
import { refuse, refuseNotFound, type FieldError, type FieldErrorCode } from '../../../lib/base/problems.ts'
import { checkVersion } from '../../../lib/commands/etag.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type { RoutingRuleWrite } from '../../../lib/providers/routing-rule-schema.ts'
import type { RoutingRule } from '../../../lib/providers/routing.ts'
import { ON_PLATFORM_RAIL, RAILS } from '../../../lib/rails/rails.ts'
import {
  deleteRoutingRule,
  insertRoutingRule,
  lockRoutingRules,
  replaceRoutingRule,
  type RoutingRuleRecord,
} from '../../../storage/providers/routing/routing-rules.ts'
import { readRoutingTerms } from '../../../storage/providers/routing/routing-terms.ts'
import { through } from '../../../storage/db/transaction.ts'
import { recordChange, runChange, type ChangeDeps, type ChangeTransaction } from '../../commands/changes.ts'
import { auditCaller } from '../../commands/trail.ts'
import { ruleFacts } from './routing-rule-view.ts'

/** Rules of one operator. */
const RULES_MAX = 200

/** @throws ProblemError `validation-error`, `limit-reached` */
export async function createRule(
  deps: ChangeDeps,
  by: Caller<'person'>,
  body: RoutingRuleWrite,
): Promise<RoutingRuleRecord> {
  const operatorId = by.tenant.id
  return await runChange(deps, async (tx) => {
    const rules = await lockRoutingRules(tx.client, operatorId)
    if (rules.length >= RULES_MAX)
      refuse('limit-reached', `An operator has at most ${RULES_MAX} rules.`, {
        extra: { limit: RULES_MAX, resource: 'routing_rule' },
      })
    const rule = await ruleOf(tx, operatorId, tx.ids.next(), body)
    const record: RoutingRuleRecord = {
      ...rule,
      operatorId,
      version: 1,
      createdAt: tx.now,
      updatedBy: by.session.userId,
      updatedAt: tx.now,
    }
    await insertRoutingRule(tx.client, record)
    await recordRule(tx, by, 'created', null, record)
    return record
  })
}

/** @throws ProblemError `not-found`, `precondition-failed`, `validation-error` */
export async function replaceRule(
  deps: ChangeDeps,
  by: Caller<'person'>,
  id: string,
  body: RoutingRuleWrite,
  expected: number | bigint | null,
): Promise<RoutingRuleRecord> {
  return await runChange(deps, async (tx) => {
    const before = await lockedRule(tx, by, id, expected)
    const rule = await ruleOf(tx, before.operatorId, before.id, body)
    const change = { ...rule, updatedBy: by.session.userId, updatedAt: tx.now }
    const after = await replaceRoutingRule(tx.client, before, change)
    await recordRule(tx, by, 'updated', before, after)
    return after
  })
}

/** @throws ProblemError `not-found`, `precondition-failed` */
export async function removeRule(
  deps: ChangeDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await runChange(deps, async (tx) => {
    const before = await lockedRule(tx, by, id, expected)
    await deleteRoutingRule(tx.client, before)
    await recordRule(tx, by, 'deleted', before, null)
  })
}

async function lockedRule(
  { client }: ChangeTransaction,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<RoutingRuleRecord> {
  const rules = await lockRoutingRules(client, by.tenant.id)
  const before = rules.find((each) => each.id === id.toLowerCase()) ?? refuseNotFound()
  checkVersion(before, expected)
  return before
}

async function recordRule(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  verb: AuditVerb<'routing_rule'>,
  before: RoutingRuleRecord | null,
  after: RoutingRuleRecord | null,
): Promise<void> {
  const { id, operatorId } = (after ?? before) as RoutingRuleRecord
  await recordChange(tx, auditCaller(by), operatorId, {
    action: `routing_rule.${verb}`,
    object: { type: 'routing_rule', id },
    before: before === null ? null : ruleFacts(before),
    after: after === null ? null : ruleFacts(after),
  })
}

/** Reads the rule of a body. @throws ProblemError with every fault */
async function ruleOf(
  { client }: ChangeTransaction,
  operatorId: string,
  id: string,
  body: RoutingRuleWrite,
): Promise<RoutingRule> {
  const errors: FieldError[] = []
  const wrong = (field: string, code: FieldErrorCode, message: string) => {
    errors.push({ field, code, message })
  }
  const { currency = null, rail = null, country = null, customerType = null } = body.match ?? {}
  if (currency !== null && !isCurrencyCode(currency)) wrong('/match/currency', 'invalid_value', 'No such currency.')
  const amount = (
    field: string,
    money: { readonly amountMinor: string; readonly currency: string } | null | undefined,
  ) => {
    if (money == null) return null
    if (currency === null) wrong('/match/currency', 'required', 'Amounts need the currency of the rule.')
    else if (money.currency !== currency)
      wrong(`${field}/currency`, 'currency_mismatch', `The rule is for ${currency}.`)
    if (money.amountMinor.startsWith('-')) wrong(`${field}/amountMinor`, 'too_small', 'Must not be below zero.')
    return BigInt(money.amountMinor)
  }
  const amountMin = amount('/match/amountMin', body.match?.amountMin)
  const amountMax = amount('/match/amountMax', body.match?.amountMax)
  if (amountMin !== null && amountMax !== null && amountMax < amountMin)
    wrong('/match/amountMax/amountMinor', 'too_small', 'Must not be below the smallest amount.')
  const costPerPayment = amount('/costPerPayment', body.costPerPayment)
  const dailyVolumeMax = amount('/dailyVolumeMax', body.dailyVolumeMax)
  for (const [field, named] of [
    ['/match/rail', rail],
    ['/preferredRail', body.preferredRail ?? null],
  ] as const) {
    if (named === null) continue
    const of = RAILS.get(named)?.currency ?? null
    if (named === ON_PLATFORM_RAIL) wrong(field, 'not_applicable', 'Payments on the platform leave by no connection.')
    else if (of !== null && currency !== null && of !== currency)
      wrong(field, 'invalid_value', `${named} does not carry ${currency}.`)
  }
  const connectionId = body.connectionId.toLowerCase()
  const { connections = [] } = (await readRoutingTerms(through(client), operatorId)).get(operatorId) ?? {}
  if (!connections.some((each) => each.id === connectionId)) wrong('/connectionId', 'not_found', 'No such connection.')
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
  return {
    id,
    name: body.name ?? null,
    priority: body.priority,
    match: { currency, rail, country, customerType, amountMin, amountMax },
    connectionId,
    preferredRail: body.preferredRail ?? null,
    costPerPayment,
    costBps: body.costBps ?? 0,
    dailyVolumeMax,
    dailyCountMax: body.dailyCountMax ?? null,
    enabled: body.enabled ?? true,
  }
}

/** Changes of an operator's price lists: each is one transaction with its trail entry. */
import type { AuditAction } from '../../lib/base/audit-actions.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { isCurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { FEE_TERMS, type FeeTerm } from '../../lib/pricing/fees.ts'
import { RAILS, type Rail } from '../../lib/rails/rails.ts'
import {
  refuse,
  type FieldError,
  type FieldErrorCode,
  refuseNotFound,
  refuseTransition,
} from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  countTemplates,
  deleteTemplate,
  hasTemplateNamed,
  insertTemplate,
  lockTemplatesOf,
  readTemplate,
  updateTemplate,
  type CurrencyFeeRule,
  type PricingTemplateRecord,
} from '../../storage/pricing/pricing.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type {
  PricingRuleWrite,
  PricingTemplateCreate,
  PricingTemplateUpdate,
} from '../../lib/pricing/pricing-template-schema.ts'
import { ruleJson, templateJson } from './pricing-template-views.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** Price lists of one operator. */
const TEMPLATES_MAX = 100

/** The dependencies of price lists. */
export interface PricingDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
}

/**
 * Creates a price list. @returns its id
 *
 * @throws ProblemError `validation-error`, `limit-reached`
 */
export async function createTemplate(
  deps: PricingDeps,
  by: Caller<'person'>,
  { name, rules = [] }: PricingTemplateCreate,
): Promise<string> {
  const { database, clock } = deps
  const id = deps.ids.next()
  const priced = rulesOf(rules)
  await inTransaction(database, async (client) => {
    // Lists of one operator are created one after the other, because names are unique and their number is
    // bounded.
    await lockTemplatesOf(client, by.tenant.id)
    await mustBeNew(client, by, name, id)
    if ((await countTemplates(client, by.tenant.id)) >= TEMPLATES_MAX)
      refuse('limit-reached', `An operator has at most ${TEMPLATES_MAX} lists.`)
    await insertTemplate(client, {
      id,
      operatorId: by.tenant.id,
      name,
      rules: priced,
      by: by.session.userId,
      now: clock.now(),
    })
    await audit(deps, client, by, 'pricing_template.created', id, { after: { name, rules } })
  })
  return id
}

/**
 * Changes a price list; absent members stay as they are.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`
 */
export async function changeTemplate(
  deps: PricingDeps,
  by: Caller<'person'>,
  id: string,
  { name, rules }: PricingTemplateUpdate,
  expected: number | bigint | null,
): Promise<void> {
  const { database, clock } = deps
  const priced = rules === undefined ? null : rulesOf(rules)
  await inTransaction(database, async (client) => {
    await lockTemplatesOf(client, by.tenant.id)
    const before = await lockTemplate(client, by, id, expected)
    const next = { name: name ?? before.name, rules: priced ?? before.rules }
    if (next.name !== before.name) await mustBeNew(client, by, next.name, id)
    await updateTemplate(
      client,
      { id, operatorId: by.tenant.id, ...next, by: by.session.userId, now: clock.now() },
      before.isDefault || before.isChosen,
    )
    const { name: wasName, rules: wasRules } = templateJson(before)
    await audit(deps, client, by, 'pricing_template.updated', id, {
      before: { name: wasName, rules: wasRules },
      after: { name: next.name, rules: next.rules.map(ruleJson) },
    })
  })
}

/**
 * Deletes a price list that holds for no customer.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `invalid-transition`
 */
export async function removeTemplate(
  deps: PricingDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const { database } = deps
  await inTransaction(database, async (client) => {
    const before = await lockTemplate(client, by, id, expected)
    if (before.isDefault) refuseTransition("The list holds for the operator's customers.", 'default', [])
    if (before.isChosen) refuseTransition('The list holds for some customers.', 'chosen', [])
    await deleteTemplate(client, by.tenant.id, id)
    await audit(deps, client, by, 'pricing_template.deleted', id, { before: { name: before.name } })
  })
}

async function lockTemplate(
  client: TransactionClient,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<PricingTemplateRecord> {
  const record = await readTemplate(client, by.tenant.id, id, true)
  if (record === null) refuseNotFound()
  checkVersion(record, expected)
  return record
}

async function audit(
  { ids, clock }: PricingDeps,
  client: TransactionClient,
  by: Caller<'person'>,
  action: AuditAction<'pricing_template'>,
  id: string,
  { before = null, after = null }: { readonly before?: object | null; readonly after?: object | null },
): Promise<void> {
  const object = { type: 'pricing_template' as const, id }
  await recordChange({ client, ids, now: clock.now() }, auditCaller(by), by.tenant.id, {
    action,
    object,
    before,
    after,
  })
}

async function mustBeNew(client: TransactionClient, by: Caller<'person'>, name: string, id: string): Promise<void> {
  if (await hasTemplateNamed(client, by.tenant.id, name, id))
    invalid([{ field: '/name', code: 'invalid_value', message: 'Another list has this name.' }])
}

const NOT_OF_KIND: Readonly<Record<FeeTerm, string>> = {
  rail: 'An exchange travels by no rail.',
  tax: 'Only the fee of a payment includes tax.',
  refundable: 'Only the fee of a payment can be refunded.',
  passedOn: "Only the partner's charge can be passed on.",
}

/**
 * Reads the fee rules of a body.
 *
 * @throws ProblemError with every invalid rule
 */
function rulesOf(rules: readonly PricingRuleWrite[]): readonly CurrencyFeeRule[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const priced = rules.map((rule, index): CurrencyFeeRule => {
    const wrong = (field: string, code: FieldErrorCode, message: string) => {
      errors.push({ field: `/rules/${index}${field}`, code, message })
    }
    const { kind, currency, rail = null, bps = 0, taxBps = 0, refundable = false, passedOn = false } = rule
    if (!isCurrencyCode(currency)) wrong('/currency', 'invalid_value', 'No such currency.')
    const of = rail === null ? null : RAILS.get(rail as Rail)?.currency
    if (of === undefined || (of !== null && of !== currency))
      wrong('/rail', 'invalid_value', `${rail} does not carry ${currency}.`)
    const [fixed, min, max] = (['fixed', 'min', 'max'] as const).map((name) => {
      const money = rule[name]
      if (money == null) return null
      if (money.currency !== currency) wrong(`/${name}/currency`, 'currency_mismatch', `The rule is for ${currency}.`)
      if (money.amountMinor.startsWith('-')) wrong(`/${name}/amountMinor`, 'too_small', 'Must not be below zero.')
      return BigInt(money.amountMinor)
    }) as [bigint | null, bigint | null, bigint | null]
    if (max !== null && max < (min ?? 0n)) wrong('/max/amountMinor', 'too_small', 'Must not be below the minimum fee.')
    for (const [term, field, isGiven] of [
      ['rail', '/rail', rail !== null],
      ['tax', '/taxBps', taxBps > 0],
      ['refundable', '/refundable', refundable],
      ['passedOn', '/passedOn', passedOn],
    ] as const)
      if (isGiven && !FEE_TERMS[kind].has(term)) wrong(field, 'not_applicable', NOT_OF_KIND[term])
    const key = `${kind} ${currency} ${rail ?? ''}`
    if (seen.has(key)) wrong('', 'invalid_value', 'Another rule has the same kind, currency and rail.')
    seen.add(key)
    return {
      kind,
      currency,
      rail: rail as Rail | null,
      fixed: fixed ?? 0n,
      bps: BigInt(bps),
      min: min ?? 0n,
      max,
      taxBps: BigInt(taxBps),
      refundable,
      passedOn,
    }
  })
  if (errors.length > 0) invalid(errors)
  return priced
}

function invalid(errors: readonly FieldError[]): never {
  refuse('validation-error', errors[0]?.message ?? '', { errors })
}

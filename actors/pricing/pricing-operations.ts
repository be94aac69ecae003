/**
 * Reads and commands of an operator's price lists, for the HTTP layer: each change is one transaction with its trail.
 */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import { isCurrencyCode, type CurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { RAILS, type Rail } from '../../lib/rails/rails.ts'
import { refuse, type FieldError, type FieldErrorCode } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
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
import { listTemplates } from '../../storage/pricing/pricing-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByInTenant } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  PricingRuleWrite,
  PricingTemplate,
  PricingTemplateCreate,
  pricingTemplateList,
  PricingTemplateUpdate,
} from '../../lib/pricing/pricing-template-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/** Price lists of one operator. */
const TEMPLATES_MAX = 100

/** Reads of price lists of the operator that is the tenant. Null: the operator has no such list. */
export interface PricingReads {
  list(query: ListQuery<typeof pricingTemplateList>): Promise<ListResult<PricingTemplate>>
  get(operatorId: string, id: string): Promise<Versioned<PricingTemplate> | null>
}

/** Commands of price lists. Every refusal is thrown as a problem. */
export interface PricingCommands {
  create(by: ByInTenant, body: PricingTemplateCreate): Promise<Versioned<PricingTemplate>>
  update(
    by: ByInTenant,
    id: string,
    body: PricingTemplateUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<PricingTemplate>>
  remove(by: ByInTenant, id: string, expected: number | bigint | null): Promise<void>
}

export interface PricingDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
}

/** Creates the reads and commands of price lists. */
export function createPricing({ database, ids, clock }: PricingDeps): {
  readonly reads: PricingReads
  readonly commands: PricingCommands
} {
  const get: PricingReads['get'] = async (operatorId, id) => {
    const record = await readTemplate(database.pool, operatorId, id)
    return record === null ? null : { version: record.version, view: templateJson(record) }
  }

  async function shown(by: ByInTenant, id: string): Promise<Versioned<PricingTemplate>> {
    return (await get(by.tenant.id, id)) ?? refuse('not-found', 'No such resource exists in this tenant.')
  }

  async function locked(
    client: TransactionClient,
    by: ByInTenant,
    id: string,
    expected: number | bigint | null,
  ): Promise<PricingTemplateRecord> {
    const record = await readTemplate(client, by.tenant.id, id, true)
    if (record === null) refuse('not-found', 'No such resource exists in this tenant.')
    if (expected !== null && BigInt(expected) !== BigInt(record.version))
      refuse('precondition-failed', 'The list has changed since it was read.')
    return record
  }

  async function audit(
    client: TransactionClient,
    by: ByInTenant,
    action: string,
    id: string,
    change: { readonly before?: object; readonly after?: object },
  ): Promise<void> {
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: by.tenant.id,
      at: clock.now(),
      action,
      object: { type: 'pricing_template', id },
      before: change.before ?? null,
      after: change.after ?? null,
    })
  }

  return {
    reads: {
      get,
      list: async (query) => {
        const { rows, ...rest } = await listTemplates(readDatabase(database), query)
        return { ...rest, rows: rows.map(templateJson) }
      },
    },
    commands: {
      async create(by, { name, rules = [] }) {
        const id = ids.next()
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
          await audit(client, by, 'pricing_template.created', id, { after: { name, rules } })
        })
        return await shown(by, id)
      },
      async update(by, id, { name, rules }, expected) {
        const priced = rules === undefined ? null : rulesOf(rules)
        await inTransaction(database, async (client) => {
          await lockTemplatesOf(client, by.tenant.id)
          const before = await locked(client, by, id, expected)
          const next = { name: name ?? before.name, rules: priced ?? before.rules }
          if (next.name !== before.name) await mustBeNew(client, by, next.name, id)
          await updateTemplate(
            client,
            { id, operatorId: by.tenant.id, ...next, by: by.session.userId, now: clock.now() },
            before.isDefault,
          )
          const { name: wasName, rules: wasRules } = templateJson(before)
          await audit(client, by, 'pricing_template.updated', id, {
            before: { name: wasName, rules: wasRules },
            after: { name: next.name, rules: next.rules.map(ruleJson) },
          })
        })
        return await shown(by, id)
      },
      async remove(by, id, expected) {
        await inTransaction(database, async (client) => {
          const before = await locked(client, by, id, expected)
          if (before.isDefault)
            refuse('invalid-transition', "The list holds for the operator's customers.", {
              extra: { currentStatus: 'default', allowed: [] },
            })
          await deleteTemplate(client, id)
          await audit(client, by, 'pricing_template.deleted', id, { before: { name: before.name } })
        })
      },
    },
  }
}

async function mustBeNew(client: TransactionClient, by: ByInTenant, name: string, id: string): Promise<void> {
  if (await hasTemplateNamed(client, by.tenant.id, name, id))
    invalid([{ field: '/name', code: 'invalid_value', message: 'Another list has this name.' }])
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
    const { kind, currency, rail = null, bps = 0, refundable = false, passedOn = false } = rule
    if (!isCurrencyCode(currency)) wrong('/currency', 'invalid_value', 'No such currency.')
    const of = rail === null ? null : RAILS.get(rail as Rail)?.currency
    if (of === undefined || (of !== null && of !== currency))
      wrong('/rail', 'invalid_value', `${rail} does not carry ${currency}.`)
    if (rail !== null && kind === 'exchange') wrong('/rail', 'not_applicable', 'An exchange travels by no rail.')
    const [fixed, min, max] = (['fixed', 'min', 'max'] as const).map((name) => {
      const money = rule[name]
      if (money == null) return null
      if (money.currency !== currency) wrong(`/${name}/currency`, 'currency_mismatch', `The rule is for ${currency}.`)
      if (money.amountMinor.startsWith('-')) wrong(`/${name}/amountMinor`, 'too_small', 'Must not be below zero.')
      return BigInt(money.amountMinor)
    }) as [bigint | null, bigint | null, bigint | null]
    if (max !== null && max < (min ?? 0n))
      wrong('/max/amountMinor', 'too_small', 'Must not be below the least that is charged.')
    if (refundable && kind !== 'payment')
      wrong('/refundable', 'not_applicable', 'Only what a payment costs is given back.')
    if (passedOn && kind !== 'partner_charge')
      wrong('/passedOn', 'not_applicable', 'Only what the partner takes is passed on.')
    const key = `${kind} ${currency} ${rail ?? ''}`
    if (seen.has(key)) wrong('', 'invalid_value', 'There is a rule for this kind, currency and rail already.')
    seen.add(key)
    return {
      kind,
      currency,
      rail: rail as Rail | null,
      fixed: fixed ?? 0n,
      bps: BigInt(bps),
      min: min ?? 0n,
      max,
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

function ruleJson({
  kind,
  currency,
  rail,
  fixed,
  bps,
  min,
  max,
  refundable,
  passedOn,
}: CurrencyFeeRule): PricingTemplate['rules'][number] {
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
  return {
    kind,
    currency,
    rail,
    fixed: money(fixed),
    bps: Number(bps),
    min: money(min),
    max: max === null ? null : money(max),
    refundable,
    passedOn,
  }
}

function templateJson({
  id,
  name,
  isDefault,
  rules,
  createdAt,
  updatedBy,
  updatedAt,
}: PricingTemplateRecord): PricingTemplate {
  return {
    id,
    name,
    isDefault,
    rules: rules.map(ruleJson),
    createdAt: timestamp(createdAt),
    updatedBy,
    updatedAt: timestamp(updatedAt),
  }
}

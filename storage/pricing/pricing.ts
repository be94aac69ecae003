/**
 * Pricing templates of operators, as rows. A template is written whole. A change of a template in use moves the
 * versions of its balances.
 */
import { feeRuleOf, type FeeKind, type FeeRule, type FeeRuleJson } from '../../lib/pricing/fees.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { PricingTemplate } from './pricing-template-entity.ts'
import { fenceOperator } from '../commit/fences.ts'

/** A fee rule with its currency. */
export interface CurrencyFeeRule extends FeeRule {
  readonly currency: string
}

export interface PricingTemplateRecord {
  readonly id: string
  readonly operatorId: string
  readonly name: string
  readonly version: number
  readonly rules: readonly CurrencyFeeRule[]
  /** Whether it applies to the operator's customers. */
  readonly isDefault: boolean
  /** Whether it holds for any customer by that customer's own choice. */
  readonly isChosen: boolean
  /** Epoch milliseconds, as all times. */
  readonly createdAt: number
  /** Null until the first change. */
  readonly updatedBy: string | null
  readonly updatedAt: number
}

const RULE_JSON = `json_build_object('kind', f.kind, 'currency', f.currency, 'rail', f.rail, 'fixed', f.fixed_minor::text, 'bps', f.bps, 'min', f.min_minor::text,
  'max', f.max_minor::text, 'taxBps', f.tax_bps, 'refundable', f.refundable, 'passedOn', f.passed_on)`

/**
 * Locks the templates of an operator until the transaction ends, those not yet made included. @throws what the driver
 * throws
 */
export async function lockTemplatesOf(client: TransactionClient, operatorId: string): Promise<void> {
  await client.query({
    name: 'lock_pricing',
    text: `select pg_advisory_xact_lock(hashtextextended('pricing of ' || $1::text, 0))`,
    values: [operatorId],
  })
}

/** SQL of the fee rules for a balance `b`, in its currency; null where no list holds for its customer. */
export const FEES_OF_BALANCE = `(select json_agg(${RULE_JSON})
  from fee_rule f where f.template_id = (select coalesce(c.pricing_template_id, o.pricing_template_id) from customer c join operator o on o.id = c.operator_id where c.id = b.customer_id) and f.currency = b.currency)`

/** Reads the fee rules of a balance. */
export async function feeRulesOf(
  client: Pick<TransactionClient, 'query'>,
  balanceId: string,
): Promise<readonly FeeRule[]> {
  const {
    rows: [row],
  } = await client.query<{ fees: readonly FeeRuleJson[] | null }>({
    name: 'fees_of_balance',
    text: `select ${FEES_OF_BALANCE} as fees from balance b where b.id = $1`,
    values: [balanceId],
  })
  return row?.fees?.map(feeRuleOf) ?? []
}

/** The columns of a template `p`, for lists and for single reads. */
export const TEMPLATE_COLUMNS = `p.id, p.operator_id, p.name, p.version, p.updated_by, (extract(epoch from p.created_at) * 1000)::float8 as created_ms,
  (extract(epoch from p.updated_at) * 1000)::float8 as updated_ms, exists (select from operator o where o.id = p.operator_id and o.pricing_template_id = p.id) as is_default,
  exists (select from customer c where c.pricing_template_id = p.id) as is_chosen,
  (select json_agg(${RULE_JSON} order by f.kind, f.currency, f.rail) from fee_rule f where f.template_id = p.id) as rules`

export interface TemplateRow {
  readonly id: string
  readonly operator_id: string
  readonly name: string
  readonly version: number
  readonly updated_by: string | null
  readonly created_ms: number
  readonly updated_ms: number
  readonly is_default: boolean
  readonly is_chosen: boolean
  readonly rules: readonly (FeeRuleJson & { readonly currency: string })[] | null
}

export const templateRecord = (row: TemplateRow): PricingTemplateRecord => ({
  id: row.id,
  operatorId: row.operator_id,
  name: row.name,
  version: row.version,
  isDefault: row.is_default,
  isChosen: row.is_chosen,
  createdAt: row.created_ms,
  updatedBy: row.updated_by,
  updatedAt: row.updated_ms,
  rules: row.rules?.map((rule) => ({ ...feeRuleOf(rule), currency: rule.currency })) ?? [],
})

/**
 * Reads a template of an operator; null when the operator has no such template. `lock` keeps others from changing it
 * until the transaction ends.
 */
export async function readTemplate(
  client: Pick<TransactionClient, 'query'>,
  operatorId: string,
  id: string,
  lock = false,
): Promise<PricingTemplateRecord | null> {
  const text = `select ${TEMPLATE_COLUMNS} from pricing_template p where p.id = $1 and p.operator_id = $2`
  const {
    rows: [row],
  } = await client.query<TemplateRow>({
    name: lock ? 'lock_pricing_template' : 'read_pricing_template',
    text: lock ? `${text} for update of p` : text,
    values: [id, operatorId],
  })
  return row === undefined ? null : templateRecord(row)
}

/** Whether the operator has a template with this name, other than the one with the id. */
export async function hasTemplateNamed(
  client: Pick<TransactionClient, 'query'>,
  operatorId: string,
  name: string,
  except: string,
): Promise<boolean> {
  return (await entitiesOf(client, { operatorId }).count(PricingTemplate, { name, id: { $ne: except } })) > 0
}

/** Counts the templates of an operator. */
export async function countTemplates(client: Pick<TransactionClient, 'query'>, operatorId: string): Promise<number> {
  return await entitiesOf(client, { operatorId }).count(PricingTemplate)
}

interface TemplateWrite extends Pick<PricingTemplateRecord, 'id' | 'operatorId' | 'name' | 'rules'> {
  readonly by: string
  readonly now: number
}

/** Writes a new template. */
export async function insertTemplate(
  client: TransactionClient,
  { id, operatorId, name, rules, by, now }: TemplateWrite,
): Promise<void> {
  const template = { id, operator: operatorId, name, updatedBy: by, createdAt: now, updatedAt: now }
  await entitiesOf(client, { operatorId }).insert(PricingTemplate, template)
  await insertRules(client, id, rules)
}

/** Writes a locked template as its next version. Later decisions use it, where it holds for any customer. */
export async function updateTemplate(
  client: TransactionClient,
  { id, operatorId, name, rules, by, now }: TemplateWrite,
  holds: boolean,
): Promise<void> {
  const templates = entitiesOf(client, { operatorId })
  Object.assign(await templates.get(PricingTemplate, id), { name, updatedBy: by, updatedAt: now })
  await templates.save()
  await client.query({ name: 'delete_fee_rules', text: 'delete from fee_rule where template_id = $1', values: [id] })
  await insertRules(client, id, rules)
  if (holds) await fenceOperator(client, operatorId)
}

/** Deletes a template with its rules. */
export async function deleteTemplate(client: TransactionClient, operatorId: string, id: string): Promise<void> {
  const templates = entitiesOf(client, { operatorId })
  await templates.remove(await templates.get(PricingTemplate, id))
}

/** Sets the template that applies to the customers of a locked operator; null: none. */
export async function chooseTemplate(
  client: TransactionClient,
  operatorId: string,
  templateId: string | null,
): Promise<void> {
  await client.query({
    name: 'choose_pricing_template',
    text: 'update operator set pricing_template_id = $2 where id = $1',
    values: [operatorId, templateId],
  })
  await fenceOperator(client, operatorId)
}

async function insertRules(
  client: TransactionClient,
  templateId: string,
  rules: readonly CurrencyFeeRule[],
): Promise<void> {
  const column = (value: (rule: CurrencyFeeRule) => string | number | boolean | null) => rules.map(value)
  await client.query({
    name: 'insert_fee_rules',
    text: `insert into fee_rule (template_id, kind, currency, rail, fixed_minor, bps, min_minor, max_minor, tax_bps, refundable, passed_on)
      select $1, u.* from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::int[], $7::bigint[], $8::bigint[], $9::int[], $10::boolean[], $11::boolean[]) u`,
    values: [
      templateId,
      column(({ kind }): FeeKind => kind),
      column(({ currency }) => currency),
      column(({ rail }) => rail ?? ''),
      column(({ fixed }) => fixed.toString()),
      column(({ bps }) => Number(bps)),
      column(({ min }) => min.toString()),
      column(({ max }) => max?.toString() ?? null),
      column(({ taxBps }) => Number(taxBps)),
      column(({ refundable }) => refundable),
      column(({ passedOn }) => passedOn),
    ],
  })
}

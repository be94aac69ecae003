/** Reads and commands of an operator's price lists. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { readTemplate } from '../../storage/pricing/pricing.ts'
import { listTemplates } from '../../storage/pricing/pricing-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  PricingTemplate,
  PricingTemplateCreate,
  pricingTemplateList,
  PricingTemplateUpdate,
} from '../../lib/pricing/pricing-template-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeTemplate, createTemplate, removeTemplate, type PricingDeps } from './change-pricing-template.ts'
import { templateJson } from './pricing-template-views.ts'

/** Reads of price lists of the operator that is the tenant. Null: the operator has no such list. */
export interface PricingReads {
  list(query: ListQuery<typeof pricingTemplateList>): Promise<ListResult<PricingTemplate>>
  get(operatorId: string, id: string): Promise<Versioned<PricingTemplate> | null>
}

/** Commands of price lists. Every refusal is thrown as a problem. */
export interface PricingCommands {
  create(by: Caller<'person'>, body: PricingTemplateCreate): Promise<Versioned<PricingTemplate>>
  update(
    by: Caller<'person'>,
    id: string,
    body: PricingTemplateUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<PricingTemplate>>
  remove(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
}

/** Creates the reads and commands of price lists. */
export function createPricing(deps: PricingDeps): {
  readonly reads: PricingReads
  readonly commands: PricingCommands
} {
  const { database } = deps
  const get: PricingReads['get'] = async (operatorId, id) => {
    const record = await readTemplate(database.pool, operatorId, id)
    return record === null ? null : { version: record.version, view: templateJson(record) }
  }

  async function shown(by: Caller<'person'>, id: string): Promise<Versioned<PricingTemplate>> {
    return (await get(by.tenant.id, id)) ?? refuseNotFound()
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
      create: async (by, body) => await shown(by, await createTemplate(deps, by, body)),
      async update(by, id, body, expected) {
        await changeTemplate(deps, by, id, body, expected)
        return await shown(by, id)
      },
      remove: (by, id, expected) => removeTemplate(deps, by, id, expected),
    },
  }
}

/** Reads and changes the branding of an operator: one document of its settings, with a version of its own. */
import { hash } from 'node:crypto'
import { timestamp } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { BRANDING, brandingAfter, brandingFaults, NO_BRANDING, type Brand } from '../../lib/branding/brand.ts'
import type { Branding, BrandingFields, BrandingUpdate } from '../../lib/branding/branding-schema.ts'
import { readSetting, writeSetting, type StoredSetting } from '../../storage/customers/settings.ts'
import { readBrand, readOnlyBrand } from '../../storage/branding/brands.ts'
import { recordChange, runChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Node } from '../runtime/node.ts'

type Deps = Pick<Node, 'database' | 'clock' | 'ids'>

export interface BrandingReads {
  getBranding(operatorId: string): Promise<Versioned<Branding>>
  /**
   * Reads how the operator of a tenant appears in mails and on pages; null when there is no such operator or customer.
   */
  brand(tenantId: string): Promise<Brand | null>
  /** Reads the brand of the operator when the database has one alone, for pages that belong to no tenant. */
  onlyBrand(): Promise<Brand | null>
}

export interface BrandingCommands {
  /** Changes the given members; the other members stay. @throws ProblemError */
  updateBranding(
    by: Caller<'person'>,
    body: BrandingUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Branding>>
}

export interface BrandingService {
  readonly reads: BrandingReads
  readonly commands: BrandingCommands
}

/** Creates the service. */
export function createBrandingService(deps: Deps): BrandingService {
  const { database } = deps
  const getBranding = async (operatorId: string) => viewOf(await readSetting(database.pool, operatorId, BRANDING))
  return {
    reads: {
      getBranding,
      brand: (tenantId) => readBrand(database, tenantId),
      onlyBrand: () => readOnlyBrand(database),
    },
    commands: {
      async updateBranding(by, body, expected) {
        await changeBranding(deps, by, body, expected)
        return await getBranding(by.tenant.id)
      },
    },
  }
}

async function changeBranding(
  deps: Deps,
  by: Caller<'person'>,
  body: BrandingUpdate,
  expected: number | bigint | null,
): Promise<void> {
  const errors = brandingFaults(body)
  const [first] = errors
  if (first !== undefined) refuse('validation-error', first.message, { errors })
  const id = by.tenant.id
  await runChange(deps, async (tx) => {
    const stored = await readSetting(tx.client, id, BRANDING, true)
    checkVersion({ version: stored?.version ?? 0 }, expected)
    const before = fieldsOf(stored)
    const after = brandingAfter(before, body)
    await writeSetting(tx.client, { ownerId: id, name: BRANDING, value: after, by: by.session.userId, now: tx.now })
    await recordChange(tx, auditCaller(by), id, {
      action: 'branding.updated',
      object: { type: 'operator', id },
      before: trailOf(before),
      after: trailOf(after),
    })
  })
}

const fieldsOf = (stored: StoredSetting | null): BrandingFields => ({
  ...NO_BRANDING,
  ...(stored?.value as Partial<BrandingFields> | undefined),
})

function viewOf(stored: StoredSetting | null): Versioned<Branding> {
  return {
    version: stored?.version ?? 0,
    view: {
      ...fieldsOf(stored),
      updatedBy: stored?.updatedBy ?? null,
      updatedAt: stored === null ? null : timestamp(stored.updatedAt),
    },
  }
}

/** The trail names a logo by its hash: it is compared there, and not shown. */
const trailOf = ({ logo, ...fields }: BrandingFields): object => ({
  ...fields,
  logo: logo === null ? null : { contentType: logo.contentType, sha256: hash('sha256', logo.data, 'hex') },
})

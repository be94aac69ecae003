/**
 * The operator operations of the HTTP layer: profile, settings for customers, feature flags.
 *
 * An operator is one row with one version. Each change is announced to all nodes, which cache parts of it. A command
 * waits for the announcement, so that every request after its answer uses the new settings on any node.
 */
import type { AuditAction } from '../../lib/base/audit-actions.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { flagsOf, flagsOfAny, type Feature, type ShownFlags } from '../../lib/operators/features.ts'
import type { RailLimits } from '../../lib/rails/rail-limits.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { writeDefaultLimits } from '../../storage/customers/customer-limits.ts'
import { createOperatorTermsCache, type OperatorTerms } from '../../storage/operators/operator-terms-cache.ts'
import { readRailLimits, writeRailLimits } from '../../storage/operators/rail-limits.ts'
import { readOperator, writeOperator, type OperatorRecord } from '../../storage/operators/operators.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Node } from '../runtime/node.ts'
import type {
  FeatureFlags,
  FeatureFlagsUpdate,
  Operator,
  OperatorSettings,
  OperatorSettingsUpdate,
  OperatorUpdate,
} from '../../lib/operators/operator-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import {
  charge,
  collectionTermsAfter,
  defaultLimitsOfBody,
  railLimitsOfBody,
  settingsOf,
  termsAfter,
  thresholdOfBody,
} from './operator-settings.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The NOTIFY channel for changes of an operator: its id and its version. */
const OPERATOR_CHANGED = 'operator_changed'
/** The time that a change waits for other nodes. A node that does not answer learns of the change when it is back. */
const HEARD_WITHIN_MS = 1_000

/** The reads of the operator that is the tenant. */
export interface OperatorReads {
  getOperator(operatorId: string): Promise<Versioned<Operator>>
  getSettings(operatorId: string): Promise<Versioned<OperatorSettings>>
  getFlags(operatorId: string): Promise<Versioned<FeatureFlags>>
  /** Checks whether a feature is on for an operator, or for a customer of it. */
  hasFeature(tenantId: string, feature: Feature): Promise<boolean>
  /** Reads the flags that hold for a person of these tenants. */
  flagsOfTenants(tenantIds: readonly string[]): Promise<ShownFlags>
  /** Reads the amount above which people prove themselves for payments, set by an operator, or by that of a customer. */
  stepUpThreshold(tenantId: string): Promise<OperatorTerms['stepUpThreshold']>
  /** Reads the rail limits of an operator, or of the operator of a customer, and their version. */
  railLimits(tenantId: string): Promise<{ readonly limits: RailLimits; readonly version: number }>
}

/** The writes: absent members stay as they are. Every refusal is thrown as a problem. */
export interface OperatorCommands {
  updateOperator(
    by: Caller<'person'>,
    body: OperatorUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Operator>>
  updateSettings(
    by: Caller<'person'>,
    body: OperatorSettingsUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<OperatorSettings>>
  updateFlags(
    by: Caller<'person'>,
    body: FeatureFlagsUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<FeatureFlags>>
}

export interface OperatorService {
  readonly reads: OperatorReads
  readonly commands: OperatorCommands
  /** Registers a listener, which is called when a setting of an operator may have changed on any node. */
  onChange(listener: () => void): void
}

/** Creates the service. */
export function createOperatorService(node: Node): OperatorService {
  const { database, listener, ids, clock, sandbox } = node
  const listeners: (() => void)[] = []
  const terms = createOperatorTermsCache(database)
  const forget = () => {
    terms.forgetAll()
    for (const listener of listeners) listener()
  }
  const changes = listener.subscribe(OPERATOR_CHANGED, { onMessage: forget, onGap: forget, confirms: true })

  const reads = createReads({ database, terms, sandbox })

  /** Writes the next version in one transaction with its trail entry, and waits until every node knows. */
  async function change(
    by: Caller<'person'>,
    action: AuditAction<'operator'>,
    expected: number | bigint | null,
    work: (client: TransactionClient, before: OperatorRecord, now: number) => Promise<Change>,
  ): Promise<void> {
    const id = by.tenant.id
    const version = await inTransaction(database, async (client) => {
      const now = clock.now()
      const before = existing(await readOperator(client, id, true))
      checkVersion(before, expected)
      const { next, was, is } = await work(client, before, now)
      await writeOperator(client, { ...before, ...next, by: by.session.userId, now })
      await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
        action,
        object: { type: 'operator', id },
        before: was,
        after: is,
      })
      return before.version + 1
    })
    forget()
    await changes.heard(`${id} ${version}`, HEARD_WITHIN_MS)
  }

  return {
    reads,
    commands: {
      async updateOperator(by, { name }, expected) {
        await change(by, 'operator.updated', expected, async (_, before) => {
          const next = { name: name ?? before.name }
          return { next, was: { name: before.name }, is: next }
        })
        return await reads.getOperator(by.tenant.id)
      },
      async updateSettings(by, body, expected) {
        const { recipients, limits, compliance, sessions, kyb, pricing, rails, exchange, collections } = body
        const { stepUpThreshold, ...payments } = body.payments ?? {}
        const threshold = stepUpThreshold === undefined ? {} : { stepUpThreshold: thresholdOfBody(stepUpThreshold) }
        const wanted = defaultLimitsOfBody(limits)
        const railLimits = rails?.limits === undefined ? null : railLimitsOfBody(rails.limits)
        await change(by, 'operator_settings.updated', expected, async (client, before, now) => {
          const was = await settingsOf(client, before)
          for (const one of wanted) await writeDefaultLimits(client, { operatorId: before.id, ...one, now })
          const prices = { ...before.pricing, ...pricing }
          if (prices.defaultTemplateId !== before.pricing.defaultTemplateId)
            await charge(client, before.id, prices.defaultTemplateId)
          if (railLimits !== null) await writeRailLimits(client, before.id, railLimits)
          const next = {
            railLimits: railLimits ?? before.railLimits,
            recipients: { ...before.recipients, ...recipients },
            compliance: { ...before.compliance, ...compliance },
            payments: { ...before.payments, ...payments, ...threshold },
            sessions: { ...before.sessions, ...sessions },
            kyb: { ...before.kyb, ...kyb },
            pricing: prices,
            exchange: termsAfter(before.exchange, exchange),
            collections: collectionTermsAfter(before.collections, collections),
            apiKeyInvitationDomains: body.apiKeyInvitationDomains ?? before.apiKeyInvitationDomains,
          }
          return { next, was, is: await settingsOf(client, { ...before, ...next }) }
        })
        return await reads.getSettings(by.tenant.id)
      },
      async updateFlags(by, { flags }, expected) {
        await change(by, 'feature_flags.updated', expected, async (_, before) => {
          const next = { features: { ...before.features, ...flags } }
          return { next, was: flagsOf(before.features), is: flagsOf(next.features) }
        })
        return await reads.getFlags(by.tenant.id)
      },
    },
    onChange: (listener) => {
      listeners.push(listener)
    },
  }
}

interface Change {
  readonly next: Partial<
    Pick<
      OperatorRecord,
      | 'name'
      | 'recipients'
      | 'compliance'
      | 'payments'
      | 'sessions'
      | 'kyb'
      | 'pricing'
      | 'railLimits'
      | 'exchange'
      | 'collections'
      | 'features'
      | 'apiKeyInvitationDomains'
    >
  >
  readonly was: object
  readonly is: object
}

/** Operators are never deleted, so a missing row means an unknown tenant. */
function existing(record: OperatorRecord | null): OperatorRecord {
  if (record === null) refuseNotFound()
  return record
}

const provenance = ({ updatedBy, updatedAt }: OperatorRecord) => ({
  updatedBy,
  updatedAt: updatedAt === null ? null : timestamp(updatedAt),
})

function createReads({
  database,
  terms,
  sandbox,
}: Pick<Node, 'database' | 'sandbox'> & {
  readonly terms: ReturnType<typeof createOperatorTermsCache>
}): OperatorReads {
  return {
    async getOperator(id) {
      const record = existing(await readOperator(database.pool, id))
      return {
        version: record.version,
        view: { id, name: record.name, createdAt: timestamp(record.createdAt), ...provenance(record) },
      }
    },
    async getSettings(id) {
      // The row is read first: limits that are newer than the row give a tag that no later read has, so a change with
      // that tag is refused.
      const record = existing(await readOperator(database.pool, id))
      return { version: record.version, view: { ...(await settingsOf(database.pool, record)), ...provenance(record) } }
    },
    async getFlags(id) {
      const record = existing(await readOperator(database.pool, id))
      return {
        version: record.version,
        view: { flags: { ...flagsOf(record.features), sandbox }, ...provenance(record) },
      }
    },
    hasFeature: async (tenantId, feature) => (await terms.of(tenantId)).features[feature],
    async flagsOfTenants(tenantIds) {
      const all = await Promise.all(tenantIds.map((tenantId) => terms.of(tenantId)))
      return { ...flagsOfAny(all.map(({ features }) => features)), sandbox }
    },
    stepUpThreshold: async (tenantId) => (await terms.of(tenantId)).stepUpThreshold,
    railLimits: (tenantId) => readRailLimits(database.pool, tenantId),
  }
}

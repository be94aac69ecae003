/**
 * The treasury operations for the HTTP layer: the operator's books as a whole, and their reconciliation with the
 * partners' statements.
 */
import type { Breaks } from './resolve-break.ts'
import { DAY_MS, timestamp, type Clock } from '../../lib/base/clock.ts'
import { refuseField } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import { operatorOfConnection } from '../../storage/incoming-payments/incoming-payments.ts'
import { newestBlock } from '../../storage/journal/journal-chain.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import {
  getBreak,
  getReconciliation,
  listBreaks,
  listReconciliations,
} from '../../storage/reconciliation/reconciliation-queries.ts'
import { trialBalance } from '../../storage/reconciliation/trial-balance.ts'
import { queueReconciliations } from '../../storage/reconciliation/reconciliations.ts'
import { instantOf } from '../../lib/contract/formats.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  BreakResolve,
  Reconciliation,
  ReconciliationBreak,
  reconciliationBreakList,
  reconciliationList,
  ReconciliationRun,
  ReconciliationRunAccepted,
  TrialBalance,
} from '../../lib/reconciliation/reconciliation-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** The ids in the path of a break. */
export interface BreakPath {
  readonly reconciliationId: string
  readonly breakId: string
}

/** The reads. Null means: no such row of the operator. */
export interface TreasuryReads {
  listReconciliations(query: ListQuery<typeof reconciliationList>): Promise<ListResult<Reconciliation>>
  getReconciliation(tenant: Tenant, id: string): Promise<Versioned<Reconciliation> | null>
  listBreaks(
    query: ListQuery<typeof reconciliationBreakList>,
    reconciliationId: string,
  ): Promise<ListResult<ReconciliationBreak> | null>
  getBreak(tenant: Tenant, path: BreakPath): Promise<Versioned<ReconciliationBreak> | null>
  /** `asOf` is RFC 3339; null includes all entries. */
  trialBalance(operatorId: string, asOf: string | null): Promise<TrialBalance>
}

/** The commands. Every refusal is thrown as a problem. */
export interface TreasuryCommands {
  runReconciliations(
    by: { readonly tenant: Tenant; readonly principal: Principal },
    body: ReconciliationRun,
  ): Promise<ReconciliationRunAccepted>
  resolveBreak(
    by: Caller<'person'>,
    path: BreakPath,
    body: BreakResolve,
  ): Promise<{ readonly found: Versioned<ReconciliationBreak>; readonly waits: boolean }>
}

export function createTreasuryReads({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): TreasuryReads {
  const db = readDatabase(database)
  return {
    listReconciliations: (query) => listReconciliations(db, query),
    getReconciliation: (tenant, id) => getReconciliation(database, tenant, id),
    listBreaks: (query, reconciliationId) => listBreaks(db, database, { ...query, reconciliationId, now: clock.now() }),
    getBreak: (tenant, path) => getBreak(database, tenant, { ...path, now: clock.now() }),
    async trialBalance(operatorId, asOf) {
      const moment = asOf === null ? null : timestamp(instantOf(asOf))
      return {
        ...(await trialBalance(database, { operatorId, asOf: moment, now: clock.now() })),
        journalBlock: await newestBlock(database),
      }
    },
  }
}

export function createTreasuryCommands({
  database,
  clock,
  breaks,
  reads,
}: {
  readonly database: Database
  readonly clock: Clock
  readonly breaks: Breaks
  readonly reads: TreasuryReads
}): TreasuryCommands {
  return {
    async runReconciliations({ tenant, principal }, { connectionId = null, currency = null, until = null }) {
      if (connectionId !== null && (await operatorOfConnection(database, connectionId)) !== tenant.id)
        refuseField('/connectionId', 'not_found', 'No such connection.')
      const now = clock.now()
      const yesterday = timestamp(now - DAY_MS).slice(0, 10)
      // A day that has not ended has no statement.
      const last = until === null || until > yesterday ? yesterday : until
      const queued = await queueReconciliations(database, {
        until: last,
        now,
        only: { operatorId: tenant.id, connectionId, currency, by: principal.id },
      })
      return { until: last, queued }
    },
    async resolveBreak(by, path, { outcome, evidence }) {
      const result = await breaks.resolve({
        breakId: path.breakId,
        operatorId: by.tenant.id,
        outcome,
        evidence,
        by: auditCaller(by),
      })
      const found = await reads.getBreak(by.tenant, path)
      if (found === null) throw new Error(`The break ${path.breakId} has vanished.`)
      return { found, waits: result === 'proposed' }
    },
  }
}

/**
 * The operations on compliance holds and exceptions for the HTTP layer: the two queues of the operator's staff, and
 * their decisions.
 */
import type { ComplianceHolds } from './compliance-holds.ts'
import type { Exceptions } from './resolve-exception.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { ComplianceDecision } from '../../lib/compliance/hold.ts'
import type { Database } from '../../storage/db/database.ts'
import { getComplianceHold, listComplianceHolds } from '../../storage/compliance/compliance-hold-queries.ts'
import { getException, listExceptions } from '../../storage/compliance/exception-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  ComplianceHold,
  ComplianceHoldDetail,
  complianceHoldList,
} from '../../lib/compliance/compliance-hold-schema.ts'
import type { Exception, exceptionList, ExceptionResolve } from '../../lib/compliance/exception-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such row of the operator. */
export interface ComplianceReads {
  listComplianceHolds(query: ListQuery<typeof complianceHoldList>): Promise<ListResult<ComplianceHold>>
  getComplianceHold(tenant: Tenant, id: string): Promise<Versioned<ComplianceHoldDetail> | null>
  listExceptions(query: ListQuery<typeof exceptionList>): Promise<ListResult<Exception>>
  getException(tenant: Tenant, id: string): Promise<Versioned<Exception> | null>
}

/** The decisions of the operator's staff. `waits`: a second person is needed. Every refusal is thrown as a problem. */
export interface ComplianceCommands {
  decide(
    by: Caller<'person'>,
    holdId: string,
    decision: { readonly decision: ComplianceDecision; readonly reason: string; readonly freezeFunds: boolean },
  ): Promise<{ readonly hold: Versioned<ComplianceHoldDetail>; readonly waits: boolean }>
  note(by: Caller<'person'>, holdId: string, text: string): Promise<Versioned<ComplianceHoldDetail>>
  resolve(
    by: Caller<'person'>,
    exceptionId: string,
    body: ExceptionResolve,
  ): Promise<{ readonly exception: Versioned<Exception>; readonly waits: boolean }>
}

/** Creates the reads of both queues. */
export function createComplianceReads({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): ComplianceReads {
  const db = readDatabase(database)
  return {
    listComplianceHolds: (query) => listComplianceHolds(db, query, clock.now()),
    getComplianceHold: (tenant, id) => getComplianceHold(database, tenant, id),
    listExceptions: (query) => listExceptions(db, query, clock.now()),
    getException: (tenant, id) => getException(database, tenant, id),
  }
}

/** Creates the decisions on both queues. */
export function createComplianceCommands({
  holds,
  exceptions,
  reads,
}: {
  readonly holds: ComplianceHolds
  readonly exceptions: Exceptions
  readonly reads: ComplianceReads
}): ComplianceCommands {
  return {
    async decide(by, holdId, decision) {
      const outcome = await holds.decide({ holdId, operatorId: by.tenant.id, by: auditCaller(by), ...decision })
      return { hold: existing(await reads.getComplianceHold(by.tenant, holdId)), waits: outcome === 'proposed' }
    },
    async note(by, holdId, text) {
      await holds.note({ holdId, operatorId: by.tenant.id, by: auditCaller(by), text })
      return existing(await reads.getComplianceHold(by.tenant, holdId))
    },
    async resolve(by, exceptionId, { outcome, evidence, amount = null }) {
      const result = await exceptions.resolve({
        exceptionId,
        operatorId: by.tenant.id,
        by: auditCaller(by),
        outcome,
        evidence,
        amount: amount === null ? null : { minor: BigInt(amount.amountMinor), currency: amount.currency },
      })
      return { exception: existing(await reads.getException(by.tenant, exceptionId)), waits: result === 'proposed' }
    },
  }
}

/** Holds and exceptions are never deleted, so a missing row is a bug. */
function existing<View>(view: View | null): View {
  if (view === null) throw new Error('A case of the operator has vanished.')
  return view
}

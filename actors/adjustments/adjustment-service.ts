/** Adjustments: entries that the operator's treasury makes by hand. Each is asked for by one person and decided by another. */
import type {
  Adjustment,
  AdjustmentApprove,
  AdjustmentCreate,
  AdjustmentReject,
  adjustmentList,
} from '../../lib/adjustments/adjustment-schema.ts'
import type { AdjustmentRecord } from '../../lib/adjustments/adjustment.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { refuseField } from '../../lib/base/problems.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { findAdjustment, insertAdjustment, listAdjustments } from '../../storage/adjustments/adjustments.ts'
import { insertUses } from '../../storage/documents/documents.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { UNIQUE_VIOLATION, sqlState } from '../../storage/db/sqlstates.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'
import { recordChange } from '../commands/changes.ts'
import { decideOnce } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Node } from '../runtime/node.ts'
import { approveAdjustment, rejectAdjustment } from './decide-adjustment.ts'
import { readRequest } from './request-adjustment.ts'

/** The reads. */
export interface AdjustmentReads {
  list(query: ListQuery<typeof adjustmentList>): Promise<ListResult<Adjustment>>
  /** Null when the operator has no such adjustment. */
  get(tenant: Tenant, id: string): Promise<Versioned<Adjustment> | null>
}

/** The commands. Every refusal is thrown as a problem, except those that are recorded under an Idempotency-Key. */
export interface AdjustmentCommands {
  request(by: Caller<'person'>, command: Command<AdjustmentCreate>): Promise<CommandAnswer<Adjustment, 202>>
  approve(by: Caller<'person'>, id: string, body: AdjustmentApprove | null): Promise<Versioned<Adjustment>>
  reject(by: Caller<'person'>, id: string, body: AdjustmentReject): Promise<Versioned<Adjustment>>
}

export type AdjustmentService = ReturnType<typeof createAdjustmentService>

type Parts = Pick<Node, 'database' | 'clock' | 'ids' | 'accounts' | 'findIdempotencyRecord'>

/** Creates the service. */
export function createAdjustmentService(node: Parts): {
  readonly reads: AdjustmentReads
  readonly commands: AdjustmentCommands
} {
  const { database } = node
  const db = readDatabase(database)
  return {
    reads: {
      async list(query) {
        const { rows, ...page } = await listAdjustments(db, query)
        return { ...page, rows: rows.map((row) => adjustmentView(row).view) }
      },
      async get(tenant, id) {
        const found = await findAdjustment(database.pool, tenant.id, id)
        return found === null ? null : adjustmentView(found)
      },
    },
    commands: {
      request: (by, command) => requestAdjustment(node, by, command),
      approve: async (by, id, body) =>
        adjustmentView(
          await decideInTransaction(node, (tx) => approveAdjustment(node, tx, by, { id, note: body?.note ?? null })),
        ),
      reject: async (by, id, { reason }) =>
        adjustmentView(await decideInTransaction(node, (tx) => rejectAdjustment(tx, by, { id, reason }))),
    },
  }
}

async function requestAdjustment(
  node: Parts,
  by: Caller<'person'>,
  command: Command<AdjustmentCreate>,
): Promise<CommandAnswer<Adjustment, 202>> {
  const { ids, clock } = node
  const operatorId = by.tenant.id
  try {
    return await decideOnce(node, command, 202, async (client) => {
      const tx = { client, ids, now: clock.now() }
      const { now } = tx
      const asked = await readRequest(client, { operatorId, now }, command.body)
      const { actor } = auditCaller(by)
      const id = ids.next()
      const record = await insertAdjustment(client, {
        ...asked,
        id,
        operatorId,
        status: 'pending_approval',
        reason: command.body.reason,
        requestedBy: actor.id,
        requestedByName: actor.name,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      await insertUses(client, { object: 'adjustment', objectId: id }, record.documentIds)
      const { view } = adjustmentView(record)
      await recordChange(tx, auditCaller(by), operatorId, {
        action: 'adjustment.requested',
        object: { type: 'adjustment', id },
        before: null,
        after: view,
      })
      return { shown: { version: record.version, view }, made: { type: 'adjustment', id } }
    })
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    const field = command.body.breakId === undefined ? '/entryId' : '/breakId'
    refuseField(field, 'invalid_value', 'Another adjustment of it is pending or posted.')
  }
}

function adjustmentView(record: AdjustmentRecord): Versioned<Adjustment> {
  const { currency, amount, operatorId: _, version, ...shown } = record
  return {
    version,
    view: {
      ...shown,
      currency,
      amount: amount === null ? null : moneyJson({ amountMinor: amount, currency: currency as CurrencyCode }),
      documentIds: [...record.documentIds],
      entryIds: [...record.entryIds],
      decidedAt: record.decidedAt === null ? null : timestamp(record.decidedAt),
      createdAt: timestamp(record.createdAt),
      updatedAt: timestamp(record.updatedAt),
    },
  }
}

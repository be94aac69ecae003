/** Records changes of connections to partners of any kind: the trail entry, and the event of a new status. */
import type { AuditAction } from '../../../lib/base/audit-actions.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import { writeEvent } from '../../../storage/outbox/outbox.ts'
import { recordChange, type ChangeTransaction } from '../../commands/changes.ts'
import { auditCaller } from '../../commands/trail.ts'

/** A connection before or after a change. `facts`: what the trail holds, without secrets. */
export interface RecordedConnection {
  readonly id: string
  readonly operatorId: string
  readonly status: string
  readonly facts: object
}

/** The kinds of connections, by their names in the trail. */
export type ConnectionKind = 'provider_connection' | 'kyc_connection'

/** Writes a change into the trail, and tells the operator of a new status. `before`: null for a new connection. */
export async function recordStatus(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  { kind, action }: { readonly kind: ConnectionKind; readonly action: AuditAction },
  before: RecordedConnection | null,
  after: RecordedConnection,
): Promise<void> {
  const { id, operatorId, status } = after
  await recordChange(tx, auditCaller(by), operatorId, {
    action,
    object: { type: kind, id },
    before: before === null ? null : before.facts,
    after: after.facts,
  })
  if (before === null || before.status === status) return
  await writeEvent(tx.client, {
    id: tx.ids.next(),
    createdAt: tx.now,
    customerId: null,
    operatorId,
    shard: shardOf(operatorId),
    type: 'provider_connection.status_changed',
    object: 'provider_connection',
    objectId: id,
    status,
    previousStatus: before.status,
    amount: null,
    currency: null,
  })
}

/** Callers in the trail of changes. */
import type { IdSource } from '../../lib/base/ids.ts'
import type { By, ByCaller } from '../../lib/identity/caller.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { writeAudit, type AuditBy, type AuditChange } from '../../storage/trail/trail.ts'

/** The trail's actor for a change that people make to themselves. */
export function auditPerson({ session, source, requestId }: By): AuditBy {
  const staff = session.memberships.some(({ level }) => level === 'operator')
  return {
    actor: { type: staff ? 'staff' : 'member', id: session.userId, name: session.name },
    address: source.address,
    requestId,
  }
}

/** The trail's actor for a change of a tenant: a person or a key. */
export function auditCaller({ principal, session, source, requestId, tenant }: ByCaller): AuditBy {
  const own = session?.memberships.find(({ tenantId }) => tenantId === tenant.id)
  const type = principal.kind === 'key' ? 'key' : own?.level === 'customer' ? 'member' : 'staff'
  return { actor: { type, id: principal.id, name: principal.name }, address: source?.address ?? null, requestId }
}

/**
 * Writes a change into the trail of the caller's tenant, within the transaction of the change. `now` is epoch
 * milliseconds.
 */
export async function writeCallerTrail(
  { client, ids, now }: { readonly client: TransactionClient; readonly ids: IdSource; readonly now: number },
  by: ByCaller,
  change: AuditChange,
): Promise<void> {
  await writeAudit(client, { ...auditCaller(by), ...change, id: ids.next(), tenantId: by.tenant.id, at: now })
}

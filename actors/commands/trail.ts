/** Converts callers for the trail of changes. */
import type { AuditBy } from '../../storage/trail/trail.ts'
import type { By, ByCaller } from '../../lib/identity/caller.ts'

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

/** Callers in the trail of changes. */
import type { Caller } from '../../lib/identity/caller.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'

/** The trail's actor for a change that people make to themselves. */
export function auditPerson({ session, source, requestId }: Caller<'self'>): AuditBy {
  const staff = session.memberships.some(({ level }) => level === 'operator')
  return {
    actor: { type: staff ? 'staff' : 'member', id: session.userId, name: session.name },
    address: source.address,
    requestId,
  }
}

/** The trail's actor for a change of a tenant: a person or a key. */
export function auditCaller({ principal, session, source, requestId, tenant }: Caller): AuditBy {
  const own = session?.memberships.find(({ tenantId }) => tenantId === tenant.id)
  const type = principal.kind === 'key' ? 'key' : own?.level === 'customer' ? 'member' : 'staff'
  return { actor: { type, id: principal.id, name: principal.name }, address: source?.address ?? null, requestId }
}

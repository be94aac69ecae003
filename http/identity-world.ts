/** What everything about people is made with. */
import type { IdSource } from '../lib/ids.ts'
import type { Mailer } from '../lib/mail.ts'
import type { AuditBy } from '../storage/identity-audit.ts'
import type { Database } from '../storage/database.ts'
import type { Passwords } from '../workers/pool.ts'
import type { By, ByCaller } from './identity.ts'
import type { SecondFactorWorld } from './second-factor.ts'
import type { Log } from './world.ts'

export interface IdentityWorld extends SecondFactorWorld {
  readonly database: Database
  readonly passwords: Passwords
  readonly mailer: Mailer
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly log: Log
  /** Test keys work only where there is a sandbox. */
  readonly sandbox: boolean
  /** Random bytes fit for secrets. */
  readonly random: (bytes: number) => Uint8Array
}

/** Who changed something about themselves, as the trail keeps it. */
export function auditPerson({ session, source, requestId }: By): AuditBy {
  const staff = session.memberships.some(({ level }) => level === 'operator')
  return { actor: { type: staff ? 'staff' : 'member', id: session.userId, name: session.name }, address: source.address, requestId }
}

/** Who changed something of a tenant, a person or a key, as the trail keeps it. */
export function auditCaller({ principal, session, source, requestId, tenant }: ByCaller): AuditBy {
  const own = session?.memberships.find(({ tenantId }) => tenantId === tenant.id)
  const type = principal.kind === 'key' ? 'key' : own?.level === 'customer' ? 'member' : 'staff'
  return { actor: { type, id: principal.id, name: principal.name }, address: source?.address ?? null, requestId }
}

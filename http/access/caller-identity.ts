/**
 * The identity of a caller as one value that can be sent to another node. The node that the request reached determines
 * it from a credential; the credential stays on that node.
 *
 * Uses of the parts: the Idempotency-Key's scope and `createdBy` use the principal's id and the tenant; the operation's
 * scope and capability checks use the key's scopes or the person's role; changes of sessions and step-up proofs use the
 * session's id and the hash of its token; the audit trail uses names, memberships and the client's address. Limits, the
 * request log and the last use of a key are written only by the node that the request reached.
 */
import type { ActingRole } from '../../lib/identity/capabilities.ts'
import { principalOfPerson } from './authorisation.ts'
import type { Membership, SessionIdentity } from '../../lib/identity/caller.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** A session without its token. */
type SessionWithoutToken = Omit<SessionIdentity, 'token'>

/** A caller of an operation that has a tenant; plain JSON. */
export type CallerIdentity =
  | {
      readonly kind: 'key'
      readonly id: string
      readonly name: string
      readonly scopes: readonly string[]
      readonly live: boolean
      readonly tenant: Tenant
    }
  | {
      readonly kind: 'session'
      readonly role: ActingRole
      readonly session: SessionWithoutToken
      readonly tenant: Tenant
      /** Whether the step-up proof is still to be checked, because an amount of the body decides on it. */
      readonly owesProof: boolean
    }

/** The caller as an endpoint uses it. */
export interface ForwardedCaller {
  readonly principal: Principal
  readonly tenant: Tenant
  /** Null for a key. */
  readonly session: SessionIdentity | null
  /** Whether the step-up proof is still to be checked. */
  readonly owesProof: boolean
}

/** Makes the identity of a key that may act for the tenant. */
export function identityOfKey({ id, name, scopes, live }: Principal, tenant: Tenant): CallerIdentity {
  return { kind: 'key', id, name, scopes: [...scopes], live: live === true, tenant }
}

/**
 * Makes the identity of a person who acts for the tenant in a role. At most two memberships are sent: the one of this
 * tenant and one as staff, which are all that the audit trail uses. A person may have hundreds, and headers are
 * bounded.
 */
export function identityOfPerson(
  { token: _, ...session }: SessionIdentity,
  role: ActingRole,
  tenant: Tenant,
  owesProof: boolean,
): CallerIdentity {
  const own = session.memberships.find(({ tenantId }) => tenantId === tenant.id)
  const staff = session.memberships.find(({ level }) => level === 'operator')
  const memberships = [own, staff].filter((membership): membership is Membership => membership !== undefined)
  return {
    kind: 'session',
    role,
    session: { ...session, memberships: own === staff ? memberships.slice(0, 1) : memberships },
    tenant,
    owesProof,
  }
}

/** Restores the caller of an identity. A person's scopes and capabilities are those that this node gives the role. */
export function callerOf(identity: CallerIdentity): ForwardedCaller {
  const { tenant } = identity
  if (identity.kind === 'session') {
    const session: SessionIdentity = { ...identity.session, token: null }
    const { owesProof } = identity
    return { principal: principalOfPerson(session, [identity.role]), tenant, session, owesProof }
  }
  const { id, name, scopes, live } = identity
  return {
    principal: {
      kind: 'key',
      id,
      name,
      scopes: new Set(scopes),
      capabilities: NO_CAPABILITIES,
      createdVia: 'api_key',
      ...(live ? { live: true } : {}),
    },
    tenant,
    session: null,
    owesProof: false,
  }
}

const NO_CAPABILITIES: ReadonlySet<string> = new Set()

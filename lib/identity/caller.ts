/** Signed-in people, and the data about a caller that the audit trail stores. */
import type { Role } from './capabilities.ts'
import type { StepUpMethod } from './step-up.ts'
import type { Principal, Source, Tenant } from '../commands/caller.ts'

/** A person's role for one tenant. */
export interface Membership {
  readonly id: string
  readonly tenantId: string
  readonly tenantName: string
  readonly level: 'customer' | 'operator'
  readonly operatorId: string
  readonly role: Role
}

/** The customer whose data an impersonating session reads. */
export interface Impersonated {
  readonly customerId: string
  readonly customerName: string
  readonly operatorId: string
  readonly reason: string
}

/** A session as it is stored, with the person it belongs to. Times are epoch milliseconds. */
export interface FoundSession {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly userStatus: 'active' | 'disabled'
  readonly status: 'mfa_required' | 'active' | 'revoked'
  /** The second factor with which the person signed in; null: none. */
  readonly mfaMethod: StepUpMethod | null
  readonly createdAt: number
  readonly lastSeenAt: number
  readonly expiresAt: number
  /** The time without a request after which the session ends, milliseconds. */
  readonly idleMs: number
  /** Number of second factors that can be used. */
  readonly factors: number
  readonly memberships: readonly Membership[]
  /** Null for a session in which the person acts for themselves. */
  readonly impersonated: Impersonated | null
}

/** A session whose token was sent with the request. */
export interface SessionIdentity extends FoundSession {
  /** SHA-256 of the token, 64 lower-case hex digits: the session's next token replaces this one. */
  readonly tokenSha256: string
  /**
   * Never shown or logged. Null on a node that the command was forwarded to: a credential stays on the node where it
   * arrived.
   */
  readonly token: string | null
  readonly via: 'web' | 'mobile'
}

/** The kinds of callers of a request, and what is known of each. */
interface Callers {
  /** A person or a key that uses the data of a tenant. */
  readonly tenant: {
    readonly tenant: Tenant
    readonly principal: Principal
    /** Null for a key. */
    readonly session: SessionIdentity | null
    readonly source: Source | null
    readonly requestId: string
  }
  /** A person with a session who uses the data of a tenant. */
  readonly person: Callers['tenant'] & Callers['self']
  /** A person with a session, in what concerns themselves and no tenant. */
  readonly self: {
    readonly session: SessionIdentity
    readonly source: Source
    readonly requestId: string
  }
  /** A client that has not signed in, where the operation permits anyone. */
  readonly anonymous: {
    readonly tenant: null
    readonly principal: null
    readonly session: null
    readonly source: Source
    readonly requestId: string
  }
}

/** The caller of a request with its origin: a person or a key of a tenant, where no kind is named. */
export type Caller<Kind extends keyof Callers = 'tenant'> = Callers[Kind]

/**
 * Whether a caller sees what is for the operator alone: its staff, also where they read for a customer, and its keys;
 * members, keys of customers, and staff who impersonate, do not.
 */
export function seesOperatorFields({ tenant, session }: Pick<Caller, 'tenant' | 'session'>): boolean {
  if (session === null) return tenant.kind === 'operator'
  if (session.impersonated !== null) return false
  return !session.memberships.some(({ tenantId, level }) => tenantId === tenant.id && level === 'customer')
}

/** The name of the service itself, where it acts for no person and no key. */
export const SYSTEM_NAME = 'System'

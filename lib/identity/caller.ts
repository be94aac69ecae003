/** People who are signed in, and what the trail keeps of a caller. */
import type { Role } from './capabilities.ts'
import type { Principal, Source, Tenant } from '../commands/caller.ts'

/** What a person may do for one tenant. */
export interface Membership {
  readonly id: string
  readonly tenantId: string
  readonly tenantName: string
  readonly level: 'customer' | 'operator'
  readonly operatorId: string
  readonly role: Role
}

/** A session as it is stored, with the person it belongs to. Times are epoch milliseconds. */
export interface FoundSession {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly userStatus: 'active' | 'disabled'
  readonly status: 'mfa_required' | 'active' | 'revoked'
  readonly createdAt: number
  readonly lastSeenAt: number
  readonly expiresAt: number
  /** Second factors that can be used. */
  readonly factors: number
  readonly memberships: readonly Membership[]
}

/** A session that a request has shown the token of. */
export interface SessionIdentity extends FoundSession {
  /** SHA-256 of the token, 64 lower-case hex digits: the session's next token takes the place of this one. */
  readonly tokenSha256: string
  /** Never shown or logged. Null on a node that the command was forwarded to: a credential stays where it arrived. */
  readonly token: string | null
  readonly via: 'web' | 'mobile'
}

/** Who changes something, and from where. */
export interface By {
  readonly session: SessionIdentity
  readonly source: Source
  readonly requestId: string
}

/** Who changes something of a tenant, a person or a key, and from where. */
export interface ByCaller {
  readonly tenant: Tenant
  readonly principal: Principal
  /** Null for a key. */
  readonly session: SessionIdentity | null
  readonly source: Source | null
  readonly requestId: string
}

/** The same where only people may. */
export interface ByInTenant extends By, ByCaller {
  readonly session: SessionIdentity
  readonly source: Source
}

/**
 * A request while it is checked and handled. The checks fill it step by step, and the handler gets it as its context
 * (http/route/route.ts), so a request allocates one object for both.
 */
import type { ReadUpload } from '../../actors/documents/uploads.ts'
import type { Principal, Source, Tenant } from '../../lib/commands/caller.ts'
import type { Command, Idempotency } from '../../lib/commands/command.ts'
import type { ListDeclaration, ListQuery } from '../../lib/contract/list.ts'
import type { Caller, SessionIdentity } from '../../lib/identity/caller.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import type { CallerIdentity } from '../access/caller-identity.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { addressBlock } from '../access/address-block.ts'
import { LIMITS } from '../../lib/base/limits.ts'

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})
const NO_QUERY: Readonly<Record<string, string | number>> = Object.freeze({})

/** A request and everything that its checks have found. Members are null, or empty, until their check has run. */
export class RequestContext {
  readonly requestId: string
  /** Path of the request as it was sent, starting `/v1/`. */
  readonly instance: string
  /** Null for a public route. */
  principal: Principal | null = null
  /** Null also where the operation belongs to no tenant. */
  tenant: Tenant | null = null
  /** The session of the signed-in person; null for keys. */
  session: SessionIdentity | null = null
  /** The client's address and user agent; null for a key, for which no operation uses them. */
  source: Source | null = null
  /** The party of a key, which is made once for each key. */
  keyParty: Party | null = null
  /** The caller as it is sent to another node; null for a command that this node decides whichever node is its home. */
  identity: CallerIdentity | null = null
  /** Whether the step-up proof is still to be checked, because an amount of the body decides on it. */
  owesProof = false
  /** How long the caller still waits, milliseconds. */
  patienceMs: number = LIMITS.requestDeadlineMs
  params: Readonly<Record<string, string>> = NO_PARAMS
  list: ListQuery<ListDeclaration> | null = null
  query: Readonly<Record<string, string | number>> = NO_QUERY
  body: unknown = null
  upload: ReadUpload | null = null
  signed: SignedBody | null = null
  idempotency: Idempotency | null = null
  expectedVersion: number | bigint | null = null
  /** Time of the clock until which the caller waits. A command that is not decided by then is refused undecided. */
  deadline = 0

  constructor(requestId: string, instance: string) {
    this.requestId = requestId
    this.instance = instance
  }

  /** The caller, as commands and the audit trail take it. Made when a handler asks for it: most reads do not. */
  get caller(): Caller | Caller<'anonymous'> {
    const { tenant, principal, session, source, requestId } = this
    return { tenant, principal, session, source, requestId } as Caller | Caller<'anonymous'>
  }

  /** The body as a command of the caller; null for a public route, or an operation without a tenant. */
  get command(): Command<unknown> | null {
    const { tenant, principal, body, idempotency, requestId, instance, deadline } = this
    if (tenant === null || principal === null) return null
    return { tenantId: tenant.id, principal, body, idempotency, requestId, instance, deadline }
  }

  /**
   * The party whose share a request uses: a key, a tenant's person, a person, or the address of an anonymous client.
   */
  partyAt(address: string): Party {
    const { keyParty, principal, tenant } = this
    if (keyParty !== null) return keyParty
    return principal === null
      ? { group: 'public', member: addressBlock(address) }
      : { group: tenant?.id ?? principal.id, member: principal.id }
  }
}

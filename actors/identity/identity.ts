/** The ports of the HTTP layer for people, sessions and keys: sign-in, step-up, keys and members. */
import type { Capability } from '../../lib/identity/capabilities.ts'
import type { Offer, StepUpAction } from '../../lib/identity/step-up.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { ApiKeyCreate, ApiKeyUpdate, ApiKeyView, apiKeyList } from '../../lib/identity/api-key-schema.ts'
import type { AuditEvent, auditEventList } from '../../lib/identity/audit-event-schema.ts'
import type {
  FactorCreate,
  FactorUpdate,
  MfaFactor,
  NewMfaFactor,
  NewRecoveryCodes,
  RecoveryCodes,
  User,
  UserUpdate,
} from '../../lib/identity/user-schema.ts'
import type { WebAuthnRequestOptions } from '../../lib/identity/webauthn-schema.ts'
import type { SessionRow, SignIn, sessionList } from '../../lib/identity/session-schema.ts'
import type {
  ChallengeCreate,
  ChallengeVerify,
  FactorConfirm,
  StepUpChallenge,
  StepUpProof,
} from '../../lib/identity/step-up-schema.ts'
import type {
  AcceptedInvitation,
  Invitation,
  InvitationAccept,
  InvitationCreate,
  invitationList,
  Member,
  memberList,
  MemberUpdate,
  OpenInvitation,
  Team,
  TeamCreate,
  teamList,
  TeamUpdate,
} from '../../lib/identity/member-schema.ts'
import type { Linked } from '../../lib/contract/linked.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { RequestedChallenge } from '../../storage/identity/identity-sessions.ts'
import type { Source, Tenant } from '../../lib/commands/caller.ts'
import type { Caller, FoundSession } from '../../lib/identity/caller.ts'

/** A session with a new token. */
export interface OpenedSession {
  readonly sessionId: string
  readonly status: 'mfa_required' | 'active'
  readonly mfa: (Offer<WebAuthnRequestOptions> & { readonly challengeId: string }) | null
  readonly token: string
  readonly expiresAt: string
  readonly idleTimeoutSeconds: number
}

/** A step-up challenge as its session requested it, and the methods that it takes now. */
export interface OfferedChallenge extends RequestedChallenge, Offer<WebAuthnRequestOptions> {}

/** An answered challenge, and the session's new token. */
export interface ProvenStepUp {
  readonly proof: StepUpProof
  readonly token: string
}

/** An API key as it is answered, with its text when it has just been created. */
export interface MadeApiKey extends Versioned<ApiKeyView> {
  readonly secret: string
}

/** The reads for authentication and GET routes. */
export interface IdentityReads {
  findSession(tokenSha256: string): Promise<FoundSession | null>
  /** Records that a session was used now. */
  touchSession(sessionId: string): Promise<void>
  /** The open challenge of a session that still needs its second factor. */
  loginChallenge(session: Pick<FoundSession, 'id' | 'userId'>): Promise<OpenedSession['mfa']>
  /** A step-up challenge that the session has requested for the tenant; null when it has requested no such challenge. */
  findChallenge(
    session: Pick<FoundSession, 'id' | 'userId'>,
    tenantId: string,
    id: string,
  ): Promise<OfferedChallenge | null>
  /** Checks whether the session has a step-up proof for the action from the last five minutes. */
  hasProof(question: {
    readonly sessionId: string
    readonly tenantId: string | null
    readonly action: StepUpAction
    readonly subjectId: string | null
    readonly bound: boolean
  }): Promise<boolean>
  /** The operator of a customer; null when there is no such customer. */
  operatorOf(customerId: string): Promise<string | null>
  /** Records the use of a key. */
  noteKeyUse(keyId: string, address: string): Promise<void>
  /**
   * Registers a callback, which gets the hash of a key that changed on any node, or null when any key may have changed.
   */
  onKeyChange(listener: (sha256: string | null) => void): void

  listSessions(userId: string, query: ListQuery<typeof sessionList>): Promise<ListResult<SessionRow>>
  getUser(userId: string): Promise<Versioned<User> | null>
  listFactors(userId: string): Promise<readonly Versioned<MfaFactor>[]>
  getRecoveryCodes(userId: string): Promise<RecoveryCodes>
  listApiKeys(query: ListQuery<typeof apiKeyList>): Promise<ListResult<ApiKeyView>>
  getApiKey(tenant: Tenant, id: string): Promise<Versioned<ApiKeyView> | null>
  listAuditEvents(query: ListQuery<typeof auditEventList>): Promise<ListResult<AuditEvent>>
  /** The person whose password a link resets; null when it is unknown, used or expired. */
  openPasswordReset(token: string): Promise<Linked<{ readonly email: string }> | null>
  /** The capabilities of a role. */
  capabilitiesOf(role: string): readonly Capability[]
}

/** The commands of people for themselves and for the keys of their tenants. Every refusal is thrown as a problem. */
export interface IdentityCommands {
  signIn(body: SignIn, from: { readonly source: Source; readonly requestId: string }): Promise<OpenedSession>
  verifyMfa(by: Caller<'self'>, body: ChallengeVerify & { readonly challengeId: string }): Promise<OpenedSession>
  refresh(by: Caller<'self'>): Promise<OpenedSession>
  signOut(by: Caller<'self'>): Promise<void>
  /** False when the person has no such session. */
  revokeSession(by: Caller<'self'>, sessionId: string): Promise<boolean>

  createChallenge(
    by: Caller<'person'>,
    body: ChallengeCreate,
    display: StepUpChallenge['display'],
  ): Promise<StepUpChallenge>
  verifyChallenge(by: Caller<'self'>, challengeId: string, body: ChallengeVerify): Promise<ProvenStepUp>

  updateUser(by: Caller<'self'>, body: UserUpdate, expected: number | bigint | null): Promise<Versioned<User>>
  changePassword(
    by: Caller<'self'>,
    body: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<void>
  addFactor(by: Caller<'self'>, body: FactorCreate): Promise<NewMfaFactor>
  confirmFactor(by: Caller<'self'>, factorId: string, body: FactorConfirm): Promise<MfaFactor>
  updateFactor(
    by: Caller<'self'>,
    factorId: string,
    body: FactorUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<MfaFactor>>
  removeFactor(by: Caller<'self'>, factorId: string): Promise<void>
  createRecoveryCodes(by: Caller<'self'>): Promise<NewRecoveryCodes>
  /** Returns at once, so that the caller cannot tell whether the address has an account. */
  requestPasswordReset(email: string, from: { readonly source: Source; readonly requestId: string }): void
  completePasswordReset(
    token: string,
    password: string,
    from: { readonly source: Source; readonly requestId: string },
  ): Promise<void>

  createApiKey(by: Caller<'person'>, body: ApiKeyCreate): Promise<MadeApiKey>
  updateApiKey(
    by: Caller<'person'>,
    id: string,
    body: ApiKeyUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<ApiKeyView>>
  rotateApiKey(by: Caller<'person'>, id: string, gracePeriodHours: number): Promise<MadeApiKey>
  revokeApiKey(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
}

/** The reads of members, teams and invitations. Null: no such row of the customer. */
export interface MemberReads {
  listMembers(customerId: string, query: ListQuery<typeof memberList>): Promise<ListResult<Member>>
  getMember(customerId: string, id: string): Promise<Versioned<Member> | null>
  listTeams(customerId: string, query: ListQuery<typeof teamList>): Promise<ListResult<Team>>
  getTeam(customerId: string, id: string): Promise<Versioned<Team> | null>
  listInvitations(customerId: string, query: ListQuery<typeof invitationList>): Promise<ListResult<Invitation>>
  getInvitation(customerId: string, id: string): Promise<Versioned<Invitation> | null>
  /** Reads the invitation behind a link; null when it is unknown, used, revoked or expired. */
  openInvitation(token: string): Promise<Linked<OpenInvitation> | null>
}

/**
 * The commands of members, teams and invitations, for the customer that is the tenant. Every refusal is thrown as a
 * problem.
 */
export interface MemberCommands {
  updateMember(
    by: Caller<'person'>,
    id: string,
    body: MemberUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Member>>
  removeMember(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
  transferPrimaryOwner(by: Caller<'person'>, membershipId: string): Promise<Versioned<Member>>
  createTeam(by: Caller<'person'>, body: TeamCreate): Promise<Versioned<Team>>
  updateTeam(
    by: Caller<'person'>,
    id: string,
    body: TeamUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Team>>
  deleteTeam(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
  invite(by: Caller<'person'>, body: InvitationCreate): Promise<Versioned<Invitation>>
  resendInvitation(by: Caller<'person'>, id: string): Promise<Versioned<Invitation>>
  revokeInvitation(by: Caller<'person'>, id: string): Promise<void>
  acceptInvitation(
    token: string,
    body: InvitationAccept,
    from: Pick<Caller<'self'>, 'requestId'> & { readonly source: Source },
  ): Promise<AcceptedInvitation>
}

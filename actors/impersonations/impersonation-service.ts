/**
 * Impersonations: a session in which one of the staff reads the data of one customer as its members see it. It is a
 * session with a token of its own, so it ends as sessions do, and with the session that opened it. It can write nothing
 * (http/access/authorisation.ts), and each read is in the trail before it is answered.
 */
import { MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import { refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Caller, Impersonated, SessionIdentity } from '../../lib/identity/caller.ts'
import { generateSessionToken, tokenHash } from '../../lib/identity/session.ts'
import type { Impersonation, ImpersonationCreate } from '../../lib/impersonations/impersonation-schema.ts'
import { readCustomer } from '../../storage/customers/customer-queries.ts'
import { endSessions, insertSession } from '../../storage/identity/identity-sessions.ts'
import { recordChange, runChange, type ChangeTransaction } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Node } from '../runtime/node.ts'

/** An impersonation ends after this time at the latest. */
const IMPERSONATION_MS = 30 * MINUTE_MS
/** The length of a query that the trail keeps. */
const QUERY_MAX = 500

/** A read within an impersonation, as the trail keeps it. */
export interface ImpersonatedRead {
  readonly operationId: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
}

export interface ImpersonationReads {
  /** Describes the impersonation of a session. @throws ProblemError `not-found` for any other session */
  currentImpersonation(session: SessionIdentity): Versioned<Impersonation>
  /** Writes a read into the trail. Until it is there, nothing may be answered. @throws database errors */
  noteImpersonatedRead(by: Caller<'person'>, read: ImpersonatedRead): Promise<void>
}

/** The commands. Every refusal is thrown as a problem. */
export interface ImpersonationCommands {
  startImpersonation(
    by: Caller<'person'>,
    body: ImpersonationCreate,
  ): Promise<{ readonly opened: Versioned<Impersonation>; readonly token: string }>
  endImpersonation(by: Caller<'person'>): Promise<void>
}

export interface ImpersonationService {
  readonly reads: ImpersonationReads
  readonly commands: ImpersonationCommands
}

/** Creates the service. */
export function createImpersonationService(
  node: Pick<Node, 'database' | 'clock' | 'ids' | 'random'>,
): ImpersonationService {
  return {
    reads: {
      currentImpersonation: (session) => viewOf(session, impersonatedBy(session)),
      noteImpersonatedRead: (by, { operationId, path, query }) =>
        runChange(node, async (tx) => {
          await record(tx, by, 'impersonation.read', null, { operationId, path, query: query.slice(0, QUERY_MAX) })
        }),
    },
    commands: {
      startImpersonation: (by, body) => start(node, by, body),
      async endImpersonation(by) {
        impersonatedBy(by.session)
        await runChange(node, async (tx) => {
          const { id, userId } = by.session
          if ((await endSessions(tx.client, { userId, only: id, now: tx.now })) === 0) return
          await record(tx, by, 'impersonation.ended', { status: 'active' }, { status: 'ended' })
        })
      },
    },
  }
}

async function start(
  node: Pick<Node, 'database' | 'clock' | 'ids' | 'random'>,
  by: Caller<'person'>,
  { customerId, reason }: ImpersonationCreate,
) {
  const { session, source } = by
  const operatorId = by.tenant.id
  const token = generateSessionToken(node.random)
  const opened = await runChange(node, async (tx) => {
    const { client, ids, now } = tx
    const customer = await readCustomer(client, customerId)
    if (customer?.view.operatorId !== operatorId)
      refuseField('/customerId', 'not_found', 'The operator has no such customer.')
    const impersonation = { customerId, customerName: customer.view.legalName, operatorId, reason }
    const made = {
      id: ids.next(),
      userId: session.userId,
      createdAt: now,
      expiresAt: Math.min(now + IMPERSONATION_MS, session.expiresAt),
    }
    await insertSession(client, {
      ...made,
      tokenSha256: tokenHash(token),
      status: 'active',
      deviceName: null,
      deviceId: null,
      address: source.address,
      userAgent: source.userAgent,
      now,
      impersonation: { customerId, reason, openedBy: session.id },
    })
    const object = { type: 'impersonation', id: made.id } as const
    const started = { action: 'impersonation.started', object, before: null } as const
    const expiresAt = timestamp(made.expiresAt)
    // The reason is in the operator's trail alone: it may tell of a review.
    await recordChange(tx, auditCaller(by), operatorId, { ...started, after: { customerId, reason, expiresAt } })
    await recordChange(tx, auditCaller(by), customerId, { ...started, after: { expiresAt } })
    return viewOf(made, impersonation)
  })
  return { opened, token }
}

/** Writes into the trail of the customer, which is part of its operator's. */
async function record(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  action: 'impersonation.read' | 'impersonation.ended',
  before: object | null,
  after: object,
): Promise<void> {
  const { customerId } = impersonatedBy(by.session)
  const object = { type: 'impersonation', id: by.session.id } as const
  await recordChange(tx, { ...auditCaller(by) }, customerId, { action, object, before, after })
}

/** Returns what a session impersonates. @throws ProblemError `not-found` when it impersonates nobody */
function impersonatedBy({ impersonated }: SessionIdentity): Impersonated {
  return impersonated ?? refuseNotFound()
}

function viewOf(
  { id, userId, createdAt, expiresAt }: Pick<SessionIdentity, 'id' | 'userId' | 'createdAt' | 'expiresAt'>,
  { customerId, customerName, reason }: Impersonated,
): Versioned<Impersonation> {
  return {
    version: 1,
    view: {
      id,
      customerId,
      customerName,
      userId,
      reason,
      createdAt: timestamp(createdAt),
      expiresAt: timestamp(expiresAt),
    },
  }
}

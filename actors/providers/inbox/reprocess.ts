/**
 * Has events of providers used again, when staff have seen what that would change: a preview translates them anew and
 * decides their messages without committing, and its token stands for exactly this difference. Applying with the token
 * does nothing when the difference has become another one.
 *
 * An event that names nothing is assigned by two people when the assignment changes something, as an exception is
 * resolved: the words are the bank's, but staff say what they are about. The first request is kept; the same request of
 * another person, who has seen the same difference, carries it out. An operator that lets one person resolve exceptions
 * (`payments.fourEyesExceptions`) lets one person assign.
 */
import { createHash } from 'node:crypto'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../../lib/base/problems.ts'
import { rolesWith } from '../../../lib/identity/capabilities.ts'
import type { EventProposal } from '../../../lib/providers/provider-event.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import {
  RANGE_EVENTS_MAX,
  type ProviderEventDismiss,
  type ProviderEventReprocess,
  type ProviderEventReprocessing,
  type ProviderEventsReprocess,
} from '../../../lib/providers/provider-event-schema.ts'
import type { Database } from '../../../storage/db/database.ts'
import { peopleInRoles } from '../../../storage/notices/notices.ts'
import { readOperator } from '../../../storage/operators/operators.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { eventsInRange, readProviderEvent } from '../../../storage/providers/provider-event-detail.ts'
import {
  dismissInboxEvent,
  proposeAssignment,
  readInboxEvents,
  reopenInboxEvents,
  type InboxEvent,
} from '../../../storage/providers/provider-inbox.ts'
import { recordChange, runChange, type ChangeDeps, type ChangeTransaction } from '../../commands/changes.ts'
import { auditCaller } from '../../commands/trail.ts'
import { forecast } from './forecast.ts'
import type { InboxPartners, InboxPorts } from './inbox-ports.ts'

/** Events whose bodies are in memory at a time. */
const CHUNK = 20
/** The people who may decide about events. */
const DECIDERS = rolesWith('operations.manage')
const OPEN_STATUSES = ['processed', 'ignored', 'failed', 'duplicate']

export interface ReprocessDeps extends ChangeDeps {
  readonly database: Database
  readonly partners: InboxPartners
  readonly ports: InboxPorts
}

type Difference = ProviderEventReprocessing['events']

/**
 * Shows, or does, what using one event again changes.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `validation-error`, `precondition-failed`
 */
export async function reprocessEvent(
  deps: ReprocessDeps,
  by: Caller<'person'>,
  id: string,
  body: ProviderEventReprocess,
): Promise<ProviderEventReprocessing> {
  const operatorId = by.tenant.id
  const assignTo = body.assignTo?.toLowerCase() ?? null
  const [event] = await readInboxEvents(deps.database, operatorId, [id])
  if (event === undefined) {
    if ((await readProviderEvent(readDatabase(deps.database), operatorId, id)) === null) refuseNotFound()
    refuseTransition('The built-in sandbox told this in the process itself: there is no event to use again.', null, [])
  }
  if (!OPEN_STATUSES.includes(event.status))
    refuseTransition('The event waits to be used.', event.status, OPEN_STATUSES)
  return await again(deps, by, { ids: [id], assignTo, ...body })
}

/**
 * Shows, or does, what using the events of a range again changes. Those that wait to be used are left out.
 *
 * @throws ProblemError `validation-error`, `invalid-transition`, `precondition-failed`
 */
export async function reprocessEvents(
  deps: ReprocessDeps,
  by: Caller<'person'>,
  body: ProviderEventsReprocess,
): Promise<ProviderEventReprocessing> {
  if (Date.parse(body.receivedFrom) > Date.parse(body.receivedTo))
    refuseField('/receivedTo', 'invalid_value', 'Must not be before receivedFrom.')
  const ids = await eventsInRange(readDatabase(deps.database), {
    operatorId: by.tenant.id,
    connectionId: body.connectionId.toLowerCase(),
    from: body.receivedFrom,
    to: body.receivedTo,
    statuses: body.status ?? ['failed', 'ignored'],
    max: RANGE_EVENTS_MAX + 1,
  })
  if (ids.length > RANGE_EVENTS_MAX)
    refuseField('/receivedTo', 'too_large', `The range may hold ${RANGE_EVENTS_MAX} events at most.`, {
      max: RANGE_EVENTS_MAX,
    })
  return await again(deps, by, { ids, assignTo: null, ...body })
}

interface Again extends Pick<ProviderEventReprocess, 'mode' | 'previewToken' | 'reason'> {
  readonly ids: readonly string[]
  readonly assignTo: string | null
}

async function again(
  deps: ReprocessDeps,
  by: Caller<'person'>,
  { ids, assignTo, mode, previewToken, reason }: Again,
): Promise<ProviderEventReprocessing> {
  if (mode === 'apply' && previewToken === undefined)
    refuseField('/previewToken', 'required', 'What is applied has to be shown first.')
  const events: Omit<InboxEvent, 'body'>[] = []
  const difference: Difference = []
  const hash = createHash('sha256')
  for (let at = 0; at < ids.length; at += CHUNK) {
    const chunk = await readInboxEvents(deps.database, by.tenant.id, ids.slice(at, at + CHUNK))
    for (const event of chunk) hash.update(`${event.id} ${event.version} ${assignTo} `)
    const assigned = chunk.map((event) => ({ ...event, assignedId: assignTo ?? event.assignedId }))
    difference.push(...(await forecast(deps, assigned)))
    events.push(...chunk.map(({ body: _, ...event }) => event))
  }
  const token = hash.update(JSON.stringify(difference)).digest('base64url')
  if (assignTo !== null && !difference.some(({ messages }) => messages.some(({ objectId }) => objectId === assignTo)))
    refuseField('/assignTo', 'not_found', 'No message of the event can be about this.')
  const changing = difference.flatMap(({ messages }) => messages).filter(({ outcome }) => outcome === 'applied').length
  const shown = { mode, previewToken: token, events: difference, changing }
  if (mode === 'preview') return { ...shown, status: 'shown' }
  if (token !== previewToken) changed()
  const needsTwo = assignTo !== null && changing > 0
  const decision = { events, assignTo, reason: reason ?? null, difference: needsTwo ? hashOf(difference) : null }
  return { ...shown, status: await apply(deps, by, decision) }
}

const hashOf = (difference: Difference): string =>
  createHash('sha256').update(JSON.stringify(difference)).digest('base64url')

const changed = (): never =>
  refuse('precondition-failed', 'The difference is another one than was shown. Look at it again.')

async function apply(
  deps: ReprocessDeps,
  by: Caller<'person'>,
  {
    events,
    assignTo,
    reason,
    difference,
  }: {
    readonly events: readonly Omit<InboxEvent, 'body'>[]
    readonly assignTo: string | null
    readonly reason: string | null
    /** The hash of what the assignment changes; null: one person decides. */
    readonly difference: string | null
  },
): Promise<'pending_approval' | 'accepted'> {
  return await runChange(deps, async (tx) => {
    const [assigned] = events
    if (assigned !== undefined && assignTo !== null && difference !== null) {
      const wanted = { assignTo, difference, reason }
      if (!(await isConfirmed(tx, by, assigned.proposal, wanted))) {
        await propose(tx, by, assigned, wanted)
        return 'pending_approval'
      }
    }
    const decision = { events, by: by.session.userId, reason, now: tx.now }
    if (!(await reopenInboxEvents(tx.client, decision, assignTo))) changed()
    for (const { id, status } of events)
      await recordChange(tx, auditCaller(by), by.tenant.id, {
        action: assignTo === null ? 'provider_event.reprocessed' : 'provider_event.assigned',
        object: { type: 'provider_event', id },
        before: { status },
        after: { status: 'received', ...(assignTo === null ? {} : { assignedId: assignTo }), reason },
      })
    return 'accepted'
  })
}

type Assignment = Pick<EventProposal, 'assignTo' | 'difference' | 'reason'>

/** Whether another person, who may still decide, has asked for the same; or the operator lets one person decide. */
async function isConfirmed(
  { client }: ChangeTransaction,
  by: Caller<'person'>,
  proposal: EventProposal | null,
  { assignTo, difference }: Assignment,
): Promise<boolean> {
  const operatorId = by.tenant.id
  if ((await readOperator(client, operatorId))?.payments.fourEyesExceptions === false) return true
  if (proposal === null || proposal.proposedBy === by.session.userId) return false
  if (proposal.assignTo !== assignTo || proposal.difference !== difference) return false
  return (await peopleInRoles(client, operatorId, DECIDERS)).includes(proposal.proposedBy)
}

async function propose(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  event: Omit<InboxEvent, 'body'>,
  assignment: Assignment,
): Promise<void> {
  const { userId: proposedBy, name: proposedByName } = by.session
  const proposal = { ...assignment, proposedBy, proposedByName, proposedAt: tx.now }
  if (!(await proposeAssignment(tx.client, event, proposal))) changed()
  await recordChange(tx, auditCaller(by), by.tenant.id, {
    action: 'provider_event.assignment_proposed',
    object: { type: 'provider_event', id: event.id },
    before: { status: event.status },
    after: { status: event.status, assignedId: assignment.assignTo, reason: assignment.reason },
  })
}

/**
 * Puts an event aside that matches nothing, or has failed.
 *
 * @throws ProblemError `not-found`, and `invalid-transition` for any other event
 */
export async function dismissEvent(
  deps: ReprocessDeps,
  by: Caller<'person'>,
  id: string,
  { reason }: ProviderEventDismiss,
): Promise<void> {
  const [event] = await readInboxEvents(deps.database, by.tenant.id, [id])
  if (event === undefined) refuseNotFound()
  const isOpen =
    event.status === 'failed' ||
    (event.status === 'ignored' && event.reason === 'unmatched') ||
    event.reason === 'connection_unusable'
  if (!isOpen)
    refuseTransition(
      'Only an event that has failed, matches nothing, or waits for a connection that cannot be opened, is dismissed.',
      event.status,
      ['failed', 'ignored'],
    )
  await runChange(deps, async (tx) => {
    const decision = { events: [event], by: by.session.userId, reason, now: tx.now }
    if (!(await dismissInboxEvent(tx.client, decision)))
      refuseTransition('The event has changed meanwhile.', event.status, ['failed', 'ignored'])
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'provider_event.dismissed',
      object: { type: 'provider_event', id },
      before: { status: event.status, reason: event.reason },
      after: { status: 'ignored', reason },
    })
  })
}

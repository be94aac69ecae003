/**
 * The operations of people on the cards of their customer. Keys never manage cards.
 */
import { ProblemError, refuse, refuseField, refuseNotFound, type Problem } from '../../lib/base/problems.ts'
import { laterThan } from '../../lib/base/clock.ts'
import { controlsWritten, cardJson, limitsWritten } from '../../lib/cards/card-view.ts'
import { moveCard, type CardCloseReason, type CardMove, type CardRecord } from '../../lib/cards/card.ts'
import type { Card, CardControlsWrite, CardCreate, CardLimitsWrite } from '../../lib/cards/card-schema.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Command, CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { countOpenCards, insertCard, lockCard, updateCard, type CardEdit } from '../../storage/cards/cards.ts'
import { holdCardBalance, isActiveMember } from '../../storage/cards/card-facts.ts'
import { lockMembers } from '../../storage/identity/members.ts'
import { recordChange, runChange, type ChangeDeps, type ChangeTransaction } from '../commands/changes.ts'
import { decideOnce, runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CardIssuer } from './issuer.ts'

export interface CardDeps extends ChangeDeps, RunOnceDeps {
  readonly database: ChangeDeps['database'] & RunOnceDeps['database']
  readonly clock: ChangeDeps['clock'] & RunOnceDeps['clock']
  readonly issuer: CardIssuer
}

/** More than any company gives out; each open card is looked at when the customer closes. */
const OPEN_CARDS_MAX = 10_000

const versioned = (card: CardRecord): Versioned<Card> => ({ version: card.version, view: cardJson(card) })

/** The only holder whose cards a caller sees; null for callers that manage all cards of their customer. */
export const onlyHolder = ({ principal }: Pick<Caller, 'principal'>): string | null =>
  principal.capabilities.has('cards.manage') ? null : principal.id

/**
 * Locks a card of the caller's customer that the caller may manage.
 *
 * @throws ProblemError `not-found`; `precondition-failed` for another version
 */
async function lockOwn(
  { client }: ChangeTransaction,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null = null,
): Promise<CardRecord> {
  const card = await lockCard(client, by.tenant.id, id)
  if (card === null || (onlyHolder(by) ?? card.holderUserId) !== card.holderUserId) refuseNotFound()
  checkVersion(versioned(card), expected)
  return card
}

/** Writes a change of a locked card and its entry in the trail. */
async function write(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  card: CardRecord,
  edit: CardEdit,
  action: 'card.activated' | 'card.frozen' | 'card.unfrozen' | 'card.closed' | 'card.limits_set' | 'card.controls_set',
): Promise<CardRecord> {
  const now = laterThan(card.updatedAt, tx.now)
  await updateCard(tx.client, card, edit, now)
  const written = (await lockCard(tx.client, card.customerId, card.id)) as CardRecord
  await recordChange(tx, auditCaller(by), card.customerId, {
    action,
    object: { type: 'card', id: card.id },
    before: cardJson(card),
    after: cardJson(written),
  })
  return written
}

/**
 * Issues a card to a member of the customer.
 *
 * @throws ProblemError `validation-error`, `limit-reached`, `capability-missing`, and what `decideOnce` throws
 */
export async function issueCard(
  deps: CardDeps,
  by: Caller<'person'>,
  command: Command<CardCreate>,
): Promise<CommandAnswer<Card, 201>> {
  const { ids, clock, issuer } = deps
  const { body } = command
  return await decideOnce(deps, command, 201, async (client) => {
    const tx = { client, ids, now: clock.now() }
    const customerId = by.tenant.id
    const balance = await holdCardBalance(client, customerId, body.balanceId)
    if (balance === null) refuseField('/balanceId', 'not_found', 'No such balance.')
    if (balance.status !== 'active') refuseField('/balanceId', 'inactive', `The balance is ${balance.status}.`)
    if (!(await isActiveMember(client, customerId, body.holderUserId)))
      refuseField('/holderUserId', 'not_found', 'No such member.')
    if (!issuer.issues(balance.provider))
      refuse('rail-unavailable', 'The banking partner of the balance issues no cards.', {
        extra: { reason: 'not_offered' },
      })
    await lockMembers(client, customerId)
    if ((await countOpenCards(client, customerId)) >= OPEN_CARDS_MAX)
      refuse('limit-reached', `A customer has ${OPEN_CARDS_MAX} open cards at most.`, {
        extra: { limit: OPEN_CARDS_MAX },
      })
    const replaced = body.replacesCardId == null ? null : await lockReplaced(tx, by, body.replacesCardId)
    const id = ids.next()
    const issued = await issuer.issue({
      reference: id,
      connectionId: balance.connectionId,
      type: body.type,
      holderUserId: body.holderUserId,
      at: tx.now,
    })
    const card: CardRecord = {
      id,
      customerId,
      operatorId: balance.operatorId,
      connectionId: balance.connectionId,
      shard: balance.shard,
      balanceId: body.balanceId,
      currency: balance.currency,
      holderUserId: body.holderUserId,
      type: body.type,
      label: body.label ?? null,
      status: body.type === 'virtual' ? 'active' : 'inactive',
      version: 1,
      ...issued,
      limits: limitsWritten(body.limits ?? {}, balance.currency, '/limits'),
      controls: controlsWritten(body.controls ?? {}),
      cancelAfterPayments: body.cancelAfterPayments ?? null,
      payments: 0,
      used: [],
      zone: 'UTC',
      closeReason: null,
      replacesCardId: replaced?.id ?? null,
      replacedByCardId: null,
      createdBy: by.principal.id,
      createdAt: tx.now,
      updatedAt: tx.now,
    }
    await insertCard(client, card)
    if (replaced !== null) await updateCard(client, replaced, { replacedByCardId: id }, tx.now)
    const { view } = versioned(card)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'card.issued',
      object: { type: 'card', id },
      before: null,
      after: view,
    })
    return { shown: { version: 1, view }, made: { type: 'card', id } }
  })
}

async function lockReplaced(tx: ChangeTransaction, by: Caller<'person'>, id: string): Promise<CardRecord> {
  const replaced = await lockCard(tx.client, by.tenant.id, id)
  if (replaced === null) refuseField('/replacesCardId', 'not_found', 'No such card.')
  if (replaced.status !== 'closed' && replaced.status !== 'expired')
    refuseField('/replacesCardId', 'invalid_value', 'A card is replaced when it is closed or has expired.')
  if (replaced.replacedByCardId !== null)
    refuseField('/replacesCardId', 'invalid_value', 'The card has been replaced already.')
  return replaced
}

const isProblem = (reached: string | Problem): reached is Problem => typeof reached !== 'string'

const ACTIONS = { activate: 'card.activated', freeze: 'card.frozen', unfreeze: 'card.unfrozen' } as const

/** Moves a card to another status. @throws ProblemError `not-found`, `invalid-transition` */
export async function moveOwnCard(
  deps: CardDeps,
  by: Caller<'person'>,
  id: string,
  move: keyof typeof ACTIONS & CardMove,
): Promise<Versioned<Card>> {
  return await runChange(deps, async (tx) => {
    const card = await lockOwn(tx, by, id)
    const reached = moveCard(card.status, move)
    if (isProblem(reached)) throw new ProblemError(reached)
    return versioned(await write(tx, by, card, { status: reached }, ACTIONS[move]))
  })
}

/**
 * Closes a card for good. What was authorised is still cleared.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, and what `runOnce` throws
 */
export async function closeCard(
  deps: CardDeps,
  by: Caller<'person'>,
  { id, reason }: { readonly id: string; readonly reason: CardCloseReason },
  idempotency: Idempotency | null,
): Promise<CommandAnswer<Card, 200>> {
  return await runOnce(deps, idempotency, 200, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const card = await lockOwn(tx, by, id)
    const reached = moveCard(card.status, 'close')
    if (isProblem(reached)) throw new ProblemError(reached)
    return versioned(await write(tx, by, card, { status: reached, closeReason: reason }, 'card.closed')).view
  })
}

/** Sets all limits of a card. @throws ProblemError `not-found`, `precondition-failed`, `validation-error` */
export async function setCardLimits(
  deps: CardDeps,
  by: Caller<'person'>,
  id: string,
  body: CardLimitsWrite,
  expected: number | bigint | null,
): Promise<Versioned<Card>> {
  return await runChange(deps, async (tx) => {
    const card = await lockOwn(tx, by, id, expected)
    const limits = limitsWritten(body, card.currency, '')
    return versioned(await write(tx, by, card, { limits }, 'card.limits_set'))
  })
}

/** Sets all controls of a card. @throws ProblemError `not-found`, `precondition-failed` */
export async function setCardControls(
  deps: CardDeps,
  by: Caller<'person'>,
  id: string,
  body: CardControlsWrite,
  expected: number | bigint | null,
): Promise<Versioned<Card>> {
  return await runChange(deps, async (tx) => {
    const card = await lockOwn(tx, by, id, expected)
    return versioned(await write(tx, by, card, { controls: controlsWritten(body) }, 'card.controls_set'))
  })
}

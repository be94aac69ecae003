/**
 * Creates and changes recipients: a checked request becomes a row, its review, its events and its trail entry, all in
 * one transaction.
 *
 *  * A recipient is stored only when the table of requirements accepts it, its bank does not reject its name (or a
 *    person accepts the mismatch), and no other recipient of the customer has the same account.
 *  * The bank is asked before the transaction begins, so that no lock is held while a partner is slow.
 *  * An idempotency key keeps its answer. The answer is stored with the change that it reports, for success and refusal
 *    alike.
 *  * Every node that listens knows of a change before the change is answered, so that no payment uses the old details.
 */
import { withEditor } from '../../lib/approvals/requesters.ts'
import {
  withdrawReviews,
  beginReview,
  lockPendingReviews,
  statusEvent,
  type RecipientMaker,
  type ReviewDeps,
} from './review-recipient.ts'
import { pauseSchedulesTo } from '../scheduled-payments/change-schedule.ts'
import { withdrawWaiting } from '../payments/cancel-payment.ts'
import { checkPayee as askAboutPayee, type PayeeDeps } from '../payments/verify-payee.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { RecipientReviews } from './recipient-reviews.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import { inStoredOrder, patchedMetadata } from '../../lib/base/metadata.ts'
import { ProblemError, refuse, type FieldError, type Problem } from '../../lib/base/problems.ts'
import { RECIPIENT_CHANGED } from '../../lib/payments/release-payment.ts'
import { payeeOf } from '../../lib/recipients/payee.ts'
import { verificationOf } from '../../lib/recipients/requirements.ts'
import { canChange } from '../../lib/recipients/review.ts'
import {
  accountIdentityOf,
  validateRecipient,
  type CheckedRecipient,
  type RecipientInput,
  type ValidationDeps,
} from '../../lib/recipients/validation.ts'
import {
  verificationGate,
  withStandingOverride,
  type OverrideInput,
  type RecipientVerification,
  type VerificationPolicy,
} from '../../lib/recipients/verification.ts'
import { findPlatformAccount } from '../../storage/accounts/account-details.ts'
import { batchPaymentsTo } from '../../storage/bulk-payments/bulk-runs.ts'
import {
  CommitConflict,
  pendingPaymentApprovals,
  writeEffects,
  type ApprovalTx,
} from '../../storage/approvals/approvals.ts'
import { scheduledPaymentsTo } from '../../storage/payments/due-payments.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import type { RecipientRecord } from '../../storage/recipients/recipient-queries.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import { schedulesTo } from '../../storage/scheduled-payments/scheduled-payments.ts'
import { lostRace } from '../../storage/db/sqlstates.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { Recipient, RecipientCreate, RecipientUpdate } from '../../lib/recipients/recipient-schema.ts'
import type { Command, CommandAnswer, Idempotency, IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'

/** The maximum number of recipients of one customer that are not deleted. */
export const RECIPIENTS_MAX = 50_000
/** The maximum number of payments that are named when they prevent a deletion. */
const NAMED_MAX = 20
const ATTEMPTS_MAX = 5

export interface RecipientDeps extends ValidationDeps, ReviewDeps, PayeeDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly mailer: Mailer
  readonly problemBase: string
  readonly onError: (error: unknown, what: string) => void
  readonly approvals: Pick<Approvals, 'cancel'>
  readonly reviews: Pick<RecipientReviews, 'decide'>
  /** Resolves when every node that caches the recipient has dropped it from its cache. */
  readonly forget: (recipientId: string) => Promise<void>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/**
 * The ids of everything that waits to pay a recipient: approvals, payments that wait for their date, and payments that
 * wait for the approval of their file.
 */
interface Waiting {
  readonly approvals: readonly string[]
  readonly payments: readonly string[]
  readonly batchPayments: readonly string[]
}
const NOBODY_WAITS: Waiting = { approvals: [], payments: [], batchPayments: [] }

/** A requested recipient, before any check. */
export type NewRecipient = RecipientInput &
  Pick<RecipientCreate, 'nickname' | 'email' | 'defaultReference' | 'externalId' | 'metadata' | 'verificationOverride'>

/** Write operations. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency key. */
export interface RecipientCommands {
  create(by: ByCaller, command: Command<RecipientCreate>): Promise<CommandAnswer>
  /**
   * Creates a recipient on behalf of other work. A repeated call for a recipient that it has created is a
   * `duplicate-recipient`.
   */
  make(
    maker: RecipientMaker,
    body: NewRecipient,
    options: { readonly verify: boolean },
  ): Promise<{ readonly id: string } | { readonly refused: Problem }>
  update(
    by: ByCaller,
    id: string,
    body: RecipientUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Recipient>>
  remove(by: ByCaller, id: string, expected: number | bigint | null): Promise<void>
  verify(by: ByCaller, id: string): Promise<RecipientVerification>
  /** Records a staff decision on a review that waits for staff. */
  review(
    by: ByCaller,
    reviewId: string,
    decision: { readonly decision: 'approved' | 'rejected'; readonly reason: string | null },
  ): Promise<void>
  /** Blocks an active recipient from being paid, or unblocks it. For staff. */
  block(by: ByCaller, id: string, change: { readonly blocked: boolean; readonly reason: string | null }): Promise<void>
}

/** The part of a recipient that the trail keeps: enough to identify it, without an account number. */
function state({
  name,
  type,
  currency,
  maskedIdentifier,
  status,
  verification,
  externalId,
  nickname,
  email,
  defaultReference,
  purpose,
  metadata,
}: RecipientRecord['view']): object {
  return {
    name,
    type,
    currency,
    maskedIdentifier,
    status,
    verification: verification?.outcome ?? null,
    externalId,
    nickname,
    email,
    defaultReference,
    purpose,
    metadata,
  }
}

export function createRecipientCommands(world: RecipientDeps): RecipientCommands {
  const { database, ids, clock } = world
  /** The idempotency keys of recipients that are being created on this node. */
  const underWay = new Set<string>()

  async function transaction<Result>(work: (tx: ApprovalTx) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction(database, async (client) => work({ client, ids, now: clock.now() }))
      } catch (error) {
        if (attempt >= ATTEMPTS_MAX || !lostRace(error)) throw error
      }
    }
  }

  const audit = async (
    tx: ApprovalTx,
    by: ByCaller,
    action: string,
    id: string,
    before: RecipientRecord | null,
    after: RecipientRecord | null,
  ): Promise<void> => await auditAs(tx, { customerId: by.tenant.id, trail: auditCaller(by) }, action, id, before, after)

  async function auditAs(
    { client, now }: ApprovalTx,
    { customerId, trail }: Pick<RecipientMaker, 'customerId' | 'trail'>,
    action: string,
    id: string,
    before: RecipientRecord | null,
    after: RecipientRecord | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...trail,
      id: ids.next(),
      tenantId: customerId,
      at: now,
      action,
      object: { type: 'recipient', id },
      before: before === null ? null : state(before.view),
      after: after === null ? null : state(after.view),
    })
  }

  /** Refuses an account or an external id that another recipient has. */
  async function checkUnique(
    client: TransactionClient,
    customerId: string,
    {
      currency,
      accountIdentity,
      externalId,
    }: { readonly currency: string; readonly accountIdentity: string | null; readonly externalId: string | null },
    except: string | null,
  ): Promise<void> {
    const account =
      accountIdentity === null
        ? null
        : await rows.recipientWithAccount(client, { customerId, currency, accountIdentity, except })
    if (account !== null)
      refuse('duplicate-recipient', 'A recipient with this account and currency exists.', {
        extra: { existingId: account },
      })
    const owner =
      externalId === null ? null : await rows.recipientWithExternalId(client, { customerId, externalId, except })
    if (owner !== null)
      refuse('duplicate-external-id', `externalId ${externalId} belongs to another recipient.`, {
        extra: { existingId: owner },
      })
  }

  /** Asks our own records or the bank about the name of a recipient; null when no check of names is available. */
  async function checkPayee(
    customerId: string,
    recipient: { readonly name: string; readonly type: 'business' | 'individual'; readonly currency: string } & Pick<
      CheckedRecipient,
      'bank' | 'bankCountry'
    >,
  ): Promise<RecipientVerification | null> {
    const { name, currency, bank } = recipient
    return await askAboutPayee(world, {
      name,
      payee: payeeOf(recipient),
      platformAccount: await findPlatformAccount(database, { customerId, currency, bank }),
    })
  }

  /** Accepts the result of a name check, or refuses it. */
  function admit(
    checked: RecipientVerification | null,
    policy: VerificationPolicy,
    override: OverrideInput | null,
    by: string,
  ): RecipientVerification | null {
    if (checked === null) return null
    const gate = verificationGate(checked, { policy, override, by, now: clock.now() })
    if ('refused' in gate) throw new ProblemError(gate.refused)
    return gate.verification
  }

  const requesterOf = ({ principal }: ByCaller) => ({
    id: principal.id,
    name: principal.name,
    byKey: principal.kind === 'key',
  })

  async function locked(
    { client }: ApprovalTx,
    by: ByCaller,
    id: string,
    expected: number | bigint | null,
  ): Promise<RecipientRecord> {
    const found = await rows.lockRecipient(client, by.tenant.id, id)
    if (found === null) refuse('not-found', 'No such resource exists in this tenant.')
    if (expected !== null && found.version !== BigInt(expected)) {
      refuse('precondition-failed', 'The resource has changed since it was read.', {
        extra: { currentEtag: etagOf(found) },
      })
    }
    return found
  }

  async function reread(tx: ApprovalTx, customerId: string, id: string): Promise<RecipientRecord> {
    const found = await rows.lockRecipient(tx.client, customerId, id)
    if (found === null) throw new Error(`The recipient ${id} has vanished.`)
    return found
  }

  /** Finds the payments to a recipient that wait for approval or for their date. */
  async function waitingFor(client: TransactionClient, customerId: string, id: string): Promise<Waiting> {
    return {
      approvals: await pendingPaymentApprovals(client, customerId, id),
      payments: await scheduledPaymentsTo(client, customerId, id),
      batchPayments: await batchPaymentsTo(client, customerId, id),
    }
  }

  /** Cancels the payments that wait, because the recipient has changed. */
  async function cancelWaiting(by: ByCaller, waiting: Waiting): Promise<void> {
    for (const approvalId of waiting.approvals)
      await world.approvals.cancel({ approvalId, reason: 'recipient_changed', by: auditCaller(by) })
    const withdrawal = { status: 'cancelled', reason: RECIPIENT_CHANGED, by: 'system' } as const
    for (const paymentId of waiting.payments) await withdrawWaiting(world, paymentId, 'scheduled', withdrawal, null)
    for (const paymentId of waiting.batchPayments)
      await withdrawWaiting(world, paymentId, 'pending_approval', withdrawal, null)
  }

  // ── Create ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Writes a new recipient, or finds the problem that prevents it. The result of `yes` or `no` is written in the same
   * transaction.
   */
  async function make<Result>(
    maker: RecipientMaker,
    body: NewRecipient,
    verification: RecipientVerification | null,
    end: {
      yes(tx: ApprovalTx, made: RecipientRecord): Promise<Result>
      no(tx: ApprovalTx, problem: Problem): Promise<Result>
    },
  ): Promise<Result> {
    const { customerId, requester } = maker
    const checked = checkedOrRefuse(world, body)
    const externalId = body.externalId ?? null
    return await transaction(async (tx) => {
      const { client, now } = tx
      await rows.lockRecipientsOf(client, customerId)
      const customer = await rows.recipientCustomer(client, customerId)
      const refused = await refusalOf(async () => {
        await checkUnique(client, customerId, { ...checked, currency: body.currency, externalId }, null)
        if (await rows.hasRecipients(client, customerId, RECIPIENTS_MAX)) {
          refuse('limit-reached', `A customer may have at most ${RECIPIENTS_MAX} recipients.`, {
            extra: { limit: RECIPIENTS_MAX, resource: 'recipient' },
          })
        }
        admit(verification, customer.policy, body.verificationOverride ?? null, requester.id)
      })
      if (refused !== null) return await end.no(tx, refused)
      const id = ids.next()
      const { name } = body
      const review = await beginReview(
        tx,
        world,
        { id, customerId, name, maskedIdentifier: checked.maskedIdentifier },
        { customer, requester, wasRejected: false },
      )
      const status = review === null ? 'active' : 'pending_approval'
      await rows.insertRecipient(
        client,
        { id, customerId, createdBy: requester.id, now },
        {
          ...checked,
          type: body.type,
          name,
          currency: body.currency,
          nickname: body.nickname ?? null,
          email: body.email ?? null,
          defaultReference: body.defaultReference ?? null,
          purpose: body.purpose,
          externalId,
          metadata: inStoredOrder(body.metadata ?? {}),
          status,
          verification: admit(verification, customer.policy, body.verificationOverride ?? null, requester.id),
          approval: review,
        },
      )
      const made = await reread(tx, customerId, id)
      await auditAs(tx, maker, 'recipient.created', id, null, made)
      await writeEffects(tx, { events: [statusEvent(tx, customer, { id, customerId, status, previousStatus: null })] })
      return await end.yes(tx, made)
    })
  }

  async function create(by: ByCaller, { body }: Command<RecipientCreate>, remember: Remember): Promise<CommandAnswer> {
    const input = { ...body, address: body.address ?? null, purpose: body.purpose ?? null }
    const verification = await checkPayee(by.tenant.id, { ...body, ...checkedOrRefuse(world, input) })
    return await make(
      { customerId: by.tenant.id, requester: requesterOf(by), trail: auditCaller(by) },
      input,
      verification,
      remember,
    )
  }

  async function createOnce(
    by: ByCaller,
    command: Command<RecipientCreate>,
    idempotency: Idempotency,
  ): Promise<CommandAnswer> {
    const known = await recordedAnswer(idempotency)
    if (known !== null) return known
    try {
      return await create(by, command, remembering(world, command, idempotency))
    } catch (error) {
      // Another node was first, or the body is invalid under a key that already has an answer.
      if (error instanceof CommitConflict || error instanceof ProblemError)
        return (await recordedAnswer(idempotency)) ?? raise(error)
      throw error
    }
  }

  async function recordedAnswer(idempotency: Idempotency): Promise<CommandAnswer | null> {
    const record = await world.findIdempotencyRecord(idempotency.id)
    if (record === null) return null
    if (record.fingerprint !== idempotency.fingerprint) {
      refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', {
        extra: { firstUsedAt: record.createdAt },
      })
    }
    return record.answer
  }

  // ── Update ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Computes a recipient after a change; `reviewed` says whether staff have to review it again. */
  function changed(
    before: RecipientRecord,
    body: RecipientUpdate,
  ): {
    readonly values: Omit<rows.RecipientValues, 'status' | 'verification' | 'approval'>
    readonly reviewed: boolean
    readonly any: boolean
  } {
    const { view } = before
    const keep = <Name extends keyof RecipientUpdate & keyof typeof view>(name: Name) =>
      (body[name] === undefined ? view[name] : body[name]) as (typeof view)[Name]
    const purpose = keep('purpose')
    const input = {
      type: keep('type'),
      name: keep('name'),
      currency: view.currency,
      address: keep('address'),
      bank: body.bank ?? bankInput(before),
      purpose,
    }
    const checked = CHECKED.some((member) => body[member] !== undefined)
      ? checkedOrRefuse(world, input)
      : keptOf(before)
    const metadata = body.metadata === undefined ? view.metadata : patchedMetadata(view.metadata, body.metadata)
    if (!fitsMetadata(metadata)) refuseField({ field: '/metadata', code: 'too_large', message: 'Is too large.' })
    const values = {
      ...checked,
      type: input.type,
      name: input.name,
      currency: view.currency,
      nickname: keep('nickname'),
      email: keep('email'),
      defaultReference: keep('defaultReference'),
      purpose,
      externalId: keep('externalId'),
      metadata,
    }
    const reviewed = !same(
      [input.type, input.name, checked.bankCountry, checked.bank, checked.address],
      [view.type, view.name, view.bank.bankCountry, before.bank, view.address],
    )
    const others = [
      values.nickname,
      values.email,
      values.defaultReference,
      values.purpose,
      values.externalId,
      values.metadata,
    ]
    const any =
      reviewed ||
      !same(others, [view.nickname, view.email, view.defaultReference, view.purpose, view.externalId, view.metadata])
    return { values, reviewed, any }
  }

  /** Applies a change to the version of a recipient that was read; null when the recipient has changed since. */
  async function updateFrom(
    seen: RecipientRecord,
    by: ByCaller,
    body: RecipientUpdate,
    expected: number | bigint | null,
  ): Promise<RecipientRecord | null> {
    const customerId = by.tenant.id
    const { id } = seen.view
    const planned = changed(seen, body)
    const verification = planned.reviewed ? await checkPayee(customerId, planned.values) : null
    const written = await transaction(async (tx) => {
      const { client, now } = tx
      await rows.lockRecipientsOf(client, customerId)
      const pending = await lockPendingReviews(tx, id)
      const before = await locked(tx, by, id, expected)
      // The bank was asked about the version read before; the current version needs a new check.
      if (before.version !== seen.version) return null
      if (!planned.any) return { after: before, waiting: NOBODY_WAITS }
      const { status } = before.view
      if (!canChange(status, planned.reviewed))
        refuse('invalid-transition', `The recipient is ${status}.`, { extra: { currentStatus: status, allowed: [] } })
      await checkUnique(client, customerId, planned.values, id)
      const customer = await rows.recipientCustomer(client, customerId)
      let next: Pick<rows.RecipientValues, 'status' | 'verification' | 'approval'> = before.view
      if (planned.reviewed) {
        const admitted = admit(verification, customer.policy, body.verificationOverride ?? null, by.principal.id)
        await withdrawReviews(tx, id, pending, 'recipient_changed', auditCaller(by))
        const { name, maskedIdentifier } = planned.values
        const review = await beginReview(
          tx,
          world,
          { id, customerId, name, maskedIdentifier },
          {
            customer,
            requester: requesterOf(by),
            shapedBy: [before.view.createdBy, ...before.editors.map((editor) => editor.id)],
            wasRejected: status === 'rejected',
          },
        )
        next = { status: review === null ? 'active' : 'pending_approval', verification: admitted, approval: review }
      }
      const editors = planned.reviewed ? withEditor(before.editors, by.principal.id, now) : before.editors
      await rows.updateRecipient(
        client,
        { id, editors, now },
        { ...planned.values, status: next.status, verification: next.verification, approval: next.approval },
      )
      const after = await reread(tx, customerId, id)
      await audit(tx, by, 'recipient.updated', id, before, after)
      if (next.status !== status)
        await writeEffects(tx, {
          events: [statusEvent(tx, customer, { id, customerId, status: next.status, previousStatus: status })],
        })
      return { after, waiting: planned.reviewed ? await waitingFor(client, customerId, id) : NOBODY_WAITS }
    })
    if (written === null) return null
    await world.forget(id)
    await cancelWaiting(by, written.waiting)
    return written.after
  }

  async function read(by: ByCaller, id: string): Promise<RecipientRecord> {
    return await transaction(async (tx) => locked(tx, by, id, null))
  }

  return {
    async create(by, command) {
      const { idempotency } = command
      if (idempotency === null) return await create(by, command, remembering(world, command, null))
      if (underWay.has(idempotency.id))
        refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
      underWay.add(idempotency.id)
      try {
        return await createOnce(by, command, idempotency)
      } finally {
        underWay.delete(idempotency.id)
      }
    },

    async make(maker, body, { verify }) {
      try {
        const verification = verify
          ? await checkPayee(maker.customerId, { ...body, ...checkedOrRefuse(world, body) })
          : null
        return await make<{ readonly id: string } | { readonly refused: Problem }>(maker, body, verification, {
          yes: async (_tx, { view: { id } }) => ({ id }),
          no: async (_tx, refused) => ({ refused }),
        })
      } catch (error) {
        if (error instanceof ProblemError) return { refused: error.problem }
        throw error
      }
    },

    async update(by, id, body, expected) {
      for (let attempt = 1; ; attempt++) {
        const updated = await updateFrom(await read(by, id), by, body, expected)
        if (updated !== null) return updated
        if (attempt >= ATTEMPTS_MAX)
          refuse('service-unavailable', 'The recipient keeps changing; try again.', { retryAfterSeconds: 1 })
      }
    },

    async remove(by, id, expected) {
      const customerId = by.tenant.id
      await transaction(async (tx) => {
        const { client, now } = tx
        const pending = await lockPendingReviews(tx, id)
        const before = await locked(tx, by, id, expected)
        const customer = await rows.recipientCustomer(client, customerId)
        const paymentIds = await rows.openPaymentsTo(client, {
          customerId,
          recipientId: id,
          shard: customer.shard,
          max: NAMED_MAX,
        })
        const scheduledPaymentIds = await schedulesTo(client, id, NAMED_MAX)
        if (paymentIds.length > 0 || scheduledPaymentIds.length > 0) {
          refuse('recipient-in-use', 'Payments that are not finished, or scheduled ones, use the recipient.', {
            extra: { paymentIds, scheduledPaymentIds },
          })
        }
        await withdrawReviews(tx, id, pending, 'recipient_deleted', auditCaller(by))
        const { status } = before.view
        const { approval } = before.view
        await rows.setRecipientState(client, id, {
          status: 'deleted',
          approval: approval?.status === 'pending' ? { ...approval, status: 'cancelled' } : approval,
          now,
        })
        await audit(tx, by, 'recipient.deleted', id, before, null)
        await writeEffects(tx, {
          events: [statusEvent(tx, customer, { id, customerId, status: 'deleted', previousStatus: status })],
        })
      })
      await world.forget(id)
    },

    async verify(by, id) {
      const { tenant } = by
      const seen = await read(by, id)
      const { currency, name, type } = seen.view
      const checked = await checkPayee(tenant.id, {
        currency,
        name,
        type,
        bankCountry: seen.view.bank.bankCountry,
        bank: seen.bank as CheckedRecipient['bank'],
      })
      if (checked === null) {
        const { scheme } = verificationOf(currency as CurrencyCode, seen.view.bank.bankCountry)
        refuse('verification-unavailable', `No bank checks names for ${currency} in ${seen.view.bank.bankCountry}.`, {
          extra: { scheme },
        })
      }
      const verification = await transaction(async (tx) => {
        const before = await locked(tx, by, id, null)
        const standing = withStandingOverride(checked, before.view.verification)
        // The recipient has changed since the bank was asked: the answer is returned, but not stored with the
        // recipient.
        if (!same([before.view.name, before.view.type, before.bank], [name, type, seen.bank])) return checked
        await rows.setRecipientVerification(tx.client, id, standing, tx.now)
        await audit(tx, by, 'recipient.verified', id, before, await reread(tx, tenant.id, id))
        return standing
      })
      await world.forget(id)
      return verification
    },

    review: (by, reviewId, { decision, reason }) =>
      world.reviews.decide({ reviewId, operatorId: by.tenant.id, decision, reason, by: auditCaller(by) }),

    async block(by, id, { blocked, reason }) {
      const { waiting, mails } = await transaction(async (tx) => {
        const { client, now } = tx
        const customerId = await rows.customerOfRecipient(client, by.tenant.id, id)
        const before = customerId === null ? null : await rows.lockRecipient(client, customerId, id)
        if (customerId === null || before === null) refuse('not-found', 'No such resource exists in this tenant.')
        const { status } = before.view
        const [from, to] = blocked ? (['active', 'blocked'] as const) : (['blocked', 'active'] as const)
        if (status !== from)
          refuse('invalid-transition', `The recipient is ${status}.`, { extra: { currentStatus: status, allowed: [] } })
        await rows.setRecipientState(client, id, { status: to, approval: before.view.approval, now })
        const customer = await rows.recipientCustomer(client, customerId)
        await writeEffects(tx, {
          events: [statusEvent(tx, customer, { id, customerId, status: to, previousStatus: from })],
        })
        await writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: by.tenant.id,
          at: now,
          action: blocked ? 'recipient.blocked' : 'recipient.unblocked',
          object: { type: 'recipient', id },
          before: { status: from },
          after: { status: to, reason, customerId },
        })
        return blocked
          ? { waiting: await waitingFor(client, customerId, id), mails: await pauseSchedulesTo(tx, id) }
          : { waiting: NOBODY_WAITS, mails: [] }
      })
      await world.forget(id)
      await cancelWaiting(by, waiting)
      for (const mail of mails) await world.mailer.send(mail).catch((error: unknown) => world.onError(error, 'mail'))
    },
  }
}

/** Builds the answer that a command stores under its idempotency key. */
interface Remember {
  yes(tx: ApprovalTx, made: RecipientRecord): Promise<CommandAnswer>
  no(tx: ApprovalTx, problem: Problem): Promise<CommandAnswer>
}

function remembering(
  { problemBase }: Pick<RecipientDeps, 'problemBase'>,
  { requestId, instance }: Pick<Command<unknown>, 'requestId' | 'instance'>,
  key: Idempotency | null,
): Remember {
  async function record(
    tx: ApprovalTx,
    kept: { readonly status: number; readonly resourceId: string | null; readonly answer: string },
  ): Promise<void> {
    if (key !== null)
      await writeEffects(tx, { idempotency: { id: key.id, fingerprint: key.fingerprint, createdAt: tx.now, ...kept } })
  }
  return {
    async yes(tx, made) {
      const body = JSON.stringify(made.view)
      await record(tx, { status: 201, resourceId: made.view.id, answer: body })
      return {
        status: 201,
        body,
        contentType: 'application/json',
        etag: etagOf(made, body),
        location: `/v1/recipients/${made.view.id}`,
        replayed: false,
      }
    },
    async no(tx, problem) {
      const body = problemBody(problem, { problemBase, instance, requestId })
      const status = problemStatus(problem)
      await record(tx, { status, resourceId: null, answer: body })
      return { status, body, contentType: 'application/problem+json', replayed: false }
    },
  }
}

function checkedOrRefuse(world: ValidationDeps, input: RecipientInput): CheckedRecipient {
  const result = validateRecipient(world, input)
  if ('errors' in result)
    refuse('validation-error', 'Some fields of the body are not valid.', { errors: result.errors })
  return result.recipient
}

/** The stored bank details, in the form of a request. */
function bankInput({ view, bank }: RecipientRecord): RecipientInput['bank'] {
  return { ...bank, bankCountry: view.bank.bankCountry }
}

/** The members that validation checks. A change of any other member skips rules that are newer than the recipient. */
const CHECKED = ['type', 'name', 'address', 'bank', 'purpose'] as const

/** The stored recipient, in the form that validation returned when it was stored. */
function keptOf({ view, bank, accountIdentity }: RecipientRecord): CheckedRecipient {
  const { bankCountry } = view.bank
  const values = bank as CheckedRecipient['bank']
  return {
    bankCountry,
    bank: values,
    address: view.address,
    maskedIdentifier: view.maskedIdentifier,
    accountIdentity: accountIdentity ?? accountIdentityOf(bankCountry, values),
  }
}

/** Runs the checks of a command and returns the problem that they throw; null when they pass. */
async function refusalOf(checks: () => Promise<void>): Promise<Problem | null> {
  try {
    await checks()
    return null
  } catch (error) {
    if (error instanceof ProblemError) return error.problem
    throw error
  }
}

/** Compares two values as JSON; the order of members does not matter. */
function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left, ordered) === JSON.stringify(right, ordered)
}

function ordered(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function refuseField(error: FieldError): never {
  refuse('validation-error', error.message, { errors: [error] })
}

function raise(error: unknown): never {
  throw error
}

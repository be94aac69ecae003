/** Changes a recipient. */
import { withEditor } from '../../lib/approvals/requesters.ts'
import { withdrawReviews, beginReview, lockPendingReviews, statusEvent } from './review-recipient.ts'
import { patchedMetadata } from '../../lib/base/metadata.ts'
import { refuse, refuseField, refuseTransition } from '../../lib/base/problems.ts'
import { canChange, changeableIn } from '../../lib/recipients/review.ts'
import { accountIdentityOf, type CheckedRecipient, type RecipientInput } from '../../lib/recipients/validation.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { RecipientRecord } from '../../storage/recipients/recipient-queries.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { Recipient, RecipientUpdate } from '../../lib/recipients/recipient-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import {
  lockRecipientOf,
  recipientTransaction,
  makerOf,
  readRecipient,
  same,
  rereadRecipient,
  writeRecipientTrail,
  ATTEMPTS_MAX,
  type RecipientDeps,
} from './change-recipient.ts'
import { acceptedVerification, checkedRecipient, checkPayee, checkUnique } from './check-recipient.ts'
import { cancelWaiting, NOTHING_WAITS, waitingFor } from './waiting-payments.ts'

/**
 * Changes a recipient; absent members stay as they are. A change of its name, account or address is verified and
 * reviewed again, and cancels the payments that wait.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`, `invalid-transition`,
 *   `duplicate-recipient`, `duplicate-external-id`; `service-unavailable` when the recipient keeps changing
 */
export async function updateRecipient(
  deps: RecipientDeps,
  by: Caller,
  id: string,
  body: RecipientUpdate,
  expected: number | bigint | null,
): Promise<Versioned<Recipient>> {
  for (let attempt = 1; ; attempt++) {
    const updated = await updateFrom(deps, await readRecipient(deps, by, id), by, body, expected)
    if (updated !== null) return updated
    if (attempt >= ATTEMPTS_MAX)
      refuse('service-unavailable', 'The recipient keeps changing; try again.', { retryAfterSeconds: 1 })
  }
}

/**
 * Computes a recipient after a change. A change of its name, type, account or address makes another review necessary.
 *
 * @throws ProblemError `validation-error`
 */
function changed(
  deps: RecipientDeps,
  before: RecipientRecord,
  body: RecipientUpdate,
): {
  readonly values: Omit<rows.RecipientValues, 'status' | 'verification' | 'approval'>
  readonly needsReview: boolean
  readonly isChanged: boolean
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
  const checked = CHECKED.some((member) => body[member] !== undefined) ? checkedRecipient(deps, input) : keptOf(before)
  const metadata = body.metadata === undefined ? view.metadata : patchedMetadata(view.metadata, body.metadata)
  if (!fitsMetadata(metadata)) refuseField('/metadata', 'too_large', 'Is too large.')
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
  const needsReview = !same(
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
  const isChanged =
    needsReview ||
    !same(others, [view.nickname, view.email, view.defaultReference, view.purpose, view.externalId, view.metadata])
  return { values, needsReview, isChanged }
}

/** Applies a change to the version of a recipient that was read; null when the recipient has changed since. */
async function updateFrom(
  deps: RecipientDeps,
  seen: RecipientRecord,
  by: Caller,
  body: RecipientUpdate,
  expected: number | bigint | null,
): Promise<RecipientRecord | null> {
  const customerId = by.tenant.id
  const { id } = seen.view
  const maker = makerOf(by)
  const planned = changed(deps, seen, body)
  const check = planned.needsReview ? await checkPayee(deps, customerId, planned.values) : null
  const written = await recipientTransaction(deps, async (tx) => {
    const { client, now } = tx
    await rows.lockRecipientsOf(client, customerId)
    const pending = await lockPendingReviews(tx, id)
    const before = await lockRecipientOf(tx, by, id, expected)
    // The bank was asked about the version read before; the current version needs a new check.
    if (before.version !== seen.version) return null
    if (!planned.isChanged) return { after: before, waiting: NOTHING_WAITS }
    const { status } = before.view
    if (!canChange(status, planned.needsReview))
      refuseTransition(`The recipient is ${status}.`, status, changeableIn(planned.needsReview))
    await checkUnique(client, customerId, planned.values, id)
    const customer = await rows.recipientCustomer(client, customerId)
    let next: Pick<rows.RecipientValues, 'status' | 'verification' | 'approval'> = before.view
    if (planned.needsReview) {
      const admitted = acceptedVerification(
        deps,
        check?.verification ?? null,
        customer.policy,
        body.verificationOverride ?? null,
        by.principal.id,
      )
      await withdrawReviews(tx, id, pending, 'recipient_changed', maker.trail)
      const { name, maskedIdentifier } = planned.values
      const review = await beginReview(
        tx,
        deps,
        { id, customerId, name, maskedIdentifier },
        {
          customer,
          requester: maker.requester,
          shapedBy: [before.view.createdBy, ...before.editors.map((editor) => editor.id)],
          wasRejected: status === 'rejected',
          kind: 'changed_recipient',
        },
      )
      next = { status: review === null ? 'active' : 'pending_approval', verification: admitted, approval: review }
    }
    const editors = planned.needsReview ? withEditor(before.editors, by.principal.id, now) : before.editors
    await rows.updateRecipient(
      client,
      { id, editors, now },
      { ...planned.values, status: next.status, verification: next.verification, approval: next.approval },
    )
    const after = await rereadRecipient(tx, customerId, id)
    await writeRecipientTrail(tx, maker, 'recipient.updated', id, { before, after })
    if (next.status !== status)
      await writeEffects(tx, {
        events: [statusEvent(tx, customer, { id, customerId, status: next.status, previousStatus: status })],
      })
    return { after, waiting: planned.needsReview ? await waitingFor(client, customerId, id) : NOTHING_WAITS }
  })
  if (written === null) return null
  await deps.forget(id)
  await cancelWaiting(deps, by, written.waiting)
  return written.after
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

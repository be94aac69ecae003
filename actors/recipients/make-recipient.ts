/** Makes a recipient: for a request, and on behalf of other work. */
import { beginReview, statusEvent, type RecipientMaker } from './review-recipient.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { ProblemError, refuse, type Problem } from '../../lib/base/problems.ts'
import type { RecipientInput } from '../../lib/recipients/validation.ts'
import type { RecipientVerification } from '../../lib/recipients/verification.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { RecipientRecord } from '../../storage/recipients/recipient-queries.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import type { RecipientCreate } from '../../lib/recipients/recipient-schema.ts'
import { recipientTransaction, rereadRecipient, writeRecipientTrail, type RecipientDeps } from './change-recipient.ts'
import { acceptedVerification, checkedRecipient, checkPayee, checkUnique } from './check-recipient.ts'

/** The maximum number of recipients of one customer that are not deleted. */
const RECIPIENTS_MAX = 50_000

/** A requested recipient, before any check. */
export type NewRecipient = RecipientInput &
  Pick<RecipientCreate, 'nickname' | 'email' | 'defaultReference' | 'externalId' | 'metadata' | 'verificationOverride'>

/** The results of the attempt to make a recipient, written in its transaction. */
export interface MakingEnd<Result> {
  readonly made: (tx: ApprovalTx, recipient: RecipientRecord) => Promise<Result>
  readonly refused: (tx: ApprovalTx, problem: Problem) => Promise<Result>
}

/**
 * Writes a new recipient with its review, event and trail entry, or finds the problem that prevents it. `end` writes
 * its result in the same transaction.
 *
 * @throws ProblemError `validation-error` for fields that are not valid
 */
export async function writeNewRecipient<Result>(
  deps: RecipientDeps,
  maker: RecipientMaker,
  body: NewRecipient,
  verification: RecipientVerification | null,
  end: MakingEnd<Result>,
): Promise<Result> {
  const { customerId, requester } = maker
  const checked = checkedRecipient(deps, body)
  const externalId = body.externalId ?? null
  return await recipientTransaction(deps, async (tx) => {
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
      acceptedVerification(deps, verification, customer.policy, body.verificationOverride ?? null, requester.id)
    })
    if (refused !== null) return await end.refused(tx, refused)
    const id = deps.ids.next()
    const { name } = body
    const review = await beginReview(
      tx,
      deps,
      { id, customerId, name, maskedIdentifier: checked.maskedIdentifier },
      { customer, requester, wasRejected: false, kind: 'new_recipient' },
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
        verification: acceptedVerification(
          deps,
          verification,
          customer.policy,
          body.verificationOverride ?? null,
          requester.id,
        ),
        approval: review,
      },
    )
    const made = await rereadRecipient(tx, customerId, id)
    await writeRecipientTrail(tx, maker, 'recipient.created', id, { before: null, after: made })
    await writeEffects(tx, { events: [statusEvent(tx, customer, { id, customerId, status, previousStatus: null })] })
    return await end.made(tx, made)
  })
}

/**
 * Creates a recipient on behalf of other work; `verify` asks the bank about its name. A repeated call for a recipient
 * that it has created is a `duplicate-recipient`. Every refusal is returned.
 */
export async function makeRecipient(
  deps: RecipientDeps,
  maker: RecipientMaker,
  body: NewRecipient,
  { verify }: { readonly verify: boolean },
): Promise<{ readonly id: string } | { readonly refused: Problem }> {
  try {
    const verification = verify
      ? ((await checkPayee(deps, maker.customerId, { ...body, ...checkedRecipient(deps, body) }))?.verification ?? null)
      : null
    return await writeNewRecipient<{ readonly id: string } | { readonly refused: Problem }>(
      deps,
      maker,
      body,
      verification,
      {
        made: async (_tx, { view: { id } }) => ({ id }),
        refused: async (_tx, refused) => ({ refused }),
      },
    )
  } catch (error) {
    if (error instanceof ProblemError) return { refused: error.problem }
    throw error
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

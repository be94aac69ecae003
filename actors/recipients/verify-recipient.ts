/** Verifies the name of a recipient. */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { refuse } from '../../lib/base/problems.ts'
import { verificationOf } from '../../lib/recipients/requirements.ts'
import type { CheckedRecipient } from '../../lib/recipients/validation.ts'
import { withStandingOverride, type RecipientVerification } from '../../lib/recipients/verification.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import {
  lockRecipientOf,
  recipientTransaction,
  makerOf,
  readRecipient,
  same,
  rereadRecipient,
  writeRecipientTrail,
  type RecipientDeps,
} from './change-recipient.ts'
import { checkPayee } from './check-recipient.ts'

/**
 * Asks the bank about the name of a recipient, and stores the answer. A recipient that changes meanwhile keeps its
 * earlier verification.
 *
 * @throws ProblemError `not-found`; `verification-unavailable` where no bank checks names, or no provider of the customer
 *   can be asked
 */
export async function verifyRecipient(deps: RecipientDeps, by: Caller, id: string): Promise<RecipientVerification> {
  const { tenant } = by
  const seen = await readRecipient(deps, by, id)
  const { currency, name, type } = seen.view
  const check = await checkPayee(deps, tenant.id, {
    currency,
    name,
    type,
    bankCountry: seen.view.bank.bankCountry,
    bank: seen.bank as CheckedRecipient['bank'],
  })
  const { scheme } = verificationOf(currency as CurrencyCode, seen.view.bank.bankCountry)
  if (check === null)
    refuse('verification-unavailable', `No bank checks names for ${currency} in ${seen.view.bank.bankCountry}.`, {
      extra: { scheme },
    })
  if (!check.isOffered)
    refuse('verification-unavailable', `No bank of the customer checks names for ${currency} at present.`, {
      extra: { scheme },
    })
  const checked = check.verification
  const verification = await recipientTransaction(deps, async (tx) => {
    const before = await lockRecipientOf(tx, by, id, null)
    const standing = withStandingOverride(checked, before.view.verification)
    // The recipient has changed since the bank was asked: the answer is returned, but not stored with the
    // recipient.
    if (!same([before.view.name, before.view.type, before.bank], [name, type, seen.bank])) return checked
    await rows.setRecipientVerification(tx.client, id, standing, tx.now)
    const after = await rereadRecipient(tx, tenant.id, id)
    await writeRecipientTrail(tx, makerOf(by), 'recipient.verified', id, { before, after })
    return standing
  })
  await deps.forget(id)
  return verification
}

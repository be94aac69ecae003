/** Checks of a recipient before it is written: its fields, its account, and its name at the bank. */
import { checkPayee as askAboutPayee, type PayeeCheck } from '../payments/verify-payee.ts'
import { ProblemError, refuse } from '../../lib/base/problems.ts'
import { payeeOf } from '../../lib/recipients/payee.ts'
import {
  validateRecipient,
  type CheckedRecipient,
  type RecipientInput,
  type ValidationDeps,
} from '../../lib/recipients/validation.ts'
import {
  verificationGate,
  type OverrideInput,
  type RecipientVerification,
  type VerificationPolicy,
} from '../../lib/recipients/verification.ts'
import { findPayeeFacts } from '../../storage/accounts/account-details.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { RecipientDeps } from './change-recipient.ts'

/**
 * Checks the fields of a recipient against the table of requirements.
 *
 * @throws ProblemError `validation-error` that names every invalid field
 */
export function checkedRecipient(deps: ValidationDeps, input: RecipientInput): CheckedRecipient {
  const result = validateRecipient(deps, input)
  if ('errors' in result)
    refuse('validation-error', 'Some fields of the body are not valid.', { errors: result.errors })
  return result.recipient
}

/**
 * Checks that no other recipient of the customer has the account or the external id. `except` is the recipient that is
 * changed.
 *
 * @throws ProblemError `duplicate-recipient`, `duplicate-external-id`
 */
export async function checkUnique(
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
export async function checkPayee(
  deps: RecipientDeps,
  customerId: string,
  recipient: { readonly name: string; readonly type: 'business' | 'individual'; readonly currency: string } & Pick<
    CheckedRecipient,
    'bank' | 'bankCountry'
  >,
): Promise<PayeeCheck | null> {
  const { name, currency, bank } = recipient
  const facts = await findPayeeFacts(deps.database, { customerId, currency, bank })
  if (facts === null) return null
  const { operatorId, platformAccount } = facts
  return await askAboutPayee(
    deps,
    { name, payee: payeeOf(recipient), platformAccount },
    { operatorId, customerId, currency },
  )
}

/**
 * Returns the result of a name check as it is stored; null without a check.
 *
 * @throws ProblemError when the policy refuses the result and no override accepts it
 */
export function acceptedVerification(
  { clock }: Pick<RecipientDeps, 'clock'>,
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

/** A change of a mandate, as its customer asks for it. */
import { patchedMetadata } from '../../lib/base/metadata.ts'
import { refuseField } from '../../lib/base/problems.ts'
import { completeAddress } from '../../lib/contract/address.ts'
import { dayStart } from '../../lib/contract/formats.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { MandatePatch } from '../../lib/direct-debits/create-debits.ts'
import type { MandateUpdate } from '../../lib/direct-debits/mandate-schema.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { debitBalance } from '../../storage/direct-debits/debit-balances.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'

/** Checks a change of a mandate. @throws ProblemError `validation-error` */
export async function patchOf(
  { database, clock }: Pick<DirectDebitDeps, 'database' | 'clock'>,
  { customerId, connectionId, currency, direction, metadata: before }: MandateRecord,
  { metadata, amountLimit, preNotificationDays: noticeDays, balanceId, counterparty, signedAt }: MandateUpdate,
): Promise<MandatePatch> {
  const merged = metadata === undefined ? undefined : patchedMetadata(before, metadata)
  if (merged !== undefined && !fitsMetadata(merged)) refuseField('/metadata', 'too_large', 'Too many attributes.')
  if (amountLimit !== undefined && amountLimit !== null && amountLimit.currency !== currency)
    refuseField('/amountLimit/currency', 'currency_mismatch', `The mandate is in ${currency}.`)
  if (direction === 'pay' && (counterparty?.email ?? null) !== null)
    refuseField('/counterparty/email', 'not_applicable', 'The counterparty collects, and is told of nothing.')
  const balance = balanceId === undefined ? null : await debitBalance(database, customerId, balanceId)
  if (balanceId !== undefined && balance === null) refuseField('/balanceId', 'not_found', 'No such balance.')
  if (balance !== null && balance.currency !== currency)
    refuseField('/balanceId', 'currency_mismatch', `The mandate is in ${currency}.`)
  if (balance !== null && balance.status !== 'active')
    refuseField('/balanceId', 'inactive', `The balance is ${balance.status}.`)
  if (balance !== null && balance.connectionId !== connectionId)
    refuseField('/balanceId', 'not_applicable', 'The mandate stays at the bank that it was made for.')
  const signed = signedAt === undefined ? undefined : dayStart(signedAt)
  if (signed !== undefined && signed > clock.now())
    refuseField('/signedAt', 'invalid_value', 'Must not be in the future.')
  return {
    ...(merged === undefined ? {} : { metadata: merged }),
    ...(amountLimit === undefined
      ? {}
      : { amountLimit: amountLimit === null ? null : BigInt(amountLimit.amountMinor) }),
    ...(noticeDays === undefined ? {} : { noticeDays }),
    ...(balance === null || balanceId === undefined
      ? {}
      : { balance: { id: balanceId.toLowerCase(), connectionId: balance.connectionId } }),
    ...(counterparty === undefined
      ? {}
      : {
          counterparty: {
            ...(counterparty.name === undefined ? {} : { name: counterparty.name }),
            ...(counterparty.email === undefined ? {} : { email: counterparty.email }),
            ...(counterparty.address == null ? {} : { address: completeAddress(counterparty.address) }),
          },
        }),
    ...(signed === undefined ? {} : { signedAt: signed }),
  }
}

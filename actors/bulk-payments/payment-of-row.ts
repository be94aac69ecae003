/** The payment that a row of a file requests. */
import type { BulkInstruction } from '../../lib/bulk-payments/instruction.ts'
import type { PaymentInput } from '../payments/submit-payment.ts'

/** Turns a row into the payment that it requests. */
export function paymentInput(
  instruction: BulkInstruction,
  {
    recipientId,
    sourceBalanceId,
    reference,
  }: { readonly recipientId: string; readonly sourceBalanceId: string; readonly reference: string },
): PaymentInput {
  const {
    amountMinor,
    currency,
    purposeCode,
    purpose,
    endToEndId,
    externalId,
    internalNote,
    notifyRecipient,
    metadata,
  } = instruction
  return {
    sourceBalanceId,
    recipientId,
    amount: { amountMinor: amountMinor!, currency: currency! },
    reference,
    purposeCode: purposeCode ?? null,
    purpose: purpose ?? null,
    externalId: externalId ?? null,
    internalNote: internalNote ?? null,
    notifyRecipient: notifyRecipient ?? false,
    metadata,
    ...(endToEndId === undefined ? {} : { endToEndId }),
  }
}

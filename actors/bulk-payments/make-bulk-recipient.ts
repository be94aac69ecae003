/**
 * Creates the recipient that a row of a file describes, as a request would: with the same checks of bank and name, and
 * the same reviews.
 */
import { faultOfIssue, recipientOfRow } from '../../lib/bulk-payments/payment-of-row.ts'
import type { BulkInstruction, RowFault } from '../../lib/bulk-payments/instruction.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { RecipientInput } from '../../lib/recipients/validation.ts'
import type { MakeRecipient } from './check-bulk-rows.ts'
import type { RecipientMaker } from '../recipients/review-recipient.ts'

/** Creates recipients. A repeated call for an existing recipient is answered with `duplicate-recipient`. */
export interface RecipientFactory {
  make(
    maker: RecipientMaker,
    body: RecipientInput & { readonly email: string | null },
    options: { readonly verify: boolean },
  ): Promise<{ readonly id: string } | { readonly refused: Problem }>
}

/** Finds typing errors only; whether the address exists is not checked. */
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/

/**
 * Creates recipients of rows for the given maker. When another row or another node has created the same recipient
 * first, that recipient is used.
 */
export function makeRecipientOfRow(
  factory: RecipientFactory,
  maker: RecipientMaker,
  options: { readonly verify: boolean },
): MakeRecipient {
  return async (instruction: BulkInstruction) => {
    const faults: RowFault[] = []
    const input = recipientOfRow(instruction, faults)
    const { recipientEmail: email = null } = instruction
    if (email !== null && !EMAIL.test(email))
      faults.push({ column: 'recipient_email', code: 'invalid_format', message: 'This is not an e-mail address.' })
    if (faults.length > 0) return { faults }
    const made = await factory.make(maker, { ...input, email }, options)
    if ('id' in made) return made
    const { slug, detail, errors, extra } = made.refused
    if (slug === 'duplicate-recipient' && typeof extra?.['existingId'] === 'string') return { id: extra['existingId'] }
    return { faults: (errors ?? [{ code: slug, field: null, message: detail }]).map(faultOfIssue) }
  }
}

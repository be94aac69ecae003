/** A recipient that a row of a file describes, made as by hand: the same checks of its bank and its name, the same reviews. */
import { faultOfIssue, recipientOfRow } from '../../lib/bulk-payments/payment-of-row.ts'
import type { Instruction, RowFault } from '../../lib/bulk-payments/instruction.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { RecipientInput } from '../../lib/recipients/validation.ts'
import type { MakeRecipient } from './check-bulk-rows.ts'
import type { RecipientMaker } from '../recipients/review-recipient.ts'

/** What makes a recipient. Asked again for one that is there, it answers `duplicate-recipient`. */
export interface RecipientFactory {
  make(maker: RecipientMaker, body: RecipientInput & { readonly email: string | null }, options: { readonly verify: boolean }): Promise<{ readonly id: string } | { readonly refused: Problem }>
}

/** Good enough to know a slip of the pen; whether somebody reads it shows when it is used. */
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/

/** Makes recipients of rows in somebody's name. Whoever was faster, another row or another node, has made the same one. */
export function makeRecipientOfRow(factory: RecipientFactory, maker: RecipientMaker, options: { readonly verify: boolean }): MakeRecipient {
  return async (instruction: Instruction) => {
    const faults: RowFault[] = []
    const input = recipientOfRow(instruction, faults)
    const { recipientEmail: email = null } = instruction
    if (email !== null && !EMAIL.test(email)) faults.push({ column: 'recipient_email', code: 'invalid_format', message: 'This is no e-mail address.' })
    if (faults.length > 0) return { faults }
    const made = await factory.make(maker, { ...input, email }, options)
    if ('id' in made) return made
    const { slug, detail, errors, extra } = made.refused
    if (slug === 'duplicate-recipient' && typeof extra?.['existingId'] === 'string') return { id: extra['existingId'] }
    return { faults: (errors ?? [{ code: slug, field: null, message: detail }]).map(faultOfIssue) }
  }
}

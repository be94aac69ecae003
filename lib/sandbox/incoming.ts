/** What the payer's name makes of money that comes into a sandbox. */
import { sandboxTokens, type CatalogueRule } from './triggers.ts'

/** The bank does not know whom it pays. */
const UNALLOCATED = 'UNALLOCATED'

/** Whether the bank can say whose a credit is. */
export function sandboxKnowsOwner(payerName: string | null): boolean {
  return payerName === null || !sandboxTokens(payerName).includes(UNALLOCATED)
}

/** The rules above in words, and what the screening does with the same name. */
export function incomingRules(): readonly CatalogueRule[] {
  return [
    'no token in payerName: on the balance within a second',
    'SBX:HOLD in payerName: reviewed by the operator\'s people first, and not to be seen until they let it through',
    `SBX:${UNALLOCATED} in payerName, or a balance that is closed: waits in the operator's list of money without an owner`,
  ].map((rule) => ({ topic: 'incoming payments', rule }))
}

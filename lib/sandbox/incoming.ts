/** The sandbox's rules for incoming money, chosen by the payer's name. */
import { hasSandboxToken, type CatalogueRule } from './triggers.ts'

/** With this token the bank does not know the owner of the money. */
const UNALLOCATED = 'UNALLOCATED'

/** Tells whether the bank knows the owner of a credit. */
export function sandboxKnowsOwner(payerName: string | null): boolean {
  return payerName === null || !hasSandboxToken(payerName, UNALLOCATED)
}

/** Describes these rules and the screening of the same name, for the catalogue that integrators read. */
export function incomingRules(): readonly CatalogueRule[] {
  return [
    'no token in payerName: on the balance within a second',
    "SBX:HOLD in payerName: reviewed by the operator's people first, and not to be seen until they let it through",
    `SBX:${UNALLOCATED} in payerName, or a balance that is closed: waits in the operator's list of money without an owner`,
    'the reference of a funds request as reference: it is counted towards that request',
  ].map((rule) => ({ topic: 'incoming payments', rule }))
}

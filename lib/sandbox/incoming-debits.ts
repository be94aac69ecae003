/** The sandbox's rules for direct debits of balances, chosen by the creditor's name. */
import { hasSandboxToken, type CatalogueRule } from './triggers.ts'

/** With this token the debit names no mandate. */
const NO_MANDATE = 'NOMANDATE'
/** The reference of a mandate that the body does not name; a mandate belongs to one creditor. */
const MANDATE_REFERENCE = 'SBX-MANDATE-1'

/** Returns the mandate reference that the bank reports with a debit; null: none. */
export function sandboxMandate(creditorName: string, reference: string | null): string | null {
  return hasSandboxToken(creditorName, NO_MANDATE) ? null : (reference ?? MANDATE_REFERENCE)
}

/** Describes these rules for the catalogue that integrators read. */
export function incomingDebitRules(): readonly CatalogueRule[] {
  return [
    'no token in creditorName: taken on its due date, which is today unless the body says otherwise',
    `SBX:${NO_MANDATE} in creditorName: names no mandate, and is refused with MD01; nothing is posted`,
    'an amount above what is available on the due date: refused with AM04',
    'the first debit of a mandate of sepa_dd_b2b: pending_confirmation until the customer confirms it',
  ].map((rule) => ({ topic: 'incoming payments', rule }))
}

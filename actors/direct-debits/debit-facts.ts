/**
 * The facts that a new mandate or collection needs: its balance or mandate, and the terms of its customer. A request
 * reads them for itself; the rows of a file share those of their lot.
 */
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import type { DocumentStatus } from '../../lib/documents/document.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { readDebitTerms, type CustomerDebitTerms } from '../../storage/direct-debits/customer-debit-terms.ts'
import { debitBalance, type DebitBalance } from '../../storage/direct-debits/debit-balances.ts'
import { statusesOf } from '../../storage/documents/documents.ts'
import { findMandate, findMandates } from '../../storage/direct-debits/mandates.ts'
import type { Database } from '../../storage/db/database.ts'

/** Reads the facts from which a mandate or collection of a customer is made. All functions throw the driver's errors. */
export interface CreditorFacts {
  /** Finds a balance of the customer; null when it has no such balance. */
  balance(id: string): Promise<DebitBalance | null>
  /** Finds a mandate of any customer; null when it does not exist. */
  mandate(id: string): Promise<MandateRecord | null>
  /** Finds the status of a document of the customer; null when it has no such document. */
  document(id: string): Promise<DocumentStatus | null>
  /** Returns the terms of the customer. */
  terms(scheme: MandateScheme, currency: string): Promise<CustomerDebitTerms>
}

/** Reads each fact when it is asked for. */
export const factsOf = (database: Database, customerId: string): CreditorFacts => ({
  balance: (id) => debitBalance(database, customerId, id),
  mandate: (id) => findMandate(database, id),
  document: async (id) => (await statusesOf(database.pool, customerId, [id])).get(id) ?? null,
  terms: (scheme, currency) => readDebitTerms(database, { customerId, scheme, currency }),
})

/**
 * Reads each fact once, and these mandates at once. For one lot of rows: a decision does not rely on what is remembered,
 * because the mandate's actor decides on its own state.
 */
export async function factsOfLot(
  database: Database,
  customerId: string,
  mandateIds: readonly string[],
): Promise<CreditorFacts> {
  const facts = factsOf(database, customerId)
  const mandates = mandateIds.length === 0 ? new Map() : await findMandates(database, mandateIds)
  const [balances, terms] = [
    new Map<string, ReturnType<CreditorFacts['balance']>>(),
    new Map<string, ReturnType<CreditorFacts['terms']>>(),
  ]
  const once = <Fact>(known: Map<string, Promise<Fact>>, key: string, read: () => Promise<Fact>): Promise<Fact> => {
    const fact = known.get(key) ?? read()
    known.set(key, fact)
    return fact
  }
  return {
    balance: (id) => once(balances, id, () => facts.balance(id)),
    mandate: async (id) => mandates.get(id) ?? null,
    document: facts.document,
    terms: (scheme, currency) => once(terms, `${scheme} ${currency}`, () => facts.terms(scheme, currency)),
  }
}

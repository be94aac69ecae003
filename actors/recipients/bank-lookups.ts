/** Looks up banks in the local directory, without asking a partner. */
import {
  lookupBank,
  lookupIban,
  type BankFound,
  type BankLookupResult,
  type LookupDeps,
} from '../../lib/recipients/bank-lookup.ts'
import { refuse } from '../../lib/base/problems.ts'

export interface BankLookups {
  /** @throws ProblemError `validation-error` for an IBAN that cannot exist */
  iban(iban: string): BankFound
  /**
   * @throws ProblemError `malformed-request` for an unknown country, `validation-error` for a code that cannot exist,
   *   `not-found` for a code that no bank has
   */
  bank(country: string, code: string): BankFound
}

export function createBankLookups(deps: LookupDeps): BankLookups {
  return {
    iban: (iban) => foundOrRefuse(lookupIban(deps, iban)),
    bank: (country, code) => foundOrRefuse(lookupBank(deps, { country, code })),
  }
}

function foundOrRefuse(lookup: BankLookupResult): BankFound {
  if ('found' in lookup) return lookup.found
  const { parameter, code, message } = lookup.fault
  if (code === null) refuse('not-found', message)
  refuse(parameter === 'country' ? 'malformed-request' : 'validation-error', message, {
    errors: [{ field: `query.${parameter}`, code, message }],
  })
}

/** Questions about banks, answered from what is known without asking anybody. */
import { lookupBank, lookupIban, type BankFound, type BankLookup, type LookupDeps } from '../../lib/recipients/bank-lookup.ts'
import { refuse } from '../../lib/base/problems.ts'

export interface BankLookups {
  /** @throws ProblemError `validation-error` for an IBAN that nobody can have */
  iban(iban: string): BankFound
  /** @throws ProblemError `malformed-request` for a country that there is not, `validation-error` for a code that no bank can have, `not-found` for one that none has */
  bank(country: string, code: string): BankFound
}

export function createBankLookups(world: LookupDeps): BankLookups {
  return {
    iban: (iban) => foundOrRefuse(lookupIban(world, iban)),
    bank: (country, code) => foundOrRefuse(lookupBank(world, { country, code })),
  }
}

function foundOrRefuse(lookup: BankLookup): BankFound {
  if ('found' in lookup) return lookup.found
  const { parameter, code, message } = lookup.fault
  if (code === null) refuse('not-found', message)
  refuse(parameter === 'country' ? 'malformed-request' : 'validation-error', message, { errors: [{ field: `query.${parameter}`, code, message }] })
}

/** Look-ups of the bank of an IBAN or of a bank code. */
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { BankLookup, BankLookupQuery, IbanLookupQuery } from '../../lib/recipients/bank-lookup-schema.ts'

const shared = {
  method: 'get',
  tag: 'recipients',
  callers: 'key',
  scope: 'recipients:read',
  tenant: 'customer',
  idempotency: 'none',
} as const
const success = { status: 200, description: 'The facts about the bank.', schema: BankLookup } as const

export const lookupIban = route({
  ...shared,
  path: '/recipients/lookups/iban',
  operationId: 'lookupIban',
  summary: 'Look up the bank of an IBAN',
  description: 'The IBAN is checked like that of a recipient. The bank is not asked whether the account exists.',
  query: IbanLookupQuery,
  success,
  problems: ['validation-error'],
  handle: ({ query: { iban } }, { bankLookups }) => json(200, bankLookups.iban(iban)),
})

export const lookupBank = route({
  ...shared,
  path: '/recipients/lookups/bank',
  operationId: 'lookupBank',
  summary: 'Look up a bank by its code',
  description: '404 where a published list of the country’s banks does not have the code.',
  query: BankLookupQuery,
  success,
  problems: ['not-found', 'validation-error'],
  handle: ({ query: { country, code } }, { bankLookups }) => json(200, bankLookups.bank(country, code)),
})

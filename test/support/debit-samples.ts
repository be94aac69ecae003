/** Mandates and collections for tests of their decisions. */
import { createIdSource } from '../../lib/base/ids.ts'
import { NEW_COLLECTION, type CollectionRecord } from '../../lib/direct-debits/collection.ts'
import type { DebitContext } from '../../lib/direct-debits/collection-money.ts'
import { NEW_MANDATE, type MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES, type DebtorAccountField } from '../../lib/direct-debits/schemes.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'

export const NOW = Date.UTC(2026, 10, 23, 9)
const uuid = (last: string) => `01a2054d-d3e5-7285-9c53-${last.padStart(12, '0')}`

export const ids = createIdSource({ now: () => NOW })

const ACCOUNTS: { readonly [Field in DebtorAccountField]: string } = {
  iban: 'NL50SBOX0100000002',
  bic: 'SBOXNL2A',
  sortCode: '990001',
  accountNumber: '12345678',
  routingNumber: '099000011',
  accountType: 'checking',
  bsb: '062000',
  institutionNumber: '003',
  transitNumber: '00012',
}

/** The account of a payer in a scheme, without the fields that a scheme leaves to choice. */
export const accountIn = (scheme: MandateScheme) =>
  Object.fromEntries(DEBIT_SCHEMES[scheme].account.required.map((field) => [field, ACCOUNTS[field]]))

/** A mandate of a scheme. */
export const mandateOf = (scheme: MandateScheme, change: Partial<MandateRecord> = {}): MandateRecord => ({
  ...NEW_MANDATE,
  id: uuid('1'),
  customerId: uuid('2'),
  operatorId: uuid('3'),
  connectionId: uuid('4'),
  shard: 7,
  direction: 'collect',
  scheme,
  reference: 'WBABCDEFGH234567',
  balanceId: uuid('5'),
  currency: DEBIT_SCHEMES[scheme].currency,
  counterparty: { name: 'Ada Payer', kind: 'consumer', ...accountIn(scheme) },
  management: 'client',
  sequenceType: 'recurring',
  amountLimit: null,
  noticeDays: null,
  consentType: null,
  authorisationSource: null,
  signedAt: null,
  documentId: null,
  creditorId: null,
  creditorName: null,
  history: [],
  createdBy: uuid('6'),
  createdVia: 'api_key',
  metadata: {},
  createdAt: NOW,
  updatedAt: NOW,
  ...change,
})

/** A collection by `mandateOf` of the same scheme. */
export const collectionOf = (scheme: MandateScheme, change: Partial<CollectionRecord> = {}): CollectionRecord => ({
  ...NEW_COLLECTION,
  id: uuid('11'),
  customerId: uuid('2'),
  operatorId: uuid('3'),
  connectionId: uuid('4'),
  shard: 7,
  number: 'COL0000000001',
  externalId: null,
  mandateId: uuid('1'),
  balanceId: uuid('5'),
  scheme,
  currency: DEBIT_SCHEMES[scheme].currency,
  amount: 12_500n,
  dueDate: '2026-12-15',
  submissionDeadline: NOW,
  sequenceType: 'first',
  reference: 'Invoice 42',
  endToEndId: 'E2E42',
  preNotification: null,
  retry: null,
  dueAt: null,
  createdBy: uuid('6'),
  createdVia: 'api_key',
  metadata: {},
  createdAt: NOW,
  updatedAt: NOW,
  ...change,
})

export const CONTEXT: DebitContext = {
  ids,
  accounts: {
    nostro: uuid('21'),
    dd_clearing: uuid('22'),
    out_transit: uuid('26'),
    inc_fee: uuid('23'),
    exp_partner: uuid('24'),
    unallocated: uuid('25'),
  },
  valueDate: '2026-11-23',
  reserveUntil: null,
  by: 'partner',
}

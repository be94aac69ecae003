/** Groups, creditors and lines of files of direct debits, with every member that a test does not set itself. */
import type { CollectionGroup } from '../../lib/direct-debits/files/collection-file.ts'
import type { FileCreditor, FileLine } from '../../lib/direct-debits/files/file-rows.ts'

export const group = (given: Partial<CollectionGroup> = {}): CollectionGroup => ({
  operatorId: '01980d6e-0000-7000-8000-000000000001',
  connectionId: '01980d6e-0000-7000-8000-000000000002',
  kind: 'collections',
  scheme: 'sepa_dd_core',
  sequenceType: 'recurring',
  currency: 'EUR',
  creditorId: 'NL99ZZZ123456780000',
  creditorName: 'Norden Bank',
  settlementDate: '2026-11-30',
  ...given,
})

export const creditor = (given: Partial<FileCreditor> = {}): FileCreditor => ({
  initiator: { name: 'Norden Bank', address: null, id: null },
  account: { iban: 'NL77SBOX0100000001' },
  agent: { bic: 'SBOXNL2A', clearing: null, name: null, country: null },
  bacs: { sortCode: '200000', accountNumber: '11223344', name: 'Norden Bank' },
  ...given,
})

/** The id of the nth line. */
export const lineId = (nth: number): string => `01980d6e-7f3a-7c21-9f58-${nth.toString(16).padStart(12, '0')}`

export const line = (nth: number, given: Partial<FileLine> = {}): FileLine => ({
  id: lineId(nth),
  amount: 1_00n + BigInt(nth),
  endToEndId: `COL${nth}`,
  reference: `Membership ${nth}`,
  mandateReference: `M${String(nth).padStart(9, '0')}`,
  signedAt: Date.UTC(2026, 0, 2, 12),
  mandateCreatedAt: Date.UTC(2026, 0, 1),
  counterparty: { name: `Payer ${nth}`, kind: 'consumer', iban: 'DE89370400440532013000' },
  amendment: null,
  isRepresented: false,
  instruction: null,
  ...given,
})

export const BACS_PAYER = {
  name: 'Fred Smith',
  kind: 'consumer',
  sortCode: '400515',
  accountNumber: '87654321',
} as const

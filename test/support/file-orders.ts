/** Orders and collections for files, with every member that a test does not set itself, and their files as text. */
import type { FileCollection, FileHead, FileOrder, OrdersOf } from '../../lib/providers/iso20022/messages.ts'

export const REFERENCE = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
export const NOBODY = { name: null, address: null, id: null }
export const party = (name: string) => ({ ...NOBODY, name })
export const NL = { iban: 'NL77SBOX0100000001' }
export const DE = { iban: 'DE89370400440532013000' }
export const bank = (bic: string | null) => ({ bic, clearing: null, name: null, country: null })

export const HEAD: FileHead = {
  messageId: '0123456789ABCDEFGHJKMNPQRS',
  createdAt: Date.UTC(2026, 10, 23, 12),
  initiator: { ...party('Vostro & Söhne BV'), id: { value: 'KVK12345', scheme: 'CUST', isPrivate: false } },
  batchBooking: null,
}

export const order = (given: Partial<FileOrder> = {}): FileOrder => ({
  reference: REFERENCE,
  rail: 'sepa',
  currency: 'EUR',
  amount: 123_45n,
  executionDate: '2026-11-24',
  endToEndId: 'PAY0000000001',
  uetr: null,
  chargeBearer: 'shared',
  purpose: null,
  categoryPurpose: null,
  debtor: party('Norden Bank'),
  debtorAccount: NL,
  debtorAgent: bank('SBOXNL2A'),
  ultimateDebtor: null,
  intermediaryAgent: null,
  creditor: party('Jane Doe'),
  creditorAccount: DE,
  creditorAgent: null,
  ultimateCreditor: null,
  remittance: { unstructured: ['Invoice 4711'], creditorReference: null },
  ...given,
})

export const collection = (given: Partial<FileCollection> = {}): FileCollection => ({
  reference: REFERENCE,
  scheme: 'sepa_dd_core',
  sequence: 'recurring',
  dueDate: '2026-11-30',
  currency: 'EUR',
  amount: 9_99n,
  endToEndId: null,
  purpose: null,
  creditor: party('Norden Bank'),
  creditorAccount: NL,
  creditorAgent: bank('SBOXNL2A'),
  creditorId: 'NL99ZZZ123456780000',
  ultimateCreditor: null,
  mandate: { id: 'M-0001', signedOn: '2026-01-02', amendment: null },
  debtor: party('Max Mustermann'),
  debtorAccount: DE,
  debtorAgent: null,
  ultimateDebtor: null,
  remittance: { unstructured: ['Membership'], creditorReference: null },
  ...given,
})

/** Reads a stream of bytes as text. */
export async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Plans and writes a file. */
export async function fileOf<Order, Plan>(
  plan: (head: FileHead, orders: OrdersOf<Order>) => Promise<Plan>,
  write: (plan: Plan, orders: OrdersOf<Order>) => AsyncIterable<Uint8Array>,
  orders: readonly Order[],
  head: FileHead = HEAD,
): Promise<string> {
  return textOf(write(await plan(head, () => orders), () => orders))
}

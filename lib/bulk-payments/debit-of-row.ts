/** Converts rows of files of mandates and of collections to the bodies that a client would send. Pure. */
import { exponentOf } from '../base/currency.ts'
import { DEBIT_SCHEMES } from '../direct-debits/schemes.ts'
import { MANDATE_SCHEMES, type MandateScheme } from '../rails/debit-schemes.ts'
import { COLLECTION_TABLE, MANDATE_TABLE } from './debit-columns.ts'
import { minorUnits, type BulkInstruction, type DecimalSeparator, type RowFault } from './instruction.ts'

/** A body that is checked as one that a client sends. */
export type DebitBody = Readonly<Record<string, unknown>>

const isScheme = (text: string | undefined): text is MandateScheme => MANDATE_SCHEMES.some((scheme) => scheme === text)

/** Members without those that the row does not give. */
const given = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** Builds the mandate that a row describes. A fault of the limit, which the body cannot show, is added to `faults`. */
export function mandateBodyOf(
  instruction: BulkInstruction,
  decimalSeparator: DecimalSeparator,
  faults: RowFault[],
): DebitBody {
  const { scheme, bank, address, metadata } = instruction
  return given({
    direction: instruction.direction ?? 'collect',
    scheme,
    reference: instruction.reference ?? '',
    balanceId: instruction.balanceId,
    sequenceType: instruction.sequenceType,
    amountLimit: limitOf(instruction, decimalSeparator, faults),
    consentType: instruction.consentType,
    authorisationSource: instruction.authorisationSource,
    signedAt: instruction.signedAt,
    counterparty: given({
      name: instruction.counterpartyName,
      kind: instruction.counterpartyKind,
      creditorId: instruction.creditorId,
      ...bank,
      address:
        Object.keys(address).length === 0
          ? undefined
          : { ...address, ...(address['country'] === undefined ? {} : { country: address['country'].toUpperCase() }) },
    }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  })
}

function limitOf(
  { amountLimit, scheme }: BulkInstruction,
  decimalSeparator: DecimalSeparator,
  faults: RowFault[],
): object | undefined {
  // The currency is the scheme's; a scheme that does not exist is a fault of its own.
  if (amountLimit === undefined || !isScheme(scheme)) return undefined
  const { currency } = DEBIT_SCHEMES[scheme]
  const amountMinor = minorUnits(amountLimit, exponentOf(currency), decimalSeparator)
  if (typeof amountMinor === 'string') return { amountMinor, currency }
  faults.push({ column: 'amount_limit', ...amountMinor })
  return undefined
}

/** Builds the collection that a row describes, for the mandate that it names. */
export function collectionBodyOf(instruction: BulkInstruction, mandateId: string): DebitBody {
  const { amountMinor, currency, reference, dueDate, externalId, metadata } = instruction
  return given({
    mandateId,
    amount: { amountMinor, currency },
    reference,
    dueDate,
    externalId,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  })
}

/** The columns of the members of bodies, by JSON Pointer. */
const COLUMN_OF_POINTER: ReadonlyMap<string, string> = new Map([
  ...[...MANDATE_TABLE.columns, ...COLLECTION_TABLE.columns].map(({ name, member, target }): [string, string] => [
    target === 'bank'
      ? `/counterparty/${member}`
      : target === 'address'
        ? `/counterparty/address/${member}`
        : `/${member}`,
    name,
  ]),
  ['/counterparty/name', 'counterparty_name'],
  ['/counterparty/kind', 'counterparty_kind'],
  ['/counterparty/creditorId', 'creditor_id'],
  ['/counterparty', 'counterparty_name'],
  ['/amount/amountMinor', 'amount'],
  ['/amount/currency', 'currency'],
  ['/amountLimit/amountMinor', 'amount_limit'],
  ['/amountLimit/currency', 'amount_limit'],
])

/** Returns the column that belongs to a JSON Pointer of a body. */
export const columnOfDebitField = (field: string | null): string =>
  field === null ? '' : (COLUMN_OF_POINTER.get(field) ?? field.slice(1).replaceAll('/', '.'))

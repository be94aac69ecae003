/** Converts a row of a bulk file to the members of a payment and of a recipient. Pure. */
import { isUuid } from '../base/ids.ts'
import { CHARGE_BEARERS, type ChargeBearer, RAILS, type Rail } from '../rails/rails.ts'
import type { AddressInput, BankInput, RecipientInput } from '../recipients/validation.ts'
import { COLUMNS } from './columns.ts'
import type { BulkInstruction, RowFault, RowProblemCode } from './instruction.ts'

/** The members that every address needs, with their columns. */
const ADDRESS_NEEDS = [
  ['line1', 'address_line1'],
  ['city', 'city'],
  ['country', 'country'],
] as const

/** Whether the row names the payee by account details. */
export const saysAccount = ({ bank }: BulkInstruction): boolean => Object.keys(bank).length > 0

/** Builds the recipient that a row describes, as a client would send it. A missing value is added to `faults`. */
export function recipientOfRow(instruction: BulkInstruction, faults: RowFault[]): RecipientInput {
  const { recipientName, recipientType, currency = '', bank, purpose } = instruction
  if (recipientName === undefined)
    faults.push({ column: 'recipient_name', code: 'required', message: 'A recipient is required.' })
  else if ([...recipientName].length < 2)
    faults.push({ column: 'recipient_name', code: 'too_short', message: 'At least 2 characters.' })
  if (recipientType !== undefined && recipientType !== 'business' && recipientType !== 'individual') {
    faults.push({ column: 'recipient_type', code: 'invalid_value', message: 'Either business or individual.' })
  }
  return {
    name: recipientName ?? '',
    type: recipientType === 'individual' ? 'individual' : 'business',
    currency,
    address: addressOfRow(instruction, faults),
    bank: {
      ...bank,
      ...(bank['bankCountry'] === undefined ? {} : { bankCountry: bank['bankCountry'].toUpperCase() }),
    } as BankInput,
    purpose: purpose ?? null,
  }
}

function addressOfRow({ address }: BulkInstruction, faults: RowFault[]): AddressInput | null {
  if (Object.keys(address).length === 0) return null
  const missing = ADDRESS_NEEDS.filter(([member]) => address[member] === undefined)
  // A country without any other member is the recipient's country and not an address.
  if (
    missing.length === ADDRESS_NEEDS.length - 1 &&
    address['country'] !== undefined &&
    Object.keys(address).length === 1
  )
    return null
  for (const [, column] of missing)
    faults.push({ column, code: 'required', message: 'An address has a line, a city and a country.' })
  if (missing.length > 0) return null
  return { ...address, country: address['country']!.toUpperCase() } as unknown as AddressInput
}

/** Returns the rail that the row requests; null when the row leaves the choice to the service. */
export function railOfRow({ rail, service, currency }: BulkInstruction, faults: RowFault[]): Rail | null {
  if (rail !== undefined) {
    if (RAILS.has(rail as Rail)) return rail as Rail
    faults.push({ column: 'rail', code: 'invalid_value', message: 'There is no such rail.' })
    return null
  }
  const rows = [...RAILS.values()]
  if (service?.localInstrument === 'INST') return rows.find((row) => row.localInstrument === 'INST')?.rail ?? null
  // The level of the European schemes names the scheme, so a payment in a wrong currency is refused with its rail.
  const named = rows.find(
    ({ serviceLevels, currency: of }) =>
      serviceLevels.some((level) => level === service?.level) && (service?.level === 'SEPA' || of === currency),
  )
  return named?.rail ?? null
}

/** Returns the charge bearer that a row names; undefined when it is absent or unknown, and the latter is a fault. */
export function bearerOfRow({ chargeBearer }: BulkInstruction, faults: RowFault[]): ChargeBearer | undefined {
  if (chargeBearer === undefined) return undefined
  const bearer = CHARGE_BEARERS.find((each) => each === chargeBearer)
  if (bearer === undefined)
    faults.push({ column: 'charge_bearer', code: 'invalid_value', message: `One of ${CHARGE_BEARERS.join(', ')}.` })
  return bearer
}

/** Reads an id of a row, in lower case; null when it is absent or not a UUID, and the latter is added to `faults`. */
export function idOfRow(text: string | undefined, column: string, faults: RowFault[]): string | null {
  if (text === undefined) return null
  if (isUuid(text)) return text.toLowerCase()
  faults.push({ column, code: 'invalid_format', message: 'An id is a UUID.' })
  return null
}

const COLUMN_OF_POINTER: ReadonlyMap<string, string> = new Map([
  ...COLUMNS.map(
    ({ name, member, target }) => [target === 'instruction' ? `/${member}` : `/${target}/${member}`, name] as const,
  ),
  ['/name', 'recipient_name'],
  ['/type', 'recipient_type'],
  ['/amount/amountMinor', 'amount'],
  ['/amount/currency', 'currency'],
  ['/requestedRail', 'rail'],
  // A row cannot name a quote: it is paid from a balance of its own currency.
  ['/quoteId', 'source_balance_id'],
])

/** Returns the column that belongs to a JSON Pointer of the API. */
export const columnOfField = (field: string | null): string =>
  field === null ? '' : (COLUMN_OF_POINTER.get(field) ?? field.slice(1).replaceAll('/', '.'))

const CODE_OF_PROBLEM: Readonly<Record<string, { readonly column: string; readonly code: RowProblemCode }>> = {
  'recipient-not-approved': { column: 'recipient_id', code: 'recipient_not_approved' },
  'duplicate-external-id': { column: 'external_id', code: 'duplicate_external_id' },
  'limit-exceeded': { column: 'amount', code: 'limit_exceeded' },
  'rail-unavailable': { column: 'rail', code: 'rail_unavailable' },
  'verification-mismatch': { column: 'recipient_name', code: 'verification_mismatch' },
  'customer-restricted': { column: '', code: 'customer_restricted' },
  'customer-not-active': { column: '', code: 'customer_not_active' },
}

/** Converts an issue of a payment to a fault of the row. Codes of field errors stay as they are. */
export function faultOfIssue({
  code,
  field,
  message,
}: {
  readonly code: string
  readonly field: string | null
  readonly message: string
}): RowFault {
  const known = CODE_OF_PROBLEM[code]
  if (known !== undefined) return { ...known, message }
  return field === null
    ? { column: '', code: 'not_payable', message }
    : { column: columnOfField(field), code: code as RowFault['code'], message }
}

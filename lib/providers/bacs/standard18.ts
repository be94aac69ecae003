/**
 * Writes submissions to Bacs in the format Standard 18: labels of 80 characters around records of 100, for one
 * processing day. Sums stand behind the records, so a file is written in one pass, whatever its length.
 *
 * The public descriptions of the format leave these choices, and a bank may want another:
 * - Lines end with CR LF. Tapes had no line ends; uploads and gateways take them.
 * - The contra record of debits has the code 99, the account that is credited on both sides, and `CONTRA` as reference.
 * - The count of instructions stands in the trailer at 53 to 59, after eight blanks.
 * - Instructions have no contra record, because they move no money.
 */
import { firstFault, unless } from '../iso20022/faults.ts'
import type { OrderFault } from '../iso20022/messages.ts'
import { OrderFileError } from '../iso20022/order-file.ts'
import { carriedText } from '../iso20022/texts.ts'
import { BACS_INSTRUCTION_CODES, type BacsAccount, type BacsHead, type BacsItem, type BacsTotals } from './messages.ts'

/** Characters of a name and of a reference. */
export const BACS_TEXT_MAX = 18
/** Pence of one record, eleven digits; the contra record holds the sum of a file. */
export const BACS_AMOUNT_MAX = 10n ** 11n - 1n
/** Records of one file, which its counters of seven digits hold easily. */
export const BACS_ITEMS_MAX = 100_000
const PIECE = 64 * 1024
const LINE_END = '\r\n'
const CONTRA_CODE = '99'
/** Stands for "any receiver" in the user header label. */
const RECEIVER = '999999'
const INSTRUCTIONS: ReadonlySet<string> = new Set(BACS_INSTRUCTION_CODES)

/** Tells whether an item is an instruction: it moves no money. */
export const isInstruction = ({ code }: Pick<BacsItem, 'code'>): boolean => INSTRUCTIONS.has(code)

/** Returns why an item cannot be written; null where it can. */
export function bacsItemFault(item: BacsItem): OrderFault | null {
  const { amount, payer, text } = item
  return firstFault([
    isInstruction(item)
      ? unless(amount === 0n, 'amount', 'An instruction has no amount.')
      : unless(amount > 0n && amount <= BACS_AMOUNT_MAX, 'amount', `An amount is 1 to ${BACS_AMOUNT_MAX} pence.`),
    accountFault('payer', payer),
    unless(
      text.length <= BACS_TEXT_MAX && carriedText(text, 'bacs', BACS_TEXT_MAX) === text,
      'text',
      `At most ${BACS_TEXT_MAX} capital letters, digits and . & / -`,
    ),
  ])
}

const accountFault = (field: string, { sortCode, accountNumber, name }: BacsAccount): OrderFault | null =>
  firstFault([
    unless(/^\d{6}$/.test(sortCode), `${field}.sortCode`, 'Six digits.'),
    unless(/^\d{8}$/.test(accountNumber), `${field}.accountNumber`, 'Eight digits.'),
    unless(nameOf(name) !== '', `${field}.name`, 'The name has no letter or digit that Bacs carries.'),
  ])

function headFault(head: BacsHead): OrderFault | null {
  const { serialNumber, fileNumber, serviceUserNumber, userName, account } = head
  return firstFault([
    unless(/^[A-Z0-9]{6}$/.test(serialNumber), 'serialNumber', 'Six capital letters and digits.'),
    unless(Number.isInteger(fileNumber) && fileNumber >= 1 && fileNumber <= 999, 'fileNumber', '1 to 999.'),
    unless(/^\d{6}$/.test(serviceUserNumber), 'serviceUserNumber', 'Six digits.'),
    unless(nameOf(userName) !== '', 'userName', 'The name has no letter or digit that Bacs carries.'),
    accountFault('account', account),
  ])
}

const nameOf = (name: string): string => carriedText(name, 'bacs', BACS_TEXT_MAX)

/** Fields of a record, padded on the right with blanks, or on the left with zeros. */
const text = (value: string, length: number): string => value.slice(0, length).padEnd(length)
const digits = (value: bigint | number, length: number): string => String(value).padStart(length, '0')

/** Returns a day as the labels write it: a blank, two digits of the year, and the day of the year. */
export function julianDay(day: string): string {
  const { year, dayOfYear } = Temporal.PlainDate.from(day)
  return ` ${digits(year % 100, 2)}${digits(dayOfYear, 3)}`
}

function openingLabels(head: BacsHead): string {
  const { serialNumber, serviceUserNumber, fileNumber, processingDay } = head
  return [
    `VOL1${serialNumber}${text('', 31)}${serviceUserNumber}${text('', 32)}1`,
    ...fileLabels('HDR', head),
    `UHL1${julianDay(processingDay)}${text(RECEIVER, 10)}00${text('', 6)}${text('1 DAILY', 9)}${digits(fileNumber, 3)}${text('', 40)}`,
  ]
    .map(line)
    .join('')
}

/** The two labels that stand at both ends of a file, alike but for their names. */
function fileLabels(name: 'HDR' | 'EOF', head: BacsHead): string[] {
  const { serialNumber, serviceUserNumber: user, fileNumber, createdOn, processingDay } = head
  const file = `A${user}S  ${fileNumber % 10}${user}`
  // The file expires when it has been processed: the day after.
  const expires = Temporal.PlainDate.from(processingDay).add({ days: 1 }).toString()
  return [
    `${name}1${file}${serialNumber}0001${digits(fileNumber, 4)}${text('', 6)}${julianDay(createdOn)}${julianDay(expires)}${text('', 1)}000000${text('', 20)}`,
    `${name}2F0200000100${text('', 35)}00${text('', 28)}`,
  ]
}

function trailer({ debits, debitSum, instructions }: BacsTotals): string {
  const contras = debits === 0 ? 0 : 1
  return line(
    `UTL1${digits(debitSum, 13)}${digits(debitSum, 13)}${digits(debits, 7)}${digits(contras, 7)}${text('', 8)}${digits(instructions, 7)}${text('', 21)}`,
  )
}

const line = (record: string): string => record + LINE_END

function record(
  destination: BacsAccount,
  { code, amount, reference, name }: { code: string; amount: bigint; reference: string; name: string },
  { account, userName }: BacsHead,
): string {
  return line(
    `${destination.sortCode}${destination.accountNumber}0${code}${account.sortCode}${account.accountNumber}${text('', 4)}` +
      `${digits(amount, 11)}${text(nameOf(userName), BACS_TEXT_MAX)}${text(reference, BACS_TEXT_MAX)}${text(nameOf(name), BACS_TEXT_MAX)}`,
  )
}

/**
 * Writes a submission as ASCII, piece by piece, and returns its sums. Each item is checked before it is written.
 *
 * @throws OrderFileError for a head or an item that cannot be written, no items, or more than BACS_ITEMS_MAX; the pieces
 *   before it are then void
 */
export async function* writeStandard18(
  head: BacsHead,
  items: AsyncIterable<BacsItem> | Iterable<BacsItem>,
): AsyncGenerator<Uint8Array, BacsTotals> {
  const fault = headFault(head)
  if (fault !== null) throw new OrderFileError(null, fault)
  let debits = 0
  let debitSum = 0n
  let instructions = 0
  let piece = openingLabels(head)
  for await (const item of items) {
    const { reference, code, amount, payer, text: carried } = item
    const own = bacsItemFault(item)
    if (own !== null) throw new OrderFileError(reference, own)
    if (isInstruction(item)) instructions += 1
    else {
      debits += 1
      debitSum += amount
    }
    if (debits + instructions > BACS_ITEMS_MAX) wrong(`A file has at most ${BACS_ITEMS_MAX} records.`)
    piece += record(payer, { code, amount, reference: carried, name: payer.name }, head)
    if (piece.length >= PIECE) {
      yield Buffer.from(piece, 'latin1')
      piece = ''
    }
  }
  if (debits + instructions === 0) wrong('A file has at least one record.')
  const totals: BacsTotals = { debits, debitSum, instructions }
  const { account } = head
  if (debits > 0) {
    if (debitSum > BACS_AMOUNT_MAX) wrong(`The contra record holds at most ${BACS_AMOUNT_MAX} pence.`)
    piece += record(account, { code: CONTRA_CODE, amount: debitSum, reference: 'CONTRA', name: account.name }, head)
  }
  yield Buffer.from(`${piece}${fileLabels('EOF', head).map(line).join('')}${trailer(totals)}`, 'latin1')
  return totals
}

function wrong(message: string): never {
  throw new OrderFileError(null, { field: 'items', message })
}

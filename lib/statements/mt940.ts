/**
 * Writes statements as MT940, for software that reads no newer format, in pieces: head, lines, end. The whole statement
 * is one message, as banks deliver files: the limit of 2 000 characters per message is a rule of the network, not of
 * files.
 *
 * The format allows only the SWIFT character set, and 15 characters for an amount: a statement with a larger amount has
 * no MT940 (`fitsMt940`).
 */
import { timestamp } from '../base/clock.ts'
import { formatMajor } from '../base/money.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { TransactionType } from '../ledger/postings.ts'
import type { StatementHead, StatementLine } from './statement.ts'

/** Characters of an amount; one of them is always the comma. */
const AMOUNT_MAX = 15
const WIDTH = 65
/** Field 86 has six lines. */
const NARRATIVE_LINES_MAX = 6
const REFERENCE_MAX = 16
const ACCOUNT_MAX = 35
/** Statement numbers have five digits. */
const NUMBER_MODULUS = 100_000

/** The transaction types of the network; `N` marks types that were not caused by one of its own messages. */
const CODES: Readonly<Record<TransactionType, string>> = {
  incoming_payment: 'NTRF',
  outgoing_payment: 'NTRF',
  payment_return: 'NRTI',
  incoming_payment_return: 'NRTI',
  transfer_in: 'NTRF',
  transfer_out: 'NTRF',
  exchange_out: 'NFEX',
  exchange_in: 'NFEX',
  collection: 'NDDT',
  collection_return: 'NRTI',
  direct_debit: 'NDDT',
  direct_debit_refund: 'NRTI',
  card_payment: 'NMSC',
  card_refund: 'NMSC',
  card_withdrawal: 'NMSC',
  forward_deposit: 'NFEX',
  forward_deposit_release: 'NFEX',
  fee: 'NCHG',
  fee_refund: 'NCHG',
  interest: 'NINT',
  adjustment: 'NMSC',
}

/** Letters that Unicode does not decompose into a plain letter and a mark. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  Æ: 'AE',
  æ: 'ae',
  Ø: 'O',
  ø: 'o',
  Œ: 'OE',
  œ: 'oe',
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  Þ: 'Th',
  þ: 'th',
  ð: 'd',
  ı: 'i',
  '&': '+',
  '’': "'",
  '–': '-',
  '—': '-',
}

/** Converts text to the SWIFT character set; other characters become a full stop. */
export function telegram(text: string): string {
  return text
    .replace(/[ßÆæØøŒœŁłĐđÞþðı&’–—]/g, (letter) => PLAIN[letter] as string)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9/\-?:().,'+ ]/gu, '.')
}

function amountText(amount: bigint, currency: CurrencyCode): string {
  const text = formatMajor(amount < 0n ? -amount : amount, currency)
  return text.includes('.') ? text.replace('.', ',') : `${text},`
}

/** Tells whether every amount of a statement fits; `largest` is the largest amount of its lines. */
export function fitsMt940(
  { currency, opening, closing }: Pick<StatementHead, 'currency' | 'opening' | 'closing'>,
  largest: bigint,
): boolean {
  return [opening, closing, largest].every((amount) => amountText(amount, currency).length <= AMOUNT_MAX)
}

/** Converts `YYYY-MM-DD` to `YYMMDD`. */
const day = (date: string): string => date.slice(2).replaceAll('-', '')
const balance = (tag: string, amount: bigint, date: string, currency: CurrencyCode): string =>
  `:${tag}:${amount < 0n ? 'D' : 'C'}${day(date)}${currency}${amountText(amount, currency)}\r\n`

/** Writes the part before the first line. */
export function mt940Head(head: StatementHead): string {
  const { holder, currency } = head
  const account = telegram(
    (holder.iban ?? holder.accountNumber ?? holder.balanceId.replaceAll('-', '')).replaceAll(' ', ''),
  ).slice(0, ACCOUNT_MAX)
  return (
    `:20:${head.id.replaceAll('-', '').slice(-REFERENCE_MAX).toUpperCase()}\r\n:25:${account}\r\n` +
    `:28C:${String(head.sequenceNumber % NUMBER_MODULUS).padStart(5, '0')}/00001\r\n${balance('60F', head.opening, head.from, currency)}`
  )
}

/** Writes the lines of the narrative; no line begins with a character that would start a field or end the message. */
function narrative(parts: readonly (string | null)[]): string {
  const text = parts
    .filter((part) => part !== null && part !== '')
    .map((part) =>
      telegram(part as string)
        .replace(/ +/g, ' ')
        .trim(),
    )
    .join(' / ')
  const lines: string[] = []
  for (let from = 0; from < text.length && lines.length < NARRATIVE_LINES_MAX; from += WIDTH) {
    const line = text.slice(from, from + WIDTH)
    lines.push(/^[:-]/.test(line) ? `.${line.slice(1)}` : line)
  }
  return lines.join('\r\n')
}

/** Makes a reference for fields of the network: at most 16 characters, without slashes. */
function shortReference(text: string | null): string {
  const clean = text === null ? '' : telegram(text).replace(/\/+/g, '.').slice(0, REFERENCE_MAX).trim()
  return clean === '' ? 'NONREF' : clean
}

/** Writes lines, in the order in which they were booked. */
export function mt940Lines({ currency }: Pick<StatementHead, 'currency'>, lines: readonly StatementLine[]): string {
  let text = ''
  for (const line of lines) {
    const way = line.isReversal ? (line.direction === 'debit' ? 'RC' : 'RD') : line.direction === 'debit' ? 'D' : 'C'
    const booked = timestamp(line.bookedAt).slice(5, 10).replace('-', '')
    text +=
      `:61:${day(line.valueDate)}${booked}${way}${amountText(line.amount, currency)}${CODES[line.type]}${shortReference(line.endToEndId)}//${line.entryId.replaceAll('-', '').slice(-REFERENCE_MAX).toUpperCase()}\r\n` +
      `:86:${narrative([line.description, line.counterparty, line.reference])}\r\n`
  }
  return text
}

/** Writes the part after the last line. */
export function mt940End({ closing, to, currency }: Pick<StatementHead, 'closing' | 'to' | 'currency'>): string {
  return `${balance('62F', closing, to, currency)}${balance('64', closing, to, currency)}-\r\n`
}

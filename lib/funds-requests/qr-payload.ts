/**
 * The payload of the QR code that a payer's banking app reads: the format of the European Payments Council for SEPA
 * credit transfers (version 2, in UTF-8), for euros to an account with an IBAN. For other currencies banks have agreed
 * on no common code.
 */
import { formatMajor } from '../base/money.ts'

/** The guideline's bounds: bytes of the payload, characters of the name, and the largest amount. */
const PAYLOAD_BYTES_MAX = 331
const NAME_MAX = 70
const AMOUNT_MAX = 99_999_999_999n

export interface QrFacts {
  readonly currency: string
  /** Minor units, more than zero. */
  readonly amount: bigint
  readonly payeeName: string
  readonly iban: string | null
  readonly bic: string | null
  /** A creditor reference. */
  readonly reference: string
}

/** Builds the payload; null where the guideline allows none. */
export function qrPayload({ currency, amount, payeeName, iban, bic, reference }: QrFacts): string | null {
  if (currency !== 'EUR' || iban === null || amount <= 0n || amount > AMOUNT_MAX) return null
  const name = Array.from(payeeName.replace(/\s+/gu, ' ').trim()).slice(0, NAME_MAX).join('')
  // Service tag, version, UTF-8, SEPA credit transfer; the empty field after the amount is the purpose, which is
  // optional.
  const payload = [
    'BCD',
    '002',
    '1',
    'SCT',
    bic ?? '',
    name,
    iban,
    `EUR${formatMajor(amount, 'EUR')}`,
    '',
    reference,
  ].join('\n')
  return Buffer.byteLength(payload) <= PAYLOAD_BYTES_MAX ? payload : null
}

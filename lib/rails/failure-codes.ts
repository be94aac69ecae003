/**
 * Failure codes: the schemes' reason codes translated to our codes, with the texts for customers.
 *
 * The lists follow ISO 20022 (external status and return reasons), Nacha (ACH returns) and Pay.UK (Faster Payments,
 * Bacs). A code that is in no list never stops processing: it is stored as received and shown as `unknown`.
 */

/** The code list of a reason. `provider` is a partner's own list. */
export type Scheme = 'iso20022' | 'ach' | 'bacs' | 'fps' | 'provider'

interface Row {
  readonly iso20022?: string
  readonly ach?: string
  readonly fps?: string
  readonly bacs?: string
  /** The text for customers. Neutral: it never says that a compliance check decided. */
  readonly message: string
  /** Whether an unchanged new payment may succeed. */
  readonly retryable: boolean
}

const ROWS = {
  insufficient_funds: {
    iso20022: 'AM04',
    ach: 'R01 R09',
    bacs: '0',
    message: 'There was not enough money available.',
    retryable: true,
  },
  account_not_found: {
    iso20022: 'AC03 BE06',
    ach: 'R03',
    fps: 'AC03 PY01',
    bacs: '5',
    message: 'The recipient’s account does not exist.',
    retryable: false,
  },
  account_closed: {
    iso20022: 'AC04 AC07',
    ach: 'R02',
    fps: 'AC07',
    bacs: 'B',
    message: 'The recipient’s account is closed.',
    retryable: false,
  },
  account_blocked: {
    iso20022: 'AC06 AC16 AC17',
    ach: 'R16',
    fps: 'AC06',
    message: 'The recipient’s account is blocked.',
    retryable: false,
  },
  account_not_eligible: {
    iso20022: 'AG01 AG03 AC14',
    ach: 'R20 R13',
    fps: 'AG01',
    bacs: 'F',
    message: 'The recipient’s account cannot receive this kind of payment.',
    retryable: false,
  },
  invalid_account_details: {
    iso20022: 'AC01 RC01 RC03 RC04 RC07 AGNT',
    ach: 'R04 R17 R28',
    bacs: 'L',
    message: 'The recipient’s account details are not valid.',
    retryable: false,
  },
  name_mismatch: {
    iso20022: 'BE01 BE05',
    fps: 'NAME_AND_NUMBER_MISMATCH',
    message: 'The name does not match the recipient’s account.',
    retryable: false,
  },
  bank_unreachable: {
    iso20022: 'CNOR DNOR AB05 AB06 AB07 AB08 AB09 NOAS',
    ach: 'R32 R34',
    fps: 'BE08',
    message: 'The recipient’s bank could not be reached.',
    retryable: true,
  },
  unsupported_currency: {
    iso20022: 'AM03 CURR AC09',
    ach: 'R85',
    fps: 'AC09',
    message: 'The recipient’s account does not take this currency.',
    retryable: false,
  },
  amount_limit_exceeded: {
    iso20022: 'AM02 AM14',
    ach: 'R19',
    message: 'The amount is above what the scheme or the recipient’s bank allows.',
    retryable: false,
  },
  duplicate: {
    iso20022: 'AM05 DUPL',
    ach: 'R24',
    message: 'The payment was taken for a duplicate of another one.',
    retryable: false,
  },
  refused_by_recipient_bank: {
    iso20022: 'MS03 AG02 NARR SL02',
    ach: 'R31',
    fps: 'MS03',
    message: 'The recipient’s bank refused the payment.',
    retryable: false,
  },
  refused_by_recipient: {
    iso20022: 'MS02',
    ach: 'R23 R08',
    bacs: '1',
    message: 'The recipient refused the payment.',
    retryable: false,
  },
  regulatory_information_missing: {
    iso20022: 'RR01 RR02 RR03 RR05 RR06 RR12 BE04 BE07 BE10 BE11',
    ach: 'R26 R80',
    fps: 'NAME_MISSING',
    message: 'Information that regulation asks for is missing.',
    retryable: false,
  },
  reference_invalid: {
    iso20022: 'RR07 RR09 RF01',
    ach: 'R25',
    fps: 'REFERENCE_INCORRECT_OR_MISSING',
    message: 'The reference is missing or not accepted.',
    retryable: false,
  },
  cutoff_missed: {
    iso20022: 'TM01 DT01',
    ach: 'R18',
    message: 'The payment came too late for the day it was meant for.',
    retryable: true,
  },
  declined: { iso20022: 'RR04 FRAD FR01 AM07', ach: 'R90', message: 'The payment was declined.', retryable: false },
  approval_expired: { message: 'The payment was not approved in time.', retryable: true },
  rate_moved: { message: 'The rate has moved by more than is allowed.', retryable: true },
  recalled: { iso20022: 'FOCR CUST UPAY', ach: 'R06', message: 'The payment was recalled.', retryable: false },
  recipient_deceased: {
    iso20022: 'MD07',
    ach: 'R14 R15',
    fps: 'MD09',
    bacs: '2',
    message: 'The recipient’s account can no longer receive payments.',
    retryable: false,
  },
  technical_error: {
    iso20022: 'FF01 DS28 ED05 TECH BE08 AB03 AB04',
    ach: 'R27',
    message: 'The payment failed for a technical reason.',
    retryable: true,
  },
  unknown: { message: 'The payment failed; the reason is not known.', retryable: false },
} as const satisfies Record<string, Row>

/** Our code for the reason why a payment failed or came back. */
export type FailureCode = keyof typeof ROWS

/** Every failure code. */
export const FAILURE_CODES: readonly FailureCode[] = Object.keys(ROWS) as FailureCode[]

/** A failure as a payment shows it, without its time. */
export interface FailureReason {
  readonly code: FailureCode
  readonly message: string
  /** Null when the platform itself decided. */
  readonly scheme: Scheme | null
  /** The code as it was received. */
  readonly schemeCode: string | null
  /** Whether an unchanged new payment may succeed. */
  readonly retryable: boolean
}

// When the list of a code is not known, the first of these lists that has it counts: the codes hardly overlap, and
// where they do (BE08) the international meaning is the wider one.
const LISTED: readonly ('iso20022' | 'ach' | 'fps' | 'bacs')[] = ['iso20022', 'ach', 'fps', 'bacs']

const BY_SCHEME = new Map<Scheme, ReadonlyMap<string, FailureCode>>(
  LISTED.map((scheme) => [
    scheme,
    new Map(
      FAILURE_CODES.flatMap((code) => {
        const row: Row = ROWS[code]
        return (row[scheme] ?? '')
          .split(' ')
          .filter((listed) => listed !== '')
          .map((listed) => [listed, code] as const)
      }),
    ),
  ]),
)

/** Makes a failure that the platform decides itself, without a scheme's code. */
export function failureOf(code: FailureCode): FailureReason {
  const { message, retryable } = ROWS[code]
  return { code, message, scheme: null, schemeCode: null, retryable }
}

/**
 * Translates a scheme's reason code. `scheme` names its list; without it the code is looked for in all lists, ISO 20022
 * first. Case, spaces and underscores do not matter. A code in no list gives `unknown`, with the code kept.
 */
export function failureFor(schemeCode: string, scheme: Scheme | null = null): FailureReason {
  const wanted = schemeCode.trim().toUpperCase().replaceAll(' ', '_')
  const searched = scheme === null ? LISTED : scheme === 'fps' ? (['fps', 'iso20022'] as const) : [scheme]
  for (const each of searched) {
    const code = BY_SCHEME.get(each)?.get(wanted)
    // Faster Payments uses codes of ISO 20022, too; the scheme shown is still Faster Payments.
    if (code !== undefined) return { ...failureOf(code), scheme: scheme ?? each, schemeCode }
  }
  return { ...failureOf('unknown'), scheme: scheme ?? 'provider', schemeCode }
}

/** Returns the ISO 20022 reason for one of our codes, the first if there are several; null if there is none. */
export function isoReasonOf(code: FailureCode): string | null {
  const row: Row = ROWS[code]
  return row.iso20022?.split(' ')[0] ?? null
}

/**
 * Tells whether a code is a listed reason of ISO 20022 or ACH, the two lists from which the sandbox can be told to
 * fail.
 */
export function isIsoOrAchCode(code: string): boolean {
  return BY_SCHEME.get('iso20022')!.has(code) || BY_SCHEME.get('ach')!.has(code)
}

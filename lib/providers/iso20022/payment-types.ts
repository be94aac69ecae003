/** The codes by which files name rails and schemes of direct debits, where the bank did not agree other codes. */
import { RAILS, type CharacterSet, type ChargeBearer, type Rail } from '../../rails/rails.ts'
import type { DebitScheme, DebitSequence, FileHead, PaymentType } from './messages.ts'

/** The service level of the European schemes. */
const SEPA = 'SEPA'

/** Returns the codes of a rail: those agreed with the bank, otherwise those of the table of rails. */
export function paymentTypeOf(rail: Rail, agreed: FileHead['paymentTypes']): PaymentType {
  const own = agreed?.[rail]
  if (own !== undefined) return own
  const terms = RAILS.get(rail)
  const serviceLevel = terms?.sepa === true ? SEPA : terms?.serviceLevels[0]
  return {
    ...(serviceLevel === undefined ? {} : { serviceLevel }),
    ...(terms?.localInstrument == null ? {} : { localInstrument: { code: terms.localInstrument } }),
  }
}

interface DebitTerms {
  readonly currency: 'EUR' | 'GBP' | 'USD' | 'AUD' | 'CAD'
  readonly characters: CharacterSet
  readonly nameMax: number
  readonly textMax: number
  readonly paymentType: PaymentType
  /** A scheme of the European Payments Council. */
  readonly sepa: boolean
}

/** The schemes of direct debits. */
export const DEBIT_TERMS: { readonly [scheme in DebitScheme]: DebitTerms } = {
  sepa_dd_core: {
    currency: 'EUR',
    characters: 'epc',
    nameMax: 70,
    textMax: 140,
    paymentType: { serviceLevel: SEPA, localInstrument: { code: 'CORE' } },
    sepa: true,
  },
  sepa_dd_b2b: {
    currency: 'EUR',
    characters: 'epc',
    nameMax: 70,
    textMax: 140,
    paymentType: { serviceLevel: SEPA, localInstrument: { code: 'B2B' } },
    sepa: true,
  },
  bacs_dd: {
    currency: 'GBP',
    characters: 'bacs',
    nameMax: 18,
    textMax: 18,
    paymentType: { serviceLevel: 'NURG' },
    sepa: false,
  },
  ach_debit: {
    currency: 'USD',
    characters: 'ascii',
    nameMax: 22,
    textMax: 80,
    paymentType: { serviceLevel: 'NURG' },
    sepa: false,
  },
  becs_dd: {
    currency: 'AUD',
    characters: 'ascii',
    nameMax: 32,
    textMax: 18,
    paymentType: { serviceLevel: 'NURG' },
    sepa: false,
  },
  pad: {
    currency: 'CAD',
    characters: 'ascii',
    nameMax: 30,
    textMax: 80,
    paymentType: { serviceLevel: 'NURG' },
    sepa: false,
  },
}

/** Returns the codes of a scheme: those agreed with the bank, otherwise those of the scheme. */
export const debitTypeOf = (scheme: DebitScheme, agreed: FileHead['paymentTypes']): PaymentType =>
  agreed?.[scheme] ?? DEBIT_TERMS[scheme].paymentType

/** The sequence types of ISO 20022. */
export const SEQUENCE_CODES: { readonly [sequence in DebitSequence]: string } = {
  first: 'FRST',
  recurring: 'RCUR',
  final: 'FNAL',
  one_off: 'OOFF',
}

/** The charge bearers of ISO 20022; the European schemes know only `SLEV`. */
export const BEARER_CODES: { readonly [bearer in ChargeBearer]: string } = {
  shared: 'SHAR',
  sender: 'DEBT',
  recipient: 'CRED',
}
export const SCHEME_BEARER = 'SLEV'

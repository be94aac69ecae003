/** The rules of single countries: the members of their addresses, and the purpose codes of their central banks. */
import { SEPA_COUNTRIES } from '../rails/rails.ts'

/** Countries whose addresses name a state. */
export const STATES = new Set(['US', 'CA', 'AU', 'MX', 'IN'])
/** Ireland is left out: most of its addresses are written without a postal code. */
export const POSTAL_CODES = new Set([...SEPA_COUNTRIES, 'US', 'CA'].filter((country) => country !== 'IE'))

/** Returns the members that a country's addresses must have besides line, city and country. */
export function addressNeeds(country: string): readonly ('postalCode' | 'state')[] {
  return [
    ...(POSTAL_CODES.has(country) ? ['postalCode' as const] : []),
    ...(STATES.has(country) ? ['state' as const] : []),
  ]
}

/** The form of the purpose codes of a central bank. */
export interface PurposeRule {
  readonly pattern: string
  readonly maxLength: number
  readonly example: string
  readonly description: string
}

const PARTNER_PURPOSE: PurposeRule = {
  pattern: '^[A-Z0-9]{1,5}$',
  maxLength: 5,
  example: 'GDDS',
  description: 'From the list of the country’s central bank.',
}

/** Countries whose central bank requires a purpose code for every payment. */
export const PURPOSES: Readonly<Record<string, PurposeRule>> = {
  AE: {
    pattern: '^[A-Z]{3}$',
    maxLength: 3,
    example: 'GDS',
    description: 'From the list of the Central Bank of the UAE, for example SAL, FAM, GDS, IGT, INS.',
  },
  IN: {
    pattern: '^P[0-9]{4}$',
    maxLength: 5,
    example: 'P0103',
    description: 'From the list of the Reserve Bank of India.',
  },
  ZA: {
    pattern: '^[0-9]{3}$',
    maxLength: 3,
    example: '101',
    description: 'Balance of payments category of the South African Reserve Bank.',
  },
  ...Object.fromEntries(
    ['CN', 'MY', 'PH', 'TH', 'BH', 'JO', 'KZ', 'KW', 'OM', 'QA'].map((country) => [country, PARTNER_PURPOSE]),
  ),
}

/** The clearing systems of ISO 20022 by which files name banks, and the account detail that each one's number is. */
import type { BankField } from './bank-field.ts'

/** The systems whose member id is one account detail. */
export const CLEARING_FIELDS: Readonly<Record<string, BankField>> = {
  GBDSC: 'sortCode',
  USABA: 'routingNumber',
  AUBSB: 'bsb',
  INFSC: 'ifsc',
  HKNCC: 'bankCode',
  SGIBG: 'bankCode',
}

/** Canada's system, whose member id is a zero, the institution (three digits) and the branch (five digits). */
export const CANADIAN_CLEARING = 'CACPA'
const INSTITUTION_DIGITS = 3
const TRANSIT_DIGITS = 5

/** Joins the parts of a Canadian member id. */
export const canadianMember = (institutionNumber: string, transitNumber: string): string =>
  `0${institutionNumber}${transitNumber}`

/** Takes a Canadian member id apart; the zero in front may be missing. */
export function canadianParts(member: string): { readonly institutionNumber: string; readonly transitNumber: string } {
  return {
    institutionNumber: member.slice(0, -TRANSIT_DIGITS).slice(-INSTITUTION_DIGITS),
    transitNumber: member.slice(-TRANSIT_DIGITS),
  }
}

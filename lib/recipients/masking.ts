/**
 * Masks account numbers for lists, logs and documents: enough to recognise an account, not enough to use it. Sort codes
 * and BICs name a bank, not a person, and are never masked.
 */

/** Masks an IBAN to its first four and last four characters: `NL77****0001`. Spaces are ignored. */
export function maskIban(iban: string): string {
  const compact = iban.replaceAll(' ', '')
  return `${compact.slice(0, 4)}****${compact.slice(-4)}`
}

/**
 * Masks any other account number to its end: `****` and the last four characters, or the last two when the number has
 * six or fewer, because four would reveal most of it. Spaces and dashes are ignored.
 */
export function maskAccountNumber(number: string): string {
  const compact = number.replaceAll(/[\s-]/g, '')
  return `****${compact.slice(compact.length <= 6 ? -2 : -4)}`
}

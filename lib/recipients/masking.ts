/**
 * Account numbers as lists, logs and documents show them: enough to recognise, not enough to use.
 * Sort codes and BICs name a bank, not a person, and are never masked.
 */

/** An IBAN with only its first four and last four characters: `NL77****0001`. Spaces are ignored. */
export function maskIban(iban: string): string {
  const compact = iban.replaceAll(' ', '')
  return `${compact.slice(0, 4)}****${compact.slice(-4)}`
}

/**
 * Any other account number with only its end: `****` and the last four characters, or the last two when the number has
 * six or fewer, where four would give most of it away. Spaces and dashes are ignored.
 */
export function maskAccountNumber(number: string): string {
  const compact = number.replaceAll(/[\s-]/g, '')
  return `****${compact.slice(compact.length <= 6 ? -2 : -4)}`
}

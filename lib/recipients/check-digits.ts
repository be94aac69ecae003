/**
 * Check digits of account numbers and references, each by the rule that its scheme publishes. Every function takes the
 * compact form (digits only, no spaces or dashes) and tells whether the digits agree; the caller checks form and
 * length.
 */

function digitsOf(text: string): number[] {
  return Array.from(text, Number)
}

/** Adds up digits times weights; digits and weights are aligned at the right. */
function weighted(text: string, weights: readonly number[]): number {
  const digits = digitsOf(text)
  const from = weights.length - digits.length
  return digits.reduce((sum, digit, index) => sum + digit * (weights[from + index] ?? 0), 0)
}

const ABA_WEIGHTS = [3, 7, 1, 3, 7, 1, 3, 7, 1]

/** Checks a routing number of the American Bankers Association: weights 3, 7, 1 repeated, sum divisible by ten. */
export function abaValid(routingNumber: string): boolean {
  return weighted(routingNumber, ABA_WEIGHTS) % 10 === 0
}

const ABA_PREFIXES = [
  [0, 12],
  [21, 32],
  [61, 72],
  [80, 80],
] as const

/** Tells whether the first two digits are in use for routing numbers: district, thrift, electronic, cheques. */
export function abaPrefixKnown(routingNumber: string): boolean {
  const prefix = Number(routingNumber.slice(0, 2))
  return ABA_PREFIXES.some(([from, to]) => prefix >= from && prefix <= to)
}

const CLABE_WEIGHTS = [3, 7, 1]

/** Checks a Mexican CLABE of 18 digits: each product is cut to its last digit before the sum. */
export function clabeValid(clabe: string): boolean {
  const digits = digitsOf(clabe)
  const sum = digits
    .slice(0, 17)
    .reduce((total, digit, index) => total + ((digit * (CLABE_WEIGHTS[index % 3] as number)) % 10), 0)
  return (10 - (sum % 10)) % 10 === digits[17]
}

const NORWAY_WEIGHTS = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]

/** Checks a Norwegian account of 11 digits: modulus 11; a check digit of ten does not exist. */
export function norwegianAccountValid(account: string): boolean {
  const check = (11 - (weighted(account.slice(0, 10), NORWAY_WEIGHTS) % 11)) % 11
  return check === Number(account[10])
}

const CZECH_WEIGHTS = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1]

/** Checks a Czech account, prefix and base alike: right-aligned weights, sum divisible by eleven. */
export function czechAccountValid({ prefix, base }: { readonly prefix: string; readonly base: string }): boolean {
  return weighted(prefix, CZECH_WEIGHTS) % 11 === 0 && weighted(base, CZECH_WEIGHTS) % 11 === 0
}

const HUNGARY_WEIGHTS = [9, 7, 3, 1]

function hungarianPartValid(part: string): boolean {
  return (
    digitsOf(part).reduce((sum, digit, index) => sum + digit * (HUNGARY_WEIGHTS[index % 4] as number), 0) % 10 === 0
  )
}

/**
 * Checks a Hungarian account of 16 or 24 digits: the bank and branch (8 digits) and the rest are checked separately.
 */
export function hungarianAccountValid(account: string): boolean {
  return hungarianPartValid(account.slice(0, 8)) && hungarianPartValid(account.slice(8))
}

/** Checks a number by Luhn's rule: every second digit from the right is doubled and its digits are added. */
export function luhnValid(number: string): boolean {
  const sum = digitsOf(number)
    .reverse()
    .reduce((total, digit, index) => {
      const worth = index % 2 === 0 ? digit : digit * 2
      return total + (worth > 9 ? worth - 9 : worth)
    }, 0)
  return sum % 10 === 0
}

const RECURSIVE = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5]

/** Checks a Swiss QR reference of 27 digits: modulus 10, recursive. */
export function qrReferenceValid(reference: string): boolean {
  const digits = digitsOf(reference)
  const carry = digits.slice(0, -1).reduce((state, digit) => RECURSIVE[(state + digit) % 10] as number, 0)
  return (10 - carry) % 10 === digits.at(-1)
}

/** Computes the remainder of a text of capitals and digits by 97, with letters counting 10 to 35 as in an IBAN. */
export function modulo97(text: string): number {
  let rest = 0
  for (const character of text) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97
  }
  return rest
}

/** Checks a creditor reference of ISO 11649, `RF` in front: modulus 97, the first four characters moved to the end. */
export function creditorReferenceValid(reference: string): boolean {
  return modulo97(reference.slice(4) + reference.slice(0, 4)) === 1
}

const KID_WEIGHTS = [2, 3, 4, 5, 6, 7]

/**
 * Checks a Norwegian KID by modulus 10 (Luhn) or modulus 11, of which the payee has chosen one. A check digit of ten is
 * written as a dash; only modulus 11 has it.
 */
export function kidValid(kid: string): boolean {
  const sum = digitsOf(kid.slice(0, -1))
    .reverse()
    .reduce((total, digit, index) => total + digit * (KID_WEIGHTS[index % KID_WEIGHTS.length] as number), 0)
  const check = (11 - (sum % 11)) % 11
  return kid.endsWith('-') ? check === 10 : check === Number(kid.at(-1)) || luhnValid(kid)
}

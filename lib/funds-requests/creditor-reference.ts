/**
 * Creditor references of ISO 11649: `RF`, two check digits (ISO 7064, modulus 97) and up to 21 letters and digits.
 * Payers type them, and banks group them by four or change their case, so they are compared without spaces and in
 * capitals.
 */

const FORM = /^RF[0-9]{2}[A-Z0-9]{1,21}$/

/** The pattern that finds the service's own references in a text, as `referenceOf` makes them from an order number. */
const OURS = /RF[0-9]{2}FRQ[0-9A-Z]{10}/g

/** Computes the remainder of a text of capitals and digits by 97, with letters counting 10 to 35 as in an IBAN. */
function modulo97(text: string): number {
  let rest = 0
  for (const character of text) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97
  }
  return rest
}

const compact = (text: string): string => text.replace(/\s+/gu, '').toUpperCase()

/**
 * Makes the creditor reference of a funds request from its order number. @throws RangeError when the number does not
 * fit
 */
export function referenceOf(orderNumber: string): string {
  const check = 98 - modulo97(`${orderNumber}RF00`)
  const reference = `RF${String(check).padStart(2, '0')}${orderNumber}`
  if (!FORM.test(reference)) throw new RangeError(`${orderNumber} fits no creditor reference`)
  return reference
}

/** Whether a text is a creditor reference with the right check digits, whatever its spaces and case. */
export function isCreditorReference(text: string): boolean {
  const reference = compact(text)
  return FORM.test(reference) && modulo97(reference.slice(4) + reference.slice(0, 4)) === 1
}

/** Finds the references of funds requests in a payer's text, in their order in the text, each once. */
export function referencesIn(text: string): readonly string[] {
  return [...new Set(compact(text).match(OURS) ?? [])].filter(isCreditorReference)
}

/** Formats a reference in groups of four, for people. */
export function printedReference(reference: string): string {
  return (reference.match(/.{1,4}/g) ?? []).join(' ')
}

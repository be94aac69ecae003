/**
 * Creditor references of ISO 11649: `RF`, two check digits (ISO 7064, modulus 97) and up to 21 letters and digits.
 * Payers type them, and banks group them by four or change their case, so they are compared without spaces and in
 * capitals.
 */

import { creditorReferenceValid, modulo97 } from '../recipients/check-digits.ts'

const FORM = /^RF[0-9]{2}[A-Z0-9]{1,21}$/

/** The pattern that finds the service's own references in a text, as `referenceOf` makes them from an order number. */
const OURS = /RF[0-9]{2}FRQ[0-9A-Z]{10}/g

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
  return FORM.test(reference) && creditorReferenceValid(reference)
}

/** Finds the references of funds requests in a payer's text, in their order in the text, each once. */
export function referencesIn(text: string): readonly string[] {
  return [...new Set(compact(text).match(OURS) ?? [])].filter(isCreditorReference)
}

/** Formats a reference in groups of four, for people. */
export function printedReference(reference: string): string {
  return (reference.match(/.{1,4}/g) ?? []).join(' ')
}

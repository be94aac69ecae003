/**
 * Checks the fields that a recipient requires of its payments, by the same table that the requirements operation shows.
 */
import type { FieldErrorCode } from '../base/problems.ts'
import { qrReferenceValid } from './check-digits.ts'
import { isQrIban } from './iban.ts'
import { purposeRuleOf } from './country-rules.ts'

export interface PaymentFieldFault {
  readonly field: '/purposeCode' | '/reference'
  readonly code: FieldErrorCode
  readonly message: string
}

/**
 * For countries without codes of their own. ISO 20022 has hundreds of codes and adds some every quarter, so only the
 * form is checked.
 */
const PURPOSE = /^[A-Z]{4}$/

/** Returns the first fault of a payment's fields for this recipient; null when there is none. */
export function paymentFieldFault(
  recipient: { readonly bankCountry: string; readonly iban: string | null },
  payment: { readonly reference: string; readonly purposeCode?: string | null },
): PaymentFieldFault | null {
  const rule = purposeRuleOf(recipient.bankCountry)
  const purpose = payment.purposeCode ?? null
  if (rule !== null && purpose === null)
    return {
      field: '/purposeCode',
      code: 'required',
      message: `Payments to ${recipient.bankCountry} need a purpose.`,
    }
  if (rule !== null && !new RegExp(rule.pattern).test(purpose as string))
    return { field: '/purposeCode', code: 'invalid_format', message: rule.description }
  if (rule === null && purpose !== null && !PURPOSE.test(purpose))
    return {
      field: '/purposeCode',
      code: 'invalid_format',
      message: 'Must be four capital letters, a purpose code of ISO 20022.',
    }
  if (recipient.iban === null || !isQrIban(recipient.iban)) return null
  const reference = payment.reference.replaceAll(' ', '')
  if (!/^[0-9]{27}$/.test(reference))
    return {
      field: '/reference',
      code: 'invalid_format',
      message: 'A QR-IBAN is paid with the QR reference of the bill, 27 digits.',
    }
  return qrReferenceValid(reference)
    ? null
    : { field: '/reference', code: 'invalid_checksum', message: 'The check digit of the QR reference does not agree.' }
}

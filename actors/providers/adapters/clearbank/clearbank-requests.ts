/** The requests of ClearBank, made from orders. Pure: the same order gives the same bytes, so the bank knows it again. */
import type { KeptAddress } from '../../../../lib/recipients/validation.ts'
import type { ClearbankConfig } from '../../../../lib/providers/clearbank/description.ts'
import { telegram } from '../../../../lib/statements/mt940.ts'
import type { PaymentOrder } from '../../bank.ts'
import type { CreditReturn } from '../../credits.ts'
import { returnReasonOf } from './clearbank-codes.ts'

/** A request, or the reason code why none can be made of the order: then nothing is sent. */
export type PaymentRequest = { readonly body: object } | { readonly faultCode: string }

const ADDRESS_MAX = 140
const NAME_MAX = 140
const REFERENCE_MAX = 35

/** The end-to-end id under which the bank knows an order: the reference, which has 36 characters, without its hyphens. */
export const endToEndIdOf = (reference: string): string => reference.replaceAll('-', '')

/** The reference of an end-to-end id; null when it is none of ours. */
export function referenceOf(endToEndId: string | null): string | null {
  const [, ...parts] =
    /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i.exec(endToEndId ?? '') ?? []
  return parts.length === 0 ? null : parts.join('-').toLowerCase()
}

/** Makes the request of one order: one payment, so that the bank's answer is the answer about this order. */
export function paymentRequest(order: PaymentOrder, config: ClearbankConfig): PaymentRequest {
  const { parties, reference } = order
  if (parties === undefined) throw new Error('An order for ClearBank needs its parties.')
  const { debtor, creditor } = parties
  // The bank demands the payer's address.
  if (debtor.address === null) return { faultCode: 'RR02' }
  const debtorAccount = accountOf(debtor.account ?? {}) ?? settlementAccount(config)
  const creditorAccount = accountOf(creditor.account)
  if (debtorAccount === null) return { faultCode: 'TECH' }
  if (creditorAccount === null) return { faultCode: 'AC01' }
  const id = endToEndIdOf(reference)
  return {
    body: {
      paymentInstructions: [
        {
          debtor: { address: addressLine(debtor.address) },
          paymentInstructionIdentification: id,
          debtorAccount,
          creditTransfers: [
            {
              paymentIdentification: { instructionIdentification: id, endToEndIdentification: id },
              amount: { currency: order.currency, instructedAmount: pounds(order.amount) },
              creditor: { name: telegram(creditor.name).slice(0, NAME_MAX) },
              creditorAccount,
              remittanceInformation: {
                structured: { creditorReferenceInformation: { reference: order.remittance.slice(0, REFERENCE_MAX) } },
              },
            },
          ],
        },
      ],
    },
  }
}

/** Makes the request to return a whole credit, which the bank's own id names. */
export function returnRequest({ reference, reasonCode }: CreditReturn): object {
  return { paymentReturnInstruction: { TransactionId: reference, ReasonForReturn: returnReasonOf(reasonCode) } }
}

/** Pence as a JSON number of pounds, exact for the amounts of the rail. */
const pounds = (pence: bigint): number => Number(`${pence / 100n}.${String(pence % 100n).padStart(2, '0')}`)

interface AccountNumbers {
  readonly iban?: string | null
  readonly sortCode?: string | null
  readonly accountNumber?: string | null
}

/** An account by its IBAN, or else by sort code and number in the form that the bank's examples show. */
function accountOf({ iban, sortCode, accountNumber }: AccountNumbers): object | null {
  if (iban) return { identification: { iban: iban.replaceAll(' ', '') } }
  if (!sortCode || !accountNumber) return null
  return {
    identification: {
      other: {
        identification: `GBR${sortCode.replaceAll('-', '')}${accountNumber}`,
        schemeName: { proprietary: 'PRTY_COUNTRY_SPECIFIC' },
      },
    },
  }
}

/** The account that pays where the balance has none of its own: an IBAN, or sort code and number (`010203 12345678`). */
function settlementAccount({ settlementAccounts = [] }: ClearbankConfig): object | null {
  const account = settlementAccounts.find(({ currency }) => currency === 'GBP')?.accountRef.replaceAll(/[\s-]/g, '')
  if (account === undefined) return null
  const [, sortCode, accountNumber] = /^(\d{6})(\d{8})$/.exec(account) ?? []
  return sortCode === undefined ? accountOf({ iban: account }) : accountOf({ sortCode, accountNumber: accountNumber! })
}

/** An address in the order that the bank demands: country, town, city, state, street, building, postal code. */
function addressLine({ country, city, state, line1, line2, buildingNumber, postalCode }: KeptAddress): string {
  const parts = [country === 'GB' ? 'UK' : country, city, state, line1, line2, buildingNumber, postalCode]
  return telegram(parts.filter((part) => part !== null).join(', ')).slice(0, ADDRESS_MAX)
}

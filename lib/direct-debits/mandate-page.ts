/**
 * The form of a mandate that the debtor signs and keeps: its texts and facts, without layout. The rulebooks of the
 * schemes prescribe the words of the authorisation and what a form has to show.
 */
import { dateIn } from '../base/clock.ts'
import { day, grouped } from '../documents/confirmation-page.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import { accountLines, accountOf } from './account.ts'
import type { CounterpartyAccount, MandateRecord } from './mandate.ts'
import { DEBIT_SCHEMES } from './schemes.ts'

/** A party of a mandate. */
export interface MandateParty {
  readonly name: string
  /** Lines of the address; none where it is not known. */
  readonly address: readonly string[]
}

/** The facts that a form shows. */
export interface MandateFacts {
  readonly id: string
  readonly scheme: MandateScheme
  readonly reference: string
  readonly issuer: string
  readonly creditor: MandateParty & {
    /** The creditor's identifier at the scheme; null: it has none yet. */
    readonly identifier: string | null
  }
  readonly debtor: MandateParty & { readonly accounts: readonly (readonly [label: string, value: string])[] }
  readonly isOneOff: boolean
  readonly amountLimit: { readonly amountMinor: bigint; readonly currency: string } | null
  /** `YYYY-MM-DD`; null: not signed yet. */
  readonly signedAt: string | null
  /** The time of the data, epoch milliseconds; the same for every rendering of one version. */
  readonly createdAt: number
}

/** A form to be printed. */
export interface MandatePage {
  readonly issuer: string
  readonly title: string
  readonly reference: string
  readonly identifier: { readonly label: string; readonly value: string | null }
  readonly creditor: MandateParty
  readonly debtor: MandateParty
  /** What the parties are called in the scheme. */
  readonly labels: { readonly creditor: string; readonly debtor: string }
  /** Each value is written letter by letter into cells. */
  readonly accounts: readonly (readonly [label: string, value: string])[]
  readonly authorisation: readonly string[]
  /** The kinds of payment, one of which is ticked. */
  readonly kinds: readonly { readonly label: string; readonly ticked: boolean }[]
  /** Null: no limit was agreed. */
  readonly limit: string | null
  /** The rights that the scheme has the form print. */
  readonly rights: { readonly title: string; readonly items: readonly string[] } | null
  /** The date of the signature for people; null: the form is still to be signed. */
  readonly signed: string | null
  readonly footer: string
  readonly createdAt: number
}

interface SchemeForm {
  readonly title: string
  readonly identifier: string
  readonly debtor: string
  readonly authorisation: (creditor: string) => readonly string[]
  readonly rights: MandatePage['rights']
}

const bySigningSepa = (creditor: string): string =>
  `By signing this mandate form, you authorise (A) ${creditor} to send instructions to your bank to debit your account ` +
  `and (B) your bank to debit your account in accordance with the instructions from ${creditor}.`

const FORMS: Readonly<Record<MandateScheme, SchemeForm>> = {
  sepa_dd_core: {
    title: 'SEPA Direct Debit Mandate',
    identifier: 'Creditor identifier',
    debtor: 'Debtor',
    authorisation: (creditor) => [
      bySigningSepa(creditor),
      'As part of your rights, you are entitled to a refund from your bank under the terms and conditions of your ' +
        'agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account ' +
        'was debited. Your rights are explained in a statement that you can obtain from your bank.',
    ],
    rights: null,
  },
  sepa_dd_b2b: {
    title: 'SEPA Business-to-Business Direct Debit Mandate',
    identifier: 'Creditor identifier',
    debtor: 'Debtor',
    authorisation: (creditor) => [
      bySigningSepa(creditor),
      'This mandate is only intended for business-to-business transactions. You are not entitled to a refund from your ' +
        'bank after your account has been debited, but you are entitled to request your bank not to debit your account ' +
        'up until the day on which the payment is due. Tell your bank of this mandate before the first collection.',
    ],
    rights: null,
  },
  bacs_dd: {
    title: 'Instruction to your bank or building society to pay by Direct Debit',
    identifier: 'Service user number',
    debtor: 'Account holder',
    authorisation: (creditor) => [
      `Please pay ${creditor} Direct Debits from the account detailed in this Instruction subject to the safeguards ` +
        'assured by the Direct Debit Guarantee.',
      `I understand that this Instruction may remain with ${creditor} and, if so, details will be passed electronically ` +
        'to my bank or building society.',
    ],
    rights: {
      title: 'The Direct Debit Guarantee',
      items: [
        'This Guarantee is offered by all banks and building societies that accept instructions to pay Direct Debits.',
        'If the amount, date or frequency of your Direct Debit changes, you are told 10 working days before your account ' +
          'is debited, or as otherwise agreed.',
        'If an error is made in the payment of your Direct Debit, you are entitled to a full and immediate refund of the ' +
          'amount paid from your bank or building society; if you receive a refund that you are not entitled to, you must ' +
          'pay it back when asked to.',
        'You can cancel a Direct Debit at any time by contacting your bank or building society; written confirmation may ' +
          'be required. Please also notify us.',
      ],
    },
  },
  ach_debit: {
    title: 'ACH Debit Authorization',
    identifier: 'Company identification',
    debtor: 'Account holder',
    authorisation: (creditor) => [
      `I authorize ${creditor} to initiate debit entries to the account named here, and the financial institution that ` +
        'holds it to debit them. I agree that the entries comply with the Nacha Operating Rules and United States law.',
      `This authorization remains in force until ${creditor} has received my notice that I revoke it, in such time that ` +
        'there is a reasonable opportunity to act on it. I may dispute an unauthorized debit with my financial institution.',
    ],
    rights: null,
  },
  becs_dd: {
    title: 'Direct Debit Request',
    identifier: 'Debit user identification number',
    debtor: 'Account holder',
    authorisation: (creditor) => [
      `I request and authorise ${creditor} to arrange, through its own financial institution, for any amount it may debit ` +
        'or charge me to be debited through the Bulk Electronic Clearing System from the account named here.',
      `I may stop, defer or cancel a debit, or dispute it, by telling ${creditor} or my financial institution.`,
    ],
    rights: null,
  },
  pad: {
    title: 'Payor’s Pre-Authorized Debit Agreement',
    identifier: 'Payee identification',
    debtor: 'Payor',
    authorisation: (creditor) => [
      `I authorize ${creditor} to debit the account named here with the amounts that I owe it, and my financial ` +
        'institution to honour these debits under Rule H1 of Payments Canada.',
      'I may revoke this authorization at any time, subject to 30 days of notice. I have certain recourse rights if a ' +
        'debit does not comply with this agreement: I have the right to receive reimbursement for any debit that is not ' +
        'authorized or is not consistent with this agreement. My financial institution tells me more about my rights.',
    ],
    rights: null,
  },
}

/** Builds the form of a mandate. */
export function mandatePage(facts: MandateFacts): MandatePage {
  const { scheme, creditor, debtor, issuer, amountLimit } = facts
  const form = FORMS[scheme]
  return {
    issuer,
    title: form.title,
    reference: facts.reference,
    identifier: { label: form.identifier, value: creditor.identifier },
    creditor,
    debtor,
    labels: { creditor: 'Creditor', debtor: form.debtor },
    accounts: debtor.accounts,
    authorisation: form.authorisation(creditor.name),
    kinds: [
      { label: 'Recurrent payments', ticked: !facts.isOneOff },
      { label: 'One-off payment', ticked: facts.isOneOff },
    ],
    limit:
      amountLimit === null ? null : `At most ${grouped(amountLimit.amountMinor, amountLimit.currency)} a collection`,
    rights: form.rights,
    signed: day(facts.signedAt),
    footer: `Mandate ${facts.id}, kept by ${issuer} for ${creditor.name}. Keep a copy of this form.`,
    createdAt: facts.createdAt,
  }
}

/** An address as the API has it; members may be left out. */
interface PostalAddress {
  readonly line1: string
  readonly line2?: string | null
  readonly buildingNumber?: string | null
  readonly city: string
  readonly postalCode?: string | null
  readonly state?: string | null
  readonly country: string
}

/** The customer of a mandate, which is its creditor or its debtor. */
export interface FormCustomer {
  readonly operatorName: string
  readonly customerName: string
  readonly address: PostalAddress | null
  readonly account: CounterpartyAccount | null
}

const countries = new Intl.DisplayNames(['en'], { type: 'region' })

/** Writes an address as lines of an envelope. */
function linesOf(address: PostalAddress | null | undefined): readonly string[] {
  if (address == null) return []
  const { line1, line2, buildingNumber, city, postalCode, state, country } = address
  return [
    [line1, buildingNumber].filter(Boolean).join(' '),
    line2 ?? '',
    [postalCode, city, state].filter(Boolean).join(' '),
    countries.of(country) ?? country,
  ].filter((line) => line !== '')
}

/** Builds the form of a mandate. */
export function formOfMandate(mandate: MandateRecord, customer: FormCustomer): MandatePage {
  const { counterparty, direction, scheme, amountLimit, currency, signedAt } = mandate
  const ours: MandateParty = { name: customer.customerName, address: linesOf(customer.address) }
  const theirs: MandateParty = { name: counterparty.name, address: linesOf(counterparty.address) }
  const collects = direction === 'collect'
  return mandatePage({
    id: mandate.id,
    scheme,
    reference: mandate.reference,
    issuer: customer.operatorName,
    creditor: collects
      ? { ...ours, name: mandate.creditorName ?? ours.name, identifier: mandate.creditorId }
      : { ...theirs, identifier: counterparty.creditorId ?? null },
    debtor: {
      ...(collects ? theirs : ours),
      accounts: accountLines(collects ? accountOf(counterparty) : (customer.account ?? {})),
    },
    isOneOff: mandate.sequenceType === 'one_off',
    amountLimit: amountLimit === null ? null : { amountMinor: amountLimit, currency },
    signedAt: signedAt === null ? null : dateIn(signedAt, DEBIT_SCHEMES[scheme].zone),
    createdAt: mandate.updatedAt,
  })
}

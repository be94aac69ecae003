/**
 * The words of the pages. Each language has all of them, or it does not compile. Names, amounts and dates arrive as
 * they are shown.
 */
import type { FieldErrorCode } from '../../lib/base/problems.ts'
import type { FundsRequestStatus } from '../../lib/funds-requests/funds-request.ts'
import type { Role } from '../../lib/identity/capabilities.ts'
import type { PublicFundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'

type Details = PublicFundsRequest['depositDetails'][number]

/** The members of account details that a payer types into a banking app, in the order in which pages show them. */
export const ACCOUNT_FIELDS = [
  'accountHolderName',
  'iban',
  'bic',
  'accountNumber',
  'sortCode',
  'routingNumber',
  'bsb',
  'bankCode',
  'branchCode',
  'clabe',
  'bankName',
  'intermediaryBic',
  'reference',
] as const satisfies readonly (keyof Details)[]
export type AccountField = (typeof ACCOUNT_FIELDS)[number]

/** A page that says one thing. */
interface Message {
  readonly title: string
  readonly text: string
}

/** A form or a link that does not lead on. */
export interface FailureTexts {
  readonly unknownLink: Message
  readonly tooManyRequests: Message
  readonly unavailable: Message
  readonly refusedForm: Message
}

export interface FormTexts {
  /** Begins the title of a page whose form was refused. */
  readonly errorPrefix: string
  readonly summary: string
  readonly show: string
  readonly hide: string
  /** The faults of fields that people can make here; each other fault has the text `other`. */
  readonly faults: {
    readonly [Code in FieldErrorCode & ('required' | 'invalid_format' | 'invalid_characters')]: string
  } & {
    readonly too_short: (min: string) => string
    readonly too_long: (max: string) => string
    readonly weakPassword: string
    readonly wrongPassword: string
    readonly other: string
  }
}

export interface InvitationTexts {
  readonly title: string
  readonly headingCustomer: (customer: string) => string
  readonly headingStaff: (operator: string) => string
  readonly customer: string
  readonly operator: string
  readonly role: string
  readonly roles: Readonly<Record<Role, string>>
  readonly email: string
  readonly invitedBy: string
  readonly validUntil: string
  readonly newPersonIntro: string
  readonly knownPersonIntro: string
  readonly name: string
  readonly newPassword: string
  readonly newPasswordHint: (min: string) => string
  readonly password: string
  readonly forgotten: string
  readonly submit: string
  readonly doneTitle: string
  readonly doneCustomer: (customer: string) => string
  readonly doneStaff: (operator: string) => string
  readonly nextSignIn: (email: string) => string
  readonly nextFactor: string
}

export interface PasswordResetTexts {
  readonly requestTitle: string
  readonly requestIntro: string
  readonly email: string
  readonly send: string
  readonly sent: Message
  readonly chooseTitle: string
  readonly chooseIntro: string
  readonly newPassword: string
  readonly newPasswordHint: (min: string) => string
  readonly save: string
  readonly saved: Message
}

export interface PayerTexts {
  readonly title: (payee: string) => string
  readonly asksFor: (payee: string) => string
  readonly partlyPaid: (paid: string, amount: string) => string
  readonly purpose: string
  readonly invoiceNumber: string
  readonly number: string
  readonly dueDate: string
  readonly validUntil: string
  readonly howToPay: string
  readonly howToPayIntro: string
  readonly amount: string
  readonly paymentReference: string
  readonly referenceNote: string
  readonly account: Readonly<Record<AccountField, string>>
  readonly localTransfer: string
  readonly internationalTransfer: string
  readonly noAccount: string
  readonly partsAllowed: string
  readonly copy: string
  readonly copied: string
  readonly scanTitle: string
  readonly scanText: string
  readonly scanAlternative: (payee: string, amount: string) => string
  readonly declineTitle: string
  readonly declineText: (payee: string) => string
  readonly decline: string
  /** The request changed between the reading of the page and the form. */
  readonly changed: string
  readonly ended: Readonly<Record<Exclude<FundsRequestStatus, 'open' | 'partially_paid'>, (payee: string) => Message>>
}

export interface Texts {
  readonly forms: FormTexts
  readonly failures: FailureTexts
  readonly invitation: InvitationTexts
  readonly passwordReset: PasswordResetTexts
  readonly payer: PayerTexts
  readonly signIn: string
  /** Before the ways to reach the operator. */
  readonly questions: string
  readonly helpPage: string
  readonly personalLink: string
}

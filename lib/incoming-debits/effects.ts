/** Rows that decisions about incoming debits write. */
import type { MandateRecord } from '../direct-debits/mandate.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import type { IncomingDebitRecord, IncomingDebitStatus } from './incoming-debit.ts'

/** A debit as it is first written. */
export type IncomingDebitRow = Omit<IncomingDebitRecord, 'version' | 'updatedAt'>

/** A move of a debit. Absent members leave their columns as they are. */
export interface IncomingDebitChange
  extends Partial<
    Pick<
      IncomingDebitRecord,
      | 'dueAt'
      | 'refusal'
      | 'reasonCode'
      | 'entryId'
      | 'backEntryId'
      | 'debitedAt'
      | 'endedAt'
      | 'answer'
      | 'answerDueAt'
    >
  > {
  readonly id: string
  /** The version that the move rests on. */
  readonly version: number
  readonly status: IncomingDebitStatus
  readonly updatedAt: number
}

/**
 * `seen`: a debit has named it. `confirmed`: the customer has confirmed it. `cancelled`: the customer has ended it.
 */
export const PAYER_MANDATE_STATUSES = ['seen', 'confirmed', 'cancelled'] as const
export type PayerMandateStatus = (typeof PAYER_MANDATE_STATUSES)[number]

/** A mandate as the payer's side keeps it: made by the first debit that names it. */
export interface PayerMandate {
  /** Derived from balance, scheme, creditor and reference. */
  readonly id: string
  readonly customerId: string
  readonly balanceId: string
  readonly scheme: MandateScheme
  readonly creditorName: string
  readonly creditorId: string | null
  readonly reference: string
  readonly status: PayerMandateStatus
  /** The due date of the last debit that was taken, `YYYY-MM-DD`. */
  readonly lastDueDate: string | null
  /** Zero while it is not written. */
  readonly version: number
}

/** A mandate that the customer itself keeps here to pay by (direction `pay`), as it was read. */
export type PayConsent = Pick<MandateRecord, 'id' | 'version' | 'status' | 'amountLimit'>

/** A mandate as a decision leaves it; `version` is the one that the decision rests on. */
export interface PayerMandateRow extends PayerMandate {
  /** The customer's own mandate that the decision rests on, too. */
  readonly consent: Pick<PayConsent, 'id' | 'version'> | null
  readonly updatedAt: number
}

declare module '../decisions/effects.ts' {
  interface ObjectStatuses {
    readonly incoming_debit: IncomingDebitStatus
  }
  interface Effects {
    readonly incomingDebits?: readonly IncomingDebitRow[]
    readonly incomingDebitChanges?: readonly IncomingDebitChange[]
    readonly payerMandates?: readonly PayerMandateRow[]
  }
}

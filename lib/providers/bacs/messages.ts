/**
 * The files that are exchanged with Bacs, as typed values: submissions of direct debits and instructions (Standard 18),
 * and the reports that answer them. Amounts are bigint pence; days are `YYYY-MM-DD`.
 */

// ── Out: submissions
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Codes of debits: the first of an instruction, a later one, one that is presented again, and the last. */
export const BACS_DEBIT_CODES = ['01', '17', '18', '19'] as const
/** Codes of instructions: a new one, its cancellation, and the conversion of one made on paper. */
export const BACS_INSTRUCTION_CODES = ['0N', '0C', '0S'] as const
export type BacsCode = (typeof BACS_DEBIT_CODES)[number] | (typeof BACS_INSTRUCTION_CODES)[number]

/** An account of the United Kingdom: six and eight digits, and the name of its holder. */
export interface BacsAccount {
  readonly sortCode: string
  readonly accountNumber: string
  readonly name: string
}

/** What a submission says of itself. */
export interface BacsHead {
  /** Six capital letters and digits, different for each submission of a service user. */
  readonly serialNumber: string
  /** The number of this file in its submission, 1 to 999. */
  readonly fileNumber: number
  /** Six digits: the creditor's number in the scheme. */
  readonly serviceUserNumber: string
  /** The name that payers see. */
  readonly userName: string
  /** The account that is credited. */
  readonly account: BacsAccount
  readonly createdOn: string
  /** The day on which Bacs processes the file: the working day before the money moves. */
  readonly processingDay: string
}

/** A debit of a payer, or an instruction about future debits, whose amount is zero. */
export interface BacsItem {
  /** Our reference, for errors; it does not stand in the file. */
  readonly reference: string
  readonly code: BacsCode
  readonly amount: bigint
  readonly payer: BacsAccount
  /** The reference of the instruction, which the payer's bank compares: up to 18 characters. */
  readonly text: string
}

/** The sums of a submission, as its trailer states them. */
export interface BacsTotals {
  readonly debits: number
  readonly debitSum: bigint
  readonly instructions: number
}

// ── In: reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The reports: returned debits, changes by payers' banks, answers to instructions, and claims under the guarantee. */
export const BACS_REPORTS = ['ARUDD', 'ADDACS', 'AUDDIS', 'DDICA'] as const
export type BacsReportName = (typeof BACS_REPORTS)[number]

/** An account as a report names it; null where it does not. */
export type ReportedBacsAccount = { readonly sortCode: string; readonly accountNumber: string } | null

/** A debit that the payer's bank returned (ARUDD). */
export interface ReturnedDebit {
  readonly kind: 'returned_debit'
  /** The reference of the instruction, as the submission carried it. */
  readonly reference: string
  /** The code of the scheme, one character. */
  readonly code: string
  readonly text: string | null
  readonly amount: bigint
  /** The day on which Bacs processed the debit. */
  readonly originalDay: string
  /** The day of the report, on which the money goes back. */
  readonly processedOn: string
  readonly payer: ReportedBacsAccount
}

/** An instruction that the payer's bank changed or ended (ADDACS), or did not take (AUDDIS). */
export interface InstructionAdvice {
  readonly kind: 'instruction_advice'
  readonly report: 'ADDACS' | 'AUDDIS'
  readonly reference: string
  readonly code: string
  readonly effectiveOn: string | null
  readonly payer: ReportedBacsAccount
  /** The account that replaces the payer's; null where the advice names none. */
  readonly newPayer: ReportedBacsAccount
}

/** A file of instructions that Bacs took or refused (AUDDIS). */
export interface InstructionFileAdvice {
  readonly kind: 'instruction_file'
  readonly serialNumber: string
  readonly fileNumber: string | null
  readonly accepted: number
  readonly rejected: number
  readonly isRejected: boolean
}

/** A payer's claim for the refund of debits (DDICA); `isCancelled` for one that is taken back. */
export interface IndemnityClaim {
  readonly kind: 'indemnity_claim'
  readonly reference: string
  readonly code: string
  readonly text: string | null
  /** The reference of the payer's bank, which names the claim. */
  readonly claimRef: string
  readonly isCancelled: boolean
  readonly amount: bigint
  /** The debits that the claim is about, by the day on which the payer was debited. */
  readonly debits: readonly { readonly day: string; readonly amount: bigint }[]
  /** The day on which the creditor is debited. */
  readonly debitedOn: string
  readonly payer: ReportedBacsAccount
}

/** One item of a report, in the order of the file. The head comes first. */
export type BacsReportItem =
  | { readonly kind: 'head'; readonly report: BacsReportName; readonly serviceUserNumber: string }
  | ReturnedDebit
  | InstructionAdvice
  | InstructionFileAdvice
  | IndemnityClaim

/**
 * The controls that a payer sets for direct debits of a balance (Regulation (EU) 260/2012, article 5(3)(d)): block them
 * all or those of some creditors, allow only those of some, limit the amount and how often a creditor collects. Pure.
 */
export const PERIODICITIES = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const
export type Periodicity = (typeof PERIODICITIES)[number]

export interface BalanceDebitControls {
  readonly blockAll: boolean
  /** When it names any, only these may collect. */
  readonly allowedCreditorIds: readonly string[]
  readonly blockedCreditorIds: readonly string[]
  /** The largest amount of one debit, minor units of the balance's currency; null: no limit. */
  readonly maxAmount: bigint | null
  /** A mandate is debited at most once in this time; null: as often as its creditor likes. */
  readonly periodicity: Periodicity | null
}

/** The controls of a balance for which none were set. */
export const NO_CONTROLS: BalanceDebitControls = {
  blockAll: false,
  allowedCreditorIds: [],
  blockedCreditorIds: [],
  maxAmount: null,
  periodicity: null,
}

/**
 * The time between two due dates, and the days by which a due date may come early: it moves to the next business day,
 * so that a monthly debit of 1 March that was due on the 3rd is due again 29 days later.
 */
const PERIODS: Readonly<Record<Periodicity, { readonly step: Temporal.DurationLike; readonly earlyDays: number }>> = {
  daily: { step: { days: 1 }, earlyDays: 0 },
  weekly: { step: { weeks: 1 }, earlyDays: 2 },
  monthly: { step: { months: 1 }, earlyDays: 5 },
  quarterly: { step: { months: 3 }, earlyDays: 5 },
  yearly: { step: { years: 1 }, earlyDays: 5 },
}

/** A creditor identifier of SEPA: country, check digits, three characters that its owner may change, and the rest. */
const SEPA_CREDITOR = /^([A-Z]{2}[0-9]{2})[A-Z0-9]{3}([A-Z0-9]{1,28})$/

/**
 * Returns the form in which creditor identifiers are compared: upper-case without spaces, and of SEPA's without the
 * creditor business code, which identifies no creditor (EPC262-08).
 */
export function comparedCreditor(creditorId: string): string {
  const plain = creditorId.replaceAll(/\s/g, '').toUpperCase()
  const [, head, tail] = SEPA_CREDITOR.exec(plain) ?? []
  return head === undefined ? plain : `${head}${tail}`
}

/** The reasons for which controls refuse a debit. */
export type ControlRefusal =
  | 'all_blocked'
  | 'creditor_blocked'
  | 'creditor_not_allowed'
  | 'amount_above_limit'
  | 'too_frequent'

/** The facts of a debit that the controls concern. */
export interface ControlledDebit {
  readonly creditorId: string | null
  /** Minor units. */
  readonly amount: bigint
  /** `YYYY-MM-DD` */
  readonly dueDate: string
}

/**
 * Returns the reason for which the controls refuse a debit; null when they let it through.
 *
 * @param lastDueDate the due date of the mandate's last debit, `YYYY-MM-DD`; null before the first
 */
export function controlsRefusal(
  controls: BalanceDebitControls,
  { creditorId, amount, dueDate }: ControlledDebit,
  lastDueDate: string | null,
): ControlRefusal | null {
  if (controls.blockAll) return 'all_blocked'
  const creditor = creditorId === null ? null : comparedCreditor(creditorId)
  const names = (ids: readonly string[]): boolean =>
    creditor !== null && ids.some((id) => comparedCreditor(id) === creditor)
  if (names(controls.blockedCreditorIds)) return 'creditor_blocked'
  if (controls.allowedCreditorIds.length > 0 && !names(controls.allowedCreditorIds)) return 'creditor_not_allowed'
  if (controls.maxAmount !== null && amount > controls.maxAmount) return 'amount_above_limit'
  if (controls.periodicity !== null && lastDueDate !== null) {
    const { step, earlyDays } = PERIODS[controls.periodicity]
    const next = Temporal.PlainDate.from(lastDueDate).add(step).subtract({ days: earlyDays })
    if (Temporal.PlainDate.compare(dueDate, next) < 0) return 'too_frequent'
  }
  return null
}

/** An operator's terms for the direct debits that its customers collect. */

export interface CollectionTerms {
  /**
   * Days between the notice to a debtor and the due date, for schemes that count calendar days (SEPA). Other schemes
   * keep their own; a customer or a mandate may have agreed on fewer.
   */
  readonly preNotificationDays: number
  /** Days for which collected money is held as a reserve before the customer can use it; 0: none. */
  readonly reserveDays: number
  /**
   * The most that a customer may have collected and could still have to give back, by currency, in minor units. A
   * currency that is not named has no limit.
   */
  readonly maxExposure: Readonly<Record<string, bigint>>
}

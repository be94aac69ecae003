/** The port to a banking partner's statements: one statement per account for each day that has ended. */

/** The account of one connection in one currency, and a day in UTC, `YYYY-MM-DD`. */
export interface StatementQuestion {
  readonly connectionId: string
  readonly currency: string
  readonly day: string
}

export interface StatementPartner {
  /**
   * Reads the statement as camt.053, piece by piece; null while the partner has none.
   *
   * @throws when the partner does not answer
   */
  statement(question: StatementQuestion): Promise<AsyncIterable<Uint8Array> | null>
}

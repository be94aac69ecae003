/** The steps of a sandbox plan: the reports of the sandbox bank, and their text in the database. */

/**
 * The sandbox bank's reports about a payment. `pending`: it has the payment, after the outcome was unknown; `unclear`:
 * it does not know the outcome. These two and the answer to a recall are never planned from the payment itself.
 */
export const BANK_EVENTS = ['settled', 'rejected', 'returned', 'pending', 'unclear', 'recall_rejected'] as const
export type BankEvent = (typeof BANK_EVENTS)[number]

/** A report of the sandbox bank, and its time. */
export interface PlanStep {
  readonly afterMs: number
  readonly event: BankEvent
  /** The scheme's reason, for events that have one. */
  readonly schemeCode: string | null
  /** The minor units that came back; null unless the event is `returned`. */
  readonly amountMinor: bigint | null
}

/** Writes steps as short text, which `decodeSteps` reads back. */
export function encodeSteps(steps: readonly PlanStep[]): string {
  return steps
    .map(({ event, afterMs, schemeCode, amountMinor }) => {
      const code = schemeCode === null && amountMinor === null ? '' : `:${schemeCode ?? ''}`
      return `${event}@${afterMs}${code}${amountMinor === null ? '' : `:${amountMinor}`}`
    })
    .join(' ')
}

const STEP = /^([a-z_]+)@([0-9]+)(?::([A-Z0-9]*))?(?::([0-9]+))?$/

/**
 * Reads steps that `encodeSteps` wrote, at least one.
 * @throws SyntaxError on any other text: stored plans are never guessed
 */
export function decodeSteps(text: string): PlanStep[] {
  return text.split(' ').map((word) => {
    const [, event, afterMs, code, amount] = STEP.exec(word) ?? []
    if (!isBankEvent(event)) throw new SyntaxError(`sandbox plan: cannot read "${word}"`)
    return {
      afterMs: Number(afterMs),
      event,
      schemeCode: code === undefined || code === '' ? null : code,
      amountMinor: amount === undefined ? null : BigInt(amount),
    }
  })
}

const isBankEvent = (word: string | undefined): word is BankEvent =>
  (BANK_EVENTS as readonly (string | undefined)[]).includes(word)

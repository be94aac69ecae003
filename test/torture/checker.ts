/**
 * The judge of a torture: given everything that clients sent and heard, and everything that the books say, it lists
 * what cannot both be true. Pure, so that it is tested itself with made-up histories, good and bad.
 *
 * The rules that it checks
 *  * C1 A key has one final answer for ever, byte for byte; everything else is 503 with Retry-After, 409 or no answer.
 *  * C2 acknowledged ⊆ journal ⊆ acknowledged ∪ unknown: what was answered yes is there once, and what is there was
 * answered yes or not at all. What was promised for later has come by then, or a reason is written down, never both;
 * only a
 * schedule that was stopped owes nothing. A no never moved money. A quote is used once, and nobody is told that it was
 *    when it was not.
 *  * C3 Every balance is one that a single account could have had: its changes in the order in which they were
 * committed
 *    number their lines without a gap, continue each other's running balance and never fall below zero; whatever was
 *    decided was decided between the question and the answer; a no told what was available at a moment between the two;
 *    and so did whoever looked at the balance.
 *  * C4 Every change of a status has exactly one event, and all money ends as its trigger says.
 *  * C5 A file, a schedule and a request say of themselves what has become of them. Nothing is made for one while it is
 * at
 *    rest. Money counts towards one request at most, one that it quotes, and towards it as long as it is asked for.
 */
import { checkAccounts } from './check-accounts.ts'
import { checkMoney } from './check-money.ts'
import { checkStatuses } from './check-statuses.ts'
import { checkThings } from './check-things.ts'
import type { Books, History } from './history.ts'
import { outcomesOf, type Outcome, type Report, type Violation } from './outcomes.ts'

export interface Verdict {
  readonly violations: readonly Violation[]
  readonly commands: number
  readonly acknowledged: number
  readonly refused: number
  /** Commands whose outcome the clients never learned. */
  readonly unknown: number
  readonly looks: number
}

/**
 * @param toleranceMs how far a commit's own time may lie from the moment at which everybody can see it: a backend that
 *   was not given the processor in between.
 */
export function check(history: History, books: Books, toleranceMs = 0): Verdict {
  const violations: Violation[] = []
  const report: Report = (rule, what, evidence) => {
    violations.push({ rule, what, evidence })
  }
  const outcomes = outcomesOf(history, report)
  checkMoney(history, books, outcomes, report)
  checkAccounts(history, books, outcomes, toleranceMs, report)
  checkStatuses(history, books, report)
  checkThings(history, books, outcomes, toleranceMs, report)
  const count = (is: (outcome: Outcome) => boolean) => [...outcomes.values()].filter(is).length
  const acknowledged = count(({ yes }) => yes)
  const refused = count(({ no }) => no)
  return {
    violations,
    commands: history.commands.length,
    acknowledged,
    refused,
    unknown: history.commands.length - acknowledged - refused,
    looks: history.looks.length,
  }
}

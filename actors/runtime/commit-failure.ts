/** Decides what an error of a commit round means for the commands of the round. */
import type { OperatingError } from '../../lib/base/errors.ts'
import { isBeyondLimit } from '../../storage/customers/outflow-section.ts'
import { DatabaseUnavailable, OutcomeUnknown } from '../../storage/db/connection.ts'
import {
  lostRace,
  provesRollback,
  REPEATED_COMMIT_SQLSTATES,
  sqlState,
  UNAVAILABLE_SQLSTATES,
  UNIQUE_VIOLATION,
} from '../../storage/db/sqlstates.ts'

/**
 * How far a round has come. An error while rows are encoded as parameters is a bug of one command; nothing was sent
 * then.
 */
export type Stage = 'reading' | 'encoding' | 'sent'

export interface CommitFailure {
  /** The answer of every command of the round; null when the commands can be decided again. */
  readonly answer: OperatingError | null
  /** True when the connection cannot be used any more. */
  readonly connectionLost: boolean
  /** True when a repetition may succeed although the command runs alone. */
  readonly repeatable: boolean
  /** True when another transaction was in the way, so no command of the round is at fault. */
  readonly lostRace: boolean
  /** True for a duplicate key. */
  readonly duplicate: boolean
}

/** Classifies the error of a round that failed in the given stage. */
export function commitFailure(error: unknown, stage: Stage): CommitFailure {
  const code = sqlState(error)
  const rolledBack = provesRollback(error)
  return {
    answer: answerOf(error, stage, rolledBack, code),
    connectionLost: stage !== 'encoding' && !rolledBack,
    repeatable: (code !== null && REPEATED_COMMIT_SQLSTATES.has(code)) || isBeyondLimit(error),
    lostRace: lostRace(error),
    duplicate: code === UNIQUE_VIOLATION,
  }
}

function answerOf(error: unknown, stage: Stage, rolledBack: boolean, code: string | null): OperatingError | null {
  if (stage === 'sent' && !rolledBack)
    return new OutcomeUnknown('The outcome is not known yet; repeat with the same Idempotency-Key.', { cause: error })
  if (stage !== 'encoding' && (code === null || UNAVAILABLE_SQLSTATES.test(code)))
    return new DatabaseUnavailable('The database cannot take this at present.', { cause: error })
  return null
}

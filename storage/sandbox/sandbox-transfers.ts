/** Transfers between own accounts at the sandbox bank: rows of sandbox_transfer. Statements only. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Queries } from '../db/transaction.ts'
import { expression, select } from '../db/select.ts'

/** A transfer as the bank accepts it. The amount is minor units, times are epoch milliseconds. */
export interface NewSandboxTransfer {
  readonly reference: string
  readonly currency: string
  readonly amount: bigint
  readonly state: 'accepted' | 'unanswered'
  readonly outcome: string
  readonly schemeCode: string | null
  readonly dueAt: number
  readonly receivedAt: number
}

/**
 * Inserts a transfer; an existing reference is left as it is.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertSandboxTransfer(
  database: Queries,
  { reference, currency, amount, state, outcome, schemeCode, dueAt, receivedAt }: NewSandboxTransfer,
): Promise<void> {
  await database.query({
    name: 'sandbox_book_transfer',
    text: `insert into sandbox_transfer (reference, currency, amount, state, outcome, scheme_code, due_at, received_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (reference) do nothing`,
    values: [reference, currency, amount, state, outcome, schemeCode, timestamp(dueAt), timestamp(receivedAt)],
  })
}

/** The state of a transfer, for the bank's answer to a status request. */
export interface SandboxTransferState {
  readonly state: string
  readonly outcome: string
  readonly schemeCode: string | null
  /** Whether the outcome is due. */
  readonly isDue: boolean
}

const STATE = select({
  state: expression<string>('state'),
  outcome: expression<string>('outcome'),
  schemeCode: expression<string | null>('scheme_code'),
  isDue: expression<boolean>('due_at <= $2::timestamptz'),
})

/**
 * Reads the state of a transfer at `now` (epoch milliseconds); null when the bank does not have the transfer.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function sandboxTransferState(
  database: Queries,
  reference: string,
  now: number,
): Promise<SandboxTransferState | null> {
  const [row] = await database.query({
    name: 'sandbox_transfer_status',
    values: [reference, timestamp(now)],
    text: `select ${STATE.sql} from sandbox_transfer where reference = $1`,
  })
  return row === undefined ? null : STATE.read(row)
}

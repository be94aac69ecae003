/**
 * Moves of contracts that need no decision of a balance: withdrawn, deposit missed, margin called, overdue, expired.
 * These moves only return money. Each is one transaction with the contract's version as its fence; notices to people
 * are written with it.
 */
import { dateIn, timestamp, type Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moveContract, outstandingOf, type Contract, type ContractMove } from '../../lib/exchange/contract.ts'
import { contractAfter, contractEffects } from '../../lib/exchange/contract-effects.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { InternalAccounts } from '../../lib/ledger/entry.ts'
import { formatMajor } from '../../lib/base/money.ts'
import { ProblemError } from '../../lib/base/problems.ts'
import { writeOrSuspend } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import { readExchange } from '../../storage/exchange/exchanges.ts'
import { insertNotices, peopleInRoles, type Notice } from '../../storage/notices/notices.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'

/** The roles that are told when a contract needs action: those who can act. */
const TOLD_ROLES = ['owner', 'admin']

export interface EndsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly sandbox: boolean
  readonly onError: (error: unknown, what: string) => void
}

export type QuietMove = Extract<ContractMove, { kind: 'cancel' | 'deposit_missed' | 'call' | 'overdue' | 'expire' }>

const MESSAGES: Readonly<Record<QuietMove['kind'], string>> = {
  cancel: 'Contract cancelled.',
  deposit_missed: 'Contract cancelled: its deposit was not paid in time.',
  call: 'More is asked for as a deposit.',
  overdue: 'The settlement date has come, and the balance does not cover the amount.',
  expire: 'The time of the rate is over.',
}

/**
 * Makes a move within an open transaction.
 *
 * @returns the contract after the move
 * @throws ProblemError when the contract does not allow the move; CommitConflict `exchange_stale` when another change
 *   came first
 */
export async function moveQuietly(
  tx: ApprovalTx,
  contract: Contract,
  move: QuietMove,
  {
    accounts,
    sandbox,
    by,
  }: { readonly accounts: InternalAccounts; readonly sandbox: boolean; readonly by: 'member' | 'system' },
): Promise<Contract> {
  const moved = moveContract(contract, move)
  if ('refused' in moved) throw new ProblemError(moved.refused)
  const { ids, now } = tx
  const context = { ids, now, accounts, by, valueDate: dateIn(now, 'UTC'), message: MESSAGES[move.kind], sandbox }
  await writeOrSuspend(tx, (suspenseId) => ({ effects: contractEffects(contract, moved, { ...context, suspenseId }) }))
  return contractAfter(contract, moved, now)
}

/**
 * Makes a due move in its own transaction, with notices to the people who can act; does nothing when the contract has
 * changed.
 *
 * @throws as `moveQuietly`
 */
export async function moveWhenDue(
  deps: EndsDeps,
  contract: Contract,
  move: QuietMove,
  accounts: InternalAccounts,
): Promise<void> {
  await decideInTransaction(deps, async (tx) => {
    if ((await readExchange(tx.client, contract.id))?.exchange.version !== contract.version) return
    const next = await moveQuietly(tx, contract, move, { accounts, sandbox: deps.sandbox, by: 'system' })
    const news = newsOf(next, move)
    if (news !== null) await tell(tx, news)
  })
}

function newsOf(contract: Contract, move: QuietMove): Notice | null {
  const { customerId: tenantId, id, number, sellCurrency, deposit } = contract
  const object = { type: 'exchange', id }
  const amount = (minor: bigint) => `${formatMajor(minor, sellCurrency as CurrencyCode)} ${sellCurrency}`
  if (move.kind === 'call' && deposit !== null) {
    return {
      tenantId,
      object,
      type: 'forward_deposit_due',
      title: `Forward ${number} needs a further deposit`,
      text: `${amount(outstandingOf(deposit))} until ${timestamp(move.until)}, or it is closed out.`,
    }
  }
  if (move.kind === 'overdue') {
    return {
      tenantId,
      object,
      type: 'exchange_overdue',
      title: `Forward ${number} is overdue`,
      text: `${amount(contract.remainingSell)} are missing. It is closed out when they are not there in two business days.`,
    }
  }
  return null
}

async function tell({ client, ids, now }: ApprovalTx, notice: Notice): Promise<void> {
  await insertNotices(client, ids, await peopleInRoles(client, notice.tenantId, TOLD_ROLES), notice, now)
}

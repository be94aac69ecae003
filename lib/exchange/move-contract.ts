/**
 * Moves of a contract that debit a balance, decided by that balance: a deposit payment, and the loss of an unwound
 * contract. The contract's state travels with the command; its version is the fence.
 */
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { idsFrom } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import { moneyProblem } from '../customers/money-access.ts'
import {
  insufficientFunds,
  invalid,
  refuse,
  unrecorded,
  type BalanceDecision,
  type Recorded,
} from '../balances/decision.ts'
import { contractAt, moveContract, type Contract, type ContractMove } from './contract.ts'
import { exchangeBody } from './exchange.ts'
import { contractAfter, contractEffects, type ContractContext } from './contract-effects.ts'

export interface MoveContract extends Recorded {
  readonly kind: 'move_contract'
  readonly customerId: string
  readonly contract: Contract
  readonly move: Extract<ContractMove, { kind: 'deposit' | 'close_out' }>
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
  readonly context: Omit<ContractContext, 'now' | 'ids'>
}

export interface ContractMovedReply {
  readonly kind: 'contract_moved'
  readonly contract: Contract
  readonly body: string
}

/** Decides the move. A loss is debited whatever the balance has; a deposit must be covered. */
export function moveContractOf(
  balance: BalanceState | null,
  command: MoveContract,
  now: number,
): BalanceDecision<ContractMovedReply> {
  const { contract, move, key } = command
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: '/balanceId', code: 'not_found', message: 'No such balance.' })
  }
  if (balance.currency !== contract.sellCurrency) {
    return invalid(balance, {
      field: '/balanceId',
      code: 'currency_mismatch',
      message: `The deposit is in ${contract.sellCurrency}.`,
    })
  }
  const barred = move.kind === 'deposit' ? moneyProblem(balance, 'move') : null
  if (barred !== null) return unrecorded(balance, barred)
  if (move.kind === 'deposit' && balance.status !== 'active') {
    return {
      ...invalid(balance, { field: '/balanceId', code: 'inactive', message: `The balance is ${balance.status}.` }),
      refused: true,
    }
  }
  const moved = moveContract(contractAt(contract, now), move)
  if ('refused' in moved) return refuse(balance, command, now, moved.refused)
  const taken = moved.paid ?? 0n
  if (balance.available < taken)
    return { ...refuse(balance, command, now, insufficientFunds(balance, taken)), refused: true }
  const after = contractAfter(contract, moved, now)
  const body = exchangeBody(after)
  const effects = contractEffects(contract, moved, {
    ...command.context,
    ids: idsFrom(command.seed),
    payingBalanceId: balance.id,
    now,
  })
  const debited = (effects.postings ?? []).reduce(
    (sum, { debit, credit, amount }) =>
      sum +
      (debit.kind === 'balance' && debit.id === balance.id ? amount : 0n) -
      (credit.kind === 'balance' && credit.id === balance.id ? amount : 0n),
    0n,
  )
  return {
    state: { ...balance, available: balance.available - debited },
    reply: { kind: 'contract_moved', contract: after, body },
    effects: {
      ...effects,
      ...outcomeRecord(key, 200, null, body, now),
    },
  }
}

/**
 * Brings contracts to the balances that decide on them: deposits and close-outs.
 *
 * The contract as it was read travels with the command, and its version is the fence. When another change came in
 * between, the commit reports it, and the flow reads and asks again.
 */
import { dateIn } from '../../lib/base/clock.ts'
import { notNow, type Contract, type ContractMove } from '../../lib/exchange/contract.ts'
import { partnerKeepsDeposits } from '../../storage/exchange/contracts.ts'
import { contractBalance, type ContractCommand } from '../balances/balance.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import {
  accountsOfContract,
  contractOfCustomer,
  refuseError,
  rereadContract,
  type ContractAsker,
  type ContractDeps,
  type ContractOutcome,
} from './exchange-contracts.ts'

/**
 * Pays a deposit.
 *
 * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same key
 */
export async function payDeposit(
  deps: ContractDeps,
  caller: ContractAsker,
  contractId: string,
  {
    balanceId,
    amount,
  }: {
    readonly balanceId: string
    readonly amount: { readonly amountMinor: string; readonly currency: string } | null
  },
): Promise<ContractOutcome> {
  const known = await contractOfCustomer(deps.database, caller.customerId, contractId, 'forward')
  if (amount !== null && amount.currency !== known.sellCurrency)
    refuseError({
      field: '/amount/currency',
      code: 'currency_mismatch',
      message: `The deposit is in ${known.sellCurrency}.`,
    })
  const places = await partnerKeepsDeposits(deps.database, known.connectionId)
  return await moveAtBalance(
    deps,
    caller,
    known,
    balanceId,
    { kind: 'deposit', amount: amount === null ? null : BigInt(amount.amountMinor), places },
    { by: 'member', message: 'Deposit paid.' },
  )
}

/** Brings a move to a balance, and repeats it until it was decided on the current contract. */
export async function moveAtBalance(
  deps: ContractDeps,
  caller: ContractAsker,
  known: Contract,
  balanceId: string,
  move: Extract<ContractMove, { kind: 'deposit' | 'close_out' }>,
  { by, message }: { readonly by: 'member' | 'system'; readonly message: string },
): Promise<ContractOutcome> {
  const accounts = await accountsOfContract(deps, known)
  let contract = known
  let suspenseId: string | undefined
  return await askUntilDecided(
    { ...caller, system: deps.system, actor: contractBalance, id: balanceId },
    (): ContractCommand => ({
      kind: 'move_contract',
      customerId: caller.customerId,
      key: caller.key,
      problemRequest: caller.problemRequest,
      contract,
      move,
      seed: deps.ids.next(),
      context: {
        accounts,
        by,
        message,
        valueDate: dateIn(deps.clock.now(), 'UTC'),
        sandbox: deps.sandbox,
        suspenseId,
      },
    }),
    async (conflict) => {
      switch (conflict.kind) {
        case 'exchange_stale':
          contract = await rereadContract(deps.database, known.id)
          // A close-out was due on the contract as it was read; the changed contract is judged again.
          return move.kind === 'close_out'
            ? { kind: 'refused', problem: notNow(contract, move.kind).refused, body: null }
            : 'again'
        // The suspense id for the returned deposit, used when the contract's balance is closed.
        case 'credit_refused':
          suspenseId ??= deps.ids.next()
          return 'again'
        default:
          throw new Error(`Moving a contract met ${conflict.kind}.`)
      }
    },
    'contract',
  )
}

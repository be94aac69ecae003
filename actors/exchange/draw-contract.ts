/**
 * Brings contracts to the balances that decide on them: drawdowns.
 *
 * The contract as it was read travels with the command, and its version is the fence. When another change came in
 * between, the commit reports it, and the flow reads and asks again.
 */
import { dateIn } from '../../lib/base/clock.ts'
import { takenExternalId } from '../../lib/exchange/book-exchange.ts'
import { notNow, type Contract, type ContractMove } from '../../lib/exchange/contract.ts'
import type { DrawdownOrder } from '../../lib/exchange/draw-contract.ts'
import { isPartnerDay, partnerDate } from '../../lib/exchange/forward-terms.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { ExchangeFacts } from '../../storage/exchange/exchange-facts.ts'
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

/** A drawdown as the API takes it, checked for shape. */
export interface DrawdownInput {
  readonly amount: { readonly amountMinor: string; readonly currency: string }
  readonly sellBalanceId?: string | null
  readonly buyBalanceId?: string | null
  readonly reference?: string | null
  readonly externalId?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

export interface DrawdownDeps extends ContractDeps {
  readonly balances: { find(id: string): Promise<{ readonly customerId: string; readonly currency: string } | null> }
}

/**
 * Draws from a contract.
 *
 * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same key
 */
export async function drawFromContract(
  deps: DrawdownDeps,
  caller: ContractAsker,
  contractId: string,
  kind: Contract['kind'],
  input: DrawdownInput,
): Promise<ContractOutcome> {
  const contract = await contractOfCustomer(deps.database, caller.customerId, contractId, kind)
  const { amount, buyBalanceId = null } = input
  if (amount.currency !== contract.sellCurrency && amount.currency !== contract.buyCurrency) {
    refuseError({
      field: '/amount/currency',
      code: 'currency_mismatch',
      message: `The contract is of ${contract.sellCurrency} and ${contract.buyCurrency}.`,
    })
  }
  if (buyBalanceId !== null) {
    const found = await deps.balances.find(buyBalanceId)
    if (found === null || found.customerId !== caller.customerId)
      refuseError({ field: '/buyBalanceId', code: 'not_found', message: 'No such balance.' })
    if (found.currency !== contract.buyCurrency)
      refuseError({
        field: '/buyBalanceId',
        code: 'currency_mismatch',
        message: `The contract buys ${contract.buyCurrency}.`,
      })
  }
  const move = {
    kind: 'draw',
    side: amount.currency === contract.sellCurrency ? ('sell' as const) : ('buy' as const),
    amount: BigInt(amount.amountMinor),
  } as const
  return await draw(deps, caller, contract, move, {
    sellBalanceId: input.sellBalanceId ?? contract.sellBalanceId,
    buyBalanceId: buyBalanceId ?? contract.buyBalanceId,
    reference: input.reference ?? null,
    externalId: input.externalId ?? null,
    metadata: inStoredOrder(input.metadata ?? {}),
  })
}

/** Draws the remaining amount automatically (F6, F8). */
export async function drawRest(
  deps: ContractDeps,
  caller: ContractAsker,
  contract: Contract,
): Promise<ContractOutcome> {
  return await draw(
    deps,
    caller,
    contract,
    { kind: 'draw', side: 'sell', amount: contract.remainingSell, automatic: true },
    {
      sellBalanceId: contract.sellBalanceId,
      buyBalanceId: contract.buyBalanceId,
      reference: contract.reference,
      externalId: null,
      metadata: {},
    },
  )
}

async function draw(
  deps: ContractDeps,
  caller: ContractAsker,
  known: Contract,
  move: Extract<ContractMove, { kind: 'draw' }>,
  order: Pick<DrawdownOrder, 'sellBalanceId' | 'buyBalanceId' | 'reference' | 'externalId' | 'metadata'>,
): Promise<ContractOutcome> {
  const { operatorId, connectionId, buyCurrency } = known
  const accounts = await accountsOfContract(deps, known)
  const exchangeAccounts = {
    sell: accounts,
    buy: await deps.accounts.accounts({ operatorId, connectionId, currency: buyCurrency }),
  }
  const number = orderNumber('DRW', await deps.orderNumbers.take())
  const calendar = (await deps.desks.of(known.customerId))?.calendar ?? null
  let contract = known
  let refusal: Problem | null = null
  let creditRefused = false
  const makeCommand = (): ContractCommand => {
    const now = deps.clock.now()
    return {
      kind: 'draw_contract',
      customerId: caller.customerId,
      key: caller.key,
      problemRequest: caller.problemRequest,
      contract,
      move,
      order: { ...order, id: deps.ids.next(), number, createdBy: caller.createdBy, createdVia: caller.createdVia },
      seed: deps.ids.next(),
      context: {
        accounts,
        exchangeAccounts,
        by: move.automatic === true ? 'system' : 'member',
        valueDate: dateIn(now, 'UTC'),
        sandbox: deps.sandbox,
      },
      refusal: refusal ?? (move.automatic === true ? null : windowRefusal(contract, now, calendar)),
      creditRefused,
    }
  }
  return await askUntilDecided(
    { ...caller, system: deps.system, actor: contractBalance, id: order.sellBalanceId },
    makeCommand,
    async (conflict) => {
      switch (conflict.kind) {
        case 'exchange_stale':
          contract = await rereadContract(deps.database, known.id)
          return move.automatic === true
            ? { kind: 'refused', problem: notNow(contract, 'draw').refused, body: null }
            : 'again'
        case 'external_id_used':
          refusal = takenExternalId(order.externalId, conflict.existingId)
          return 'again'
        case 'credit_refused':
          creditRefused = true
          return 'again'
        default:
          throw new Error(`Drawing from a contract met ${conflict.kind}.`)
      }
    },
    'contract',
  )
}

/** Returns the reason why a forward cannot be drawn from today; null when it can. */
function windowRefusal(contract: Contract, now: number, calendar: ExchangeFacts['calendar']): Problem | null {
  const no = (detail: string) => notNow(contract, 'draw', detail).refused
  if (contract.kind === 'held_rate') return null
  const today = partnerDate(now)
  const from =
    contract.forwardType === 'open' && contract.drawdownFrom !== null ? contract.drawdownFrom : contract.settlementDate
  if (today < from) return no(`The contract can be drawn from ${from} on.`)
  if (today > contract.settlementDate) return no(`The contract could be drawn until ${contract.settlementDate}.`)
  return isPartnerDay(today, calendar) ? null : no('The bank does not work today.')
}

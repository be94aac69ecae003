/**
 * Moves contracts that are due by time or market, on the node that owns their shard: missed deposits, margin calls,
 * the last day of a forward, expired held rates.
 *
 * The row of a contract says when it is due next; one task works on all contracts of a shard that are due in the same
 * second, because each open forward is compared with the market once a minute. Each decision rests on the row as it was
 * read. Two nodes that run at once decide the same, and the version lets only one of them write.
 */
import { LIMITS } from '../../lib/base/limits.ts'
import { isCalled, isContract, isOpen, keptOf, type Contract } from '../../lib/exchange/contract.ts'
import { dueAtOf } from '../../lib/exchange/contract-effects.ts'
import {
  depositFor,
  graceUntil,
  lossOf,
  marginCall,
  maturityOf,
  partnerDate,
  SANDBOX_MARGIN_CALL,
} from '../../lib/exchange/forward-terms.ts'
import { forwardOf } from '../../lib/exchange/pricing.ts'
import { divideHalfEven, rateOf } from '../../lib/exchange/rate.ts'
import { ProblemError } from '../../lib/base/problems.ts'
import { CommitConflict } from '../../storage/sections/write-effects.ts'
import { dueContracts, hasOpenDrawdown, postponeContracts, statusSince } from '../../storage/exchange/contracts.ts'
import type { ExchangeFacts } from '../../storage/exchange/exchange-facts.ts'
import { findExchanges } from '../../storage/exchange/exchanges.ts'
import { drawRest } from './draw-contract.ts'
import { accountsOfContract, serviceFor, type ContractDeps } from './exchange-contracts.ts'
import { moveAtBalance } from './move-contract.ts'
import { moveWhenDue, type EndsDeps, type QuietMove } from './contract-ends.ts'
import type { FxMarkets } from '../providers/fx.ts'
import type { Task } from '../runtime/tasks.ts'

/** The number of contracts that are read at a time. */
const DUE_MAX = 256
/**
 * The delay before a contract is checked again that cannot be judged now (its pair is not quoted, or a drawdown is in
 * progress).
 */
const AGAIN_MS = 10_000

export interface ContractsOptions extends ContractDeps, EndsDeps {
  /** The partner whose market values the contracts. */
  readonly market: Pick<FxMarkets, 'of'>
}

export class Contracts {
  readonly #options: ContractsOptions

  constructor(options: ContractsOptions) {
    this.#options = options
  }

  /** Moves the contracts of a shard that are due; without a shard, all. */
  task(): Task {
    return {
      name: 'exchange.contracts',
      cron: '*/10 * * * *',
      run: async (shard) => {
        const owned = shard === '' ? null : [Number(shard)]
        for (let due = DUE_MAX; due === DUE_MAX; ) due = await this.#settleDue(owned)
      },
    }
  }

  /** @returns the number of contracts that were due, `DUE_MAX` at most */
  async #settleDue(owned: readonly number[] | null): Promise<number> {
    const { database, clock, onError, sandbox } = this.#options
    const now = clock.now()
    const due = await dueContracts(database, { now, owned, max: DUE_MAX })
    if (due.length === 0) return 0
    const later: { id: string; version: number; dueAt: number }[] = []
    for (const exchange of (await findExchanges(database, due)).values()) {
      if (!isContract(exchange) || exchange.dueAt === null || exchange.dueAt > now) continue
      const settled = await this.#settle(exchange, now).catch((error: unknown) => {
        // Another node was faster, or the contract has changed: its current row says when it is due next.
        if (!(error instanceof CommitConflict) && !(error instanceof ProblemError))
          onError(error, `contract ${exchange.id}`)
        return false
      })
      const next = dueAtOf(exchange, now, { sandbox }) ?? now
      if (!settled)
        later.push({ id: exchange.id, version: exchange.version, dueAt: next > now ? next : now + AGAIN_MS })
    }
    if (later.length > 0) await postponeContracts(database, later)
    return due.length
  }

  /** Makes the move that is due on a contract. @returns false when none is due */
  async #settle(contract: Contract, now: number): Promise<boolean> {
    if (contract.kind === 'held_rate') return isOpen(contract) && (await this.#quietly(contract, { kind: 'expire' }))
    if (contract.status === 'awaiting_deposit')
      return isCalled(contract)
        ? await this.#closeOut(contract, now)
        : await this.#quietly(contract, { kind: 'deposit_missed' })
    if (contract.status === 'overdue') return (await this.#drawRest(contract)) || (await this.#endGrace(contract, now))
    if (!isOpen(contract)) return false
    if (maturityOf(contract.settlementDate) <= now)
      return (await this.#drawRest(contract)) || (await this.#quietly(contract, { kind: 'overdue' }))
    return await this.#call(contract, now)
  }

  async #quietly(contract: Contract, move: QuietMove): Promise<true> {
    await moveWhenDue(this.#options, contract, move, await accountsOfContract(this.#options, contract))
    return true
  }

  /** Draws the rest of a contract. @returns false when the balance lacks the money */
  async #drawRest(contract: Contract): Promise<boolean> {
    const { clock } = this.#options
    const outcome = await drawRest(
      this.#options,
      serviceFor(contract, clock.now() + LIMITS.requestDeadlineMs),
      contract,
    )
    return outcome.kind === 'contract_drawn'
  }

  async #endGrace(contract: Contract, now: number): Promise<boolean> {
    const desk = await this.#desk(contract)
    return (
      graceUntil(await statusSince(this.#options.database, contract.id), desk.calendar) <= now &&
      (await this.#closeOut(contract, now))
    )
  }

  /** Unwinds the rest of a contract at the current market rate. Waits for a drawdown that may still fail. */
  async #closeOut(contract: Contract, now: number): Promise<boolean> {
    const { database, clock } = this.#options
    if (await hasOpenDrawdown(database, contract.id)) return false
    const worth = await this.#worth(contract, now)
    if (worth === null) return false
    const loss = lossOf(contract.remainingSell, worth)
    const caller = serviceFor(contract, clock.now() + LIMITS.requestDeadlineMs)
    const outcome = await moveAtBalance(
      this.#options,
      caller,
      contract,
      contract.sellBalanceId,
      { kind: 'close_out', loss },
      { by: 'system', message: 'Closed out.' },
    )
    return outcome.kind === 'contract_moved'
  }

  /** Makes a margin call. @returns false when the deposit is sufficient */
  async #call(contract: Contract, now: number): Promise<boolean> {
    const desk = await this.#desk(contract)
    const amount = await this.#demand(contract, desk, now)
    return (
      amount !== null &&
      (await this.#quietly(contract, { kind: 'call', amount, until: graceUntil(now, desk.calendar) }))
    )
  }

  async #demand(
    contract: Contract,
    { terms: { forwardDepositBps, marginCallBps } }: ExchangeFacts,
    now: number,
  ): Promise<bigint | null> {
    const { deposit, remainingSell, sellAmount } = contract
    if (deposit === null) return null
    // The sandbox partner calls once for the same amount as the first deposit.
    const once =
      this.#options.sandbox &&
      sellAmount === SANDBOX_MARGIN_CALL.amount &&
      deposit.required > 0n &&
      deposit.required === depositFor(sellAmount, { depositBps: forwardDepositBps, sandbox: true })
    if (once) return deposit.required
    const worth = await this.#worth(contract, now)
    return worth === null
      ? null
      : marginCall(
          { remainingSell, worth, kept: keptOf(deposit).amount },
          { depositBps: forwardDepositBps, marginCallBps },
        )
  }

  /**
   * Values the amount left to sell at the partner's current rate for the same day; null where the partner does not
   * quote the pair.
   */
  async #worth(
    { connectionId, sellCurrency, buyCurrency, settlementDate, remainingSell, partnerRate }: Contract,
    now: number,
  ): Promise<bigint | null> {
    const market = await this.#options.market.of(connectionId)
    const mid = typeof market === 'string' ? null : market.mid(sellCurrency, buyCurrency)
    if (mid === null) return null
    const days = Temporal.PlainDate.from(partnerDate(now)).until(settlementDate).days
    return divideHalfEven(remainingSell * partnerRate, rateOf(forwardOf(mid, Math.max(days, 0))))
  }

  async #desk({ customerId }: Contract): Promise<ExchangeFacts> {
    const desk = await this.#options.desks.of(customerId)
    if (desk === null) throw new Error(`The customer ${customerId} has nowhere to exchange.`)
    return desk
  }
}

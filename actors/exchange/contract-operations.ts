/** The operations on contracts for the HTTP layer: forwards and held rates, their deposits and their drawdowns. */
import { cancelExchange, type CancelExchangeDeps } from './cancel-exchange.ts'
import { createExchange, type ExchangeDeps } from './create-exchange.ts'
import { drawFromContract } from './draw-contract.ts'
import type { ContractOutcome } from './exchange-contracts.ts'
import { payDeposit } from './move-contract.ts'
import { PLAIN_TERMS } from './open-contract.ts'
import type { Contract } from '../../lib/exchange/contract.ts'
import { exchangeJson } from '../../lib/exchange/exchange.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import { getExchange, listExchanges } from '../../storage/exchange/exchange-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { showing } from '../../lib/commands/answer.ts'
import { resourceETag } from '../../lib/commands/etag.ts'
import { done, type Answers } from '../commands/answers.ts'
import { InTurn } from '../runtime/in-turn.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  DrawdownCreate,
  ForwardContractCreate,
  ForwardDeposit,
  HeldRateCreate,
} from '../../lib/exchange/contract-schema.ts'
import type { Exchange, exchangeList } from '../../lib/exchange/exchange-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such contract of this kind in the tenant. */
export interface ContractReads {
  list(query: ListQuery<typeof exchangeList>, kind: Contract['kind']): Promise<ListResult<Exchange>>
  get(tenant: Tenant, id: string, kind: Contract['kind']): Promise<Versioned<Exchange> | null>
  /** @throws ProblemError `not-found` when there is no such contract */
  drawdowns(
    query: ListQuery<typeof exchangeList>,
    tenant: Tenant,
    contractId: string,
    kind: Contract['kind'],
  ): Promise<ListResult<Exchange>>
}

export interface ContractCommands {
  openForward(command: Command<ForwardContractCreate>): Promise<CommandAnswer<Exchange, 201>>
  holdRate(command: Command<HeldRateCreate>): Promise<CommandAnswer<Exchange, 201>>
  payDeposit(command: Command<ForwardDeposit>, contractId: string): Promise<CommandAnswer<Exchange, 200>>
  draw(
    command: Command<DrawdownCreate>,
    contractId: string,
    kind: Contract['kind'],
  ): Promise<CommandAnswer<Exchange, 201>>
  cancelHeldRate(command: Command<null>, contractId: string): Promise<CommandAnswer<Exchange, 200>>
  /** Cancels any exchange that has not taken effect yet. */
  cancelExchange(command: Command<null>, exchangeId: string): Promise<CommandAnswer<Exchange, 200>>
}

type ContractMade = Exclude<ContractOutcome, { readonly kind: 'refused' | 'recorded' }>

/** The 201 of an opened or drawn contract; the answer is recorded under its key. */
export function contractAnswer(outcome: ContractMade): CommandAnswer<Exchange, 201> {
  if (outcome.kind === 'contract_moved') throw new Error('A new contract was answered with one that has moved.')
  const { body } = outcome
  const { id } = outcome.kind === 'contract_drawn' ? outcome.drawdown : outcome.contract
  return showing({
    status: 201,
    body,
    contentType: 'application/json',
    etag: resourceETag(1, body),
    location: `/v1/exchanges/${id}`,
    replayed: false,
  })
}

/** The 200 of a contract that has moved; the answer is recorded under its key. */
function movedAnswer(outcome: ContractMade): CommandAnswer<Exchange, 200> {
  if (outcome.kind !== 'contract_moved') throw new Error('A move of a contract was answered with a new contract.')
  return showing({ status: 200, body: outcome.body, contentType: 'application/json', replayed: false })
}

/** Narrows a filter to one value; empty when the filter excludes that value. */
const only = (asked: readonly string[] | undefined, value: string): readonly string[] =>
  asked === undefined || asked.includes(value) ? [value] : []

/** Creates the reads of contracts. */
export function createContractReads(database: Database): ContractReads {
  const db = readDatabase(database)
  const get: ContractReads['get'] = async (tenant, id, kind) => {
    const found = await getExchange(database, tenant, id)
    return found?.view.kind === kind ? found : null
  }
  return {
    get,
    list: (query, kind) =>
      listExchanges(db, { ...query, filters: { ...query.filters, kind: only(query.filters.kind, kind) } }),
    async drawdowns(query, tenant, contractId, kind) {
      if ((await get(tenant, contractId, kind)) === null) refuseNotFound()
      return await listExchanges(db, {
        ...query,
        filters: { ...query.filters, parentExchangeId: only(query.filters.parentExchangeId, contractId) },
      })
    },
  }
}

/** Creates the commands of contracts. */
export function createContractCommands(
  deps: ExchangeDeps & CancelExchangeDeps,
  { answer, recordedAnswer }: Answers,
): ContractCommands {
  const contracts = new InTurn()

  async function cancel(
    command: Command<null>,
    exchangeId: string,
    kind?: 'held_rate',
  ): Promise<CommandAnswer<Exchange, 200>> {
    // A key with an answer keeps it, whatever the exchange's status is now.
    const known = command.idempotency === null ? null : await recordedAnswer<Exchange, 200>(command.idempotency)
    return (
      known ??
      (await answer(
        command,
        (caller) => contracts.run(exchangeId, () => cancelExchange(deps, caller, exchangeId, kind)),
        ({ exchange }) => done(exchangeJson(exchange), false),
      ))
    )
  }

  return {
    openForward: (command) =>
      answer(
        command,
        async (caller, body) => {
          const { forwardType = 'fixed', drawdownFrom = null, depositBalanceId = null } = body
          return ofContract(
            await createExchange(deps, caller, body, 'forward', { forwardType, drawdownFrom, depositBalanceId }),
          )
        },
        contractAnswer,
      ),
    holdRate: (command) =>
      answer(
        command,
        async (caller, body) => ofContract(await createExchange(deps, caller, body, 'held_rate', PLAIN_TERMS)),
        contractAnswer,
      ),
    payDeposit: (command, contractId) =>
      answer(
        command,
        (caller, { balanceId, amount = null }) =>
          contracts.run(contractId, () => payDeposit(deps, caller, contractId, { balanceId, amount })),
        movedAnswer,
      ),
    draw: (command, contractId, kind) =>
      answer(
        command,
        (caller, body) => contracts.run(contractId, () => drawFromContract(deps, caller, contractId, kind, body)),
        contractAnswer,
      ),
    cancelHeldRate: (command, contractId) => cancel(command, contractId, 'held_rate'),
    cancelExchange: (command, exchangeId) => cancel(command, exchangeId),
  }
}

/** Narrows the result of a contract's quote, which never makes a spot. */
function ofContract(outcome: Awaited<ReturnType<typeof createExchange>>): ContractOutcome {
  if (outcome.kind === 'exchange_booked') throw new Error('A spot was made of the quote of a contract.')
  return outcome
}

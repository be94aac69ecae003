/**
 * Brings contracts to the balances that decide on them: what opening, deposits and drawdowns share.
 *
 * The contract as it was read travels with the command, and its version is the fence. When another change came in
 * between, the commit reports it, and the flow reads and asks again.
 */
import { NO_REQUEST } from '../../lib/balances/decision.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { asContract, isContract, type Contract } from '../../lib/exchange/contract.ts'
import type { ExchangeRecord } from '../../lib/exchange/exchange.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { InternalAccounts } from '../../lib/ledger/entry.ts'
import { refuse, refuseNotFound, type FieldError } from '../../lib/base/problems.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { Database } from '../../storage/db/database.ts'
import type { ExchangeFactsCache } from '../../storage/exchange/exchange-facts.ts'
import { findExchange } from '../../storage/exchange/exchanges.ts'
import type { InternalAccountCache, InternalAccountReader } from '../../storage/journal/internal-account-cache.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import type { ContractReply } from '../balances/balance.ts'
import type { ActorSystem } from '../runtime/system.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'

export interface ContractDeps {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly desks: Pick<ExchangeFactsCache, 'of'>
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly ids: IdSource
  readonly clock: Clock
  readonly sandbox: boolean
}

/** The caller: a person, a key, or the service itself for a contract that is due. */
export type ContractAsker = Pick<
  CommandOrigin,
  'customerId' | 'shard' | 'createdBy' | 'createdByName' | 'key' | 'deadline' | 'problemRequest'
> & { readonly createdVia: ExchangeRecord['createdVia'] }

export type ContractOutcome =
  | ContractReply
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/** Refuses one field of a body. @throws ProblemError `validation-error` */
export function refuseError(error: FieldError): never {
  refuse('validation-error', error.message, { errors: [error] })
}

/** Reads a contract of a customer. @throws ProblemError `not-found` */
export async function contractOfCustomer(
  database: Database,
  customerId: string,
  id: string,
  kind: Contract['kind'],
): Promise<Contract> {
  const found = await findExchange(database, id)
  if (found === null || found.customerId !== customerId || found.kind !== kind || !isContract(found))
    return refuseNotFound()
  return found
}

/** Reads a contract again that another change came in between. @throws ProblemError `not-found` */
export async function rereadContract(database: Database, id: string): Promise<Contract> {
  return asContract((await findExchange(database, id)) ?? refuseNotFound())
}

/** Reads the internal accounts of the sold currency, for a forward including the customer's deposits. */
export async function accountsOfContract(
  { accounts }: { readonly accounts: InternalAccountReader },
  {
    operatorId,
    connectionId,
    sellCurrency,
    customerId,
    kind,
  }: Pick<Contract, 'operatorId' | 'connectionId' | 'sellCurrency' | 'customerId' | 'kind'>,
): Promise<InternalAccounts> {
  const scope = { operatorId, connectionId, currency: sellCurrency }
  return kind === 'forward'
    ? await accounts.accountsWith(scope, 'fx_deposit', customerId)
    : await accounts.accounts(scope)
}

/**
 * Makes the service the caller, for the contract's customer and under the name of its creator. It has no key to record
 * answers under; the contract's version prevents repeats.
 */
export function serviceFor({ customerId, shard, createdBy }: Contract, deadline: number): ContractAsker {
  return {
    customerId,
    shard,
    createdBy,
    createdByName: 'system',
    createdVia: 'system',
    key: null,
    deadline,
    problemRequest: NO_REQUEST,
  }
}

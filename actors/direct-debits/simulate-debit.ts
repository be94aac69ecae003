/** Simulated reports about mandates and collections: the sandbox bank is told which reports it sends. */
import type { IdSource } from '../../lib/base/ids.ts'
import { ProblemError, refuseNotFound } from '../../lib/base/problems.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { accountOf } from '../../lib/direct-debits/account.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { SimCollectionStatus, SimMandateStatus } from '../../lib/sandbox/debit-simulation-schema.ts'
import {
  simulableCollectionStatuses,
  simulableMandateStatuses,
  simulatedCollection,
  simulatedMandate,
} from '../../lib/sandbox/debit-simulations.ts'
import type { DebitStep } from '../../lib/sandbox/direct-debits.ts'
import type { Database } from '../../storage/db/database.ts'
import { through } from '../../storage/db/transaction.ts'
import { findCollection } from '../../storage/direct-debits/collections.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import { findConnection } from '../../storage/sandbox/sandbox-connection.ts'
import type { NewSandboxDebit } from '../../storage/sandbox/sandbox-debits.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { SandboxDebits } from '../sandbox/sandbox-debits.ts'
import { presentationOf } from './debit-queue.ts'

export interface DebitSimulationDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly bank: Pick<SandboxDebits, 'simulate'>
}

/** The order at the sandbox bank, the reports, and what the answer tells. */
interface Simulation {
  readonly kind: 'collection_status' | 'mandate_status'
  readonly of: Pick<MandateRecord, 'id' | 'status' | 'connectionId' | 'shard' | 'scheme' | 'currency' | 'createdAt'>
  readonly order: Pick<NewSandboxDebit, 'reference' | 'kind' | 'amount' | 'account' | 'receivedAt'>
  readonly allowed: readonly string[]
  readonly reports: readonly Omit<DebitStep, 'afterMs'>[] | null
  readonly details: object
}

/**
 * Simulates that the bank reports a status of a collection; a pending collection is submitted first.
 *
 * @throws ProblemError `not-found`, `simulation-not-possible`, and what `decideOnce` throws
 */
export async function simulateCollectionStatus(
  deps: DebitSimulationDeps,
  by: Caller,
  collectionId: string,
  command: Command<SimCollectionStatus>,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const collection = await findCollection(deps.database, collectionId)
  if (collection === null || collection.customerId !== by.tenant.id) refuseNotFound()
  const mandate = await mandateOf(deps, collection)
  const { status, reasonCode = null } = command.body
  const attempt = collection.attempts.length + (collection.status === 'pending' ? 1 : 0)
  return await simulate(deps, command, {
    kind: 'collection_status',
    of: { ...collection, status: collection.status as never },
    order: {
      reference:
        collection.status === 'reversed' ? (collection.reversal?.id ?? '') : presentationOf(collectionId, attempt),
      kind: 'collection',
      amount: collection.amount,
      account: {},
      receivedAt: collection.submittedAt ?? collection.createdAt,
    },
    allowed: simulableCollectionStatuses(collection, mandate.status),
    reports: simulatedCollection(collection, mandate.status, status, reasonCode),
    details: { status, reasonCode, mandateStatus: mandate.status },
  })
}

async function mandateOf(
  { database }: DebitSimulationDeps,
  { mandateId }: Pick<CollectionRecord, 'mandateId'>,
): Promise<MandateRecord> {
  const mandate = await findMandate(database, mandateId)
  if (mandate === null) throw new Error(`The mandate ${mandateId} has vanished.`)
  return mandate
}

/**
 * Simulates that the bank reports a status of a mandate; a pending mandate is lodged first.
 *
 * @throws ProblemError `not-found`, `simulation-not-possible`, and what `decideOnce` throws
 */
export async function simulateMandateStatus(
  deps: DebitSimulationDeps,
  by: Caller,
  mandateId: string,
  command: Command<SimMandateStatus>,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const mandate = await findMandate(deps.database, mandateId)
  if (mandate === null || mandate.customerId !== by.tenant.id) refuseNotFound()
  const { status, reasonCode = null } = command.body
  return await simulate(deps, command, {
    kind: 'mandate_status',
    of: mandate,
    order: {
      reference: mandateId,
      kind: 'mandate',
      amount: null,
      account: accountOf(mandate.counterparty),
      receivedAt: mandate.createdAt,
    },
    allowed: simulableMandateStatuses(mandate),
    reports: simulatedMandate(mandate, status, reasonCode),
    details: { status, reasonCode },
  })
}

/** Tells the bank which reports to send; the answer names the first of them. */
async function simulate(
  deps: DebitSimulationDeps,
  command: Command<unknown>,
  { kind, of, order, allowed, reports, details }: Simulation,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { bank, ids } = deps
  return await decideOnce(deps, command, 202, async (client) => {
    const queries = through(client)
    const { connectionId, shard, scheme, currency, id: objectId } = of
    const connection = await findConnection(queries, { connectionId })
    const provider = connection?.provider ?? null
    if (reports === null || provider !== 'sandbox') throw notPossible(of, provider, allowed)
    const messageId = await bank.simulate(
      queries,
      { ...order, objectId, shard, connectionId, scheme, currency },
      reports,
    )
    if (messageId === null) throw notPossible(of, provider, allowed)
    const view: SimulationResult = {
      simulationId: ids.next(),
      kind,
      status: 'queued',
      provider: 'sandbox',
      providerEventIds: [messageId],
      providerReference: order.reference,
      details,
    }
    return { shown: { version: 1, view } }
  })
}

function notPossible(
  { status }: Pick<Simulation['of'], 'status'>,
  connectionProvider: string | null,
  allowed: readonly string[],
): ProblemError {
  const instead = allowed.length === 0 ? '' : `; it can be set to ${allowed.join(', ')}`
  return new ProblemError({
    slug: 'simulation-not-possible',
    detail:
      connectionProvider === 'sandbox'
        ? `The bank cannot send this report for what is ${status}${instead}.`
        : 'It does not travel by the sandbox bank.',
    extra: { currentStatus: status, connectionProvider },
  })
}

/** The events of payments after they were sent: their history, recalls, and simulated outcomes of a sandbox. */
import { sandboxRules, SIMULATIONS } from '../../lib/sandbox/catalogue.ts'
import { catalogueCards } from '../../storage/cards/card-facts.ts'
import { listPaymentUpdates } from '../../storage/payments/payment-update-queries.ts'
import { findConnection } from '../../storage/sandbox/sandbox-connection.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { readerOf } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  PaymentRecallRequest,
  PaymentStatusUpdate,
  paymentStatusUpdateList,
} from '../../lib/payments/payment-outcome-schema.ts'
import type {
  SimPaymentRecall,
  SimPaymentReturn,
  SimPaymentStatus,
} from '../../lib/sandbox/payment-simulation-schema.ts'
import type { SimulationCatalogue } from '../../lib/contract/simulation.ts'
import type { SimulationForm, SimulationIn, SimulationResult } from '../../lib/contract/simulation.ts'
import type { Payment } from '../../lib/payments/payment-schema.ts'
import type { CommandAnswer } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { requestRecall, type Asked, type PaymentOutcomeDeps } from './request-recall.ts'
import { simulateRecallAnswer, simulateReturn, simulateStatus } from './simulate-outcome.ts'

export interface PaymentOutcomeReads {
  /** Null: no such payment in this tenant. */
  updates(
    query: ListQuery<typeof paymentStatusUpdateList> & { readonly paymentId: string },
  ): Promise<ListResult<PaymentStatusUpdate> | null>
  /** The simulations that a customer can request, and the automatic behaviour of the sandbox. */
  simulations(tenant: Tenant): Promise<SimulationCatalogue>
}

/** The commands. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency key. */
export interface PaymentOutcomeCommands {
  requestRecall(
    by: Caller,
    paymentId: string,
    command: Asked<PaymentRecallRequest>,
  ): Promise<CommandAnswer<Payment, 202>>
  simulateStatus<Form extends SimulationForm>(
    by: Caller,
    paymentId: string,
    command: Asked<SimPaymentStatus>,
    form: Form,
  ): Promise<CommandAnswer<SimulationIn<Form>, 202>>
  simulateReturn(
    by: Caller,
    paymentId: string,
    command: Asked<SimPaymentReturn>,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  simulateRecall(
    by: Caller,
    paymentId: string,
    command: Asked<SimPaymentRecall>,
  ): Promise<CommandAnswer<SimulationResult, 202>>
}

/** Creates the reads. */
export function createPaymentOutcomeReads({
  database,
  environment,
  hasOperation,
}: Pick<PaymentOutcomeDeps, 'database' | 'environment' | 'hasOperation'>): PaymentOutcomeReads {
  const db = readDatabase(database)
  return {
    updates: async (query) => await listPaymentUpdates(database, db, query),
    async simulations(tenant) {
      const [connection, cards] = await Promise.all([
        findConnection(database, { customerId: tenant.id }),
        catalogueCards(readerOf(database), tenant.id),
      ])
      return {
        environment,
        connection:
          connection === null
            ? null
            : { id: connection.id, provider: connection.provider, environment: connection.environment },
        data: SIMULATIONS.map(({ operationId, kind, providers, rules, ...entry }) => ({
          ...entry,
          kind: kind as SimulationCatalogue['data'][number]['kind'],
          method: 'POST' as const,
          providers: [...providers],
          // Keys cannot read cards, so the catalogue names them.
          rules: kind === 'card_transaction' ? [...rules, ...cards] : [...rules],
          available: hasOperation(operationId),
        })),
        rules: sandboxRules().map(({ topic, rule }) => ({ topic, rule })),
      }
    },
  }
}

/** Creates the commands. */
export function createPaymentOutcomeCommands(deps: PaymentOutcomeDeps): PaymentOutcomeCommands {
  return {
    requestRecall: (by, paymentId, command) => requestRecall(deps, by, paymentId, command),
    simulateStatus: (by, paymentId, command, form) => simulateStatus(deps, by, paymentId, command, form),
    simulateReturn: (by, paymentId, command) => simulateReturn(deps, by, paymentId, command),
    simulateRecall: (by, paymentId, command) => simulateRecallAnswer(deps, by, paymentId, command),
  }
}

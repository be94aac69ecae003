/**
 * Commands of incoming payments, for the HTTP layer: the sandbox's simulations of credits, debits and recalls, and the
 * operator's decisions on money without an owner.
 */
import { allocateSuspense, returnSuspense } from './incoming-cases.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { getSuspenseItem } from '../../storage/incoming-payments/incoming-payment-queries.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type {
  SimIncomingDebit,
  SimIncomingPayment,
  SimIncomingRecall,
  SuspenseAllocation,
  SuspenseItem,
  SuspenseReturn,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import type { SimulationForm, SimulationIn, SimulationResult } from '../../lib/contract/simulation.ts'
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import { simulateCredit, simulateDebit, simulateRecall, type IncomingCommandsDeps } from './simulate-incoming.ts'

/** Commands of incoming payments. Every refusal is thrown as a problem. */
export interface IncomingCommands {
  /** Simulates a payment into a balance: the sandbox bank announces the credit within a second. */
  simulate<Form extends SimulationForm>(
    by: Caller,
    body: SimIncomingPayment,
    idempotency: Idempotency | null,
    form: Form,
  ): Promise<CommandAnswer<SimulationIn<Form>, 202>>
  /** Simulates a direct debit from a balance, where the partner's sandbox supports it. */
  simulateDebit(
    by: Caller,
    body: SimIncomingDebit,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  /** Simulates a recall of an incoming payment by the payer's bank. */
  simulateRecall(
    by: Caller,
    id: string,
    body: SimIncomingRecall,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  allocate(by: Caller<'person'>, id: string, body: SuspenseAllocation): Promise<Versioned<SuspenseItem>>
  giveBack(by: Caller<'person'>, id: string, body: SuspenseReturn): Promise<Versioned<SuspenseItem>>
}

/** The reason of a return that names none: the account number is wrong. */
const RETURN_REASON = 'AC01'

/** Creates the commands of incoming payments. */
export function createIncomingCommands(deps: IncomingCommandsDeps): IncomingCommands {
  async function suspenseItem(by: Caller<'person'>, id: string): Promise<Versioned<SuspenseItem>> {
    return (await getSuspenseItem(deps.database, by.tenant, id)) ?? refuseNotFound()
  }

  return {
    simulate: (by, body, idempotency, form) => simulateCredit(deps, by, body, idempotency, form),
    simulateDebit: (by, body, idempotency) => simulateDebit(deps, by, body, idempotency),
    simulateRecall: (by, id, body, idempotency) => simulateRecall(deps, by, id, body, idempotency),
    async allocate(by, id, { balanceId, reason = null }) {
      await allocateSuspense(
        deps,
        { itemId: id, operatorId: by.tenant.id, by: auditCaller(by) },
        { balanceId: balanceId.toLowerCase(), reason },
      )
      return await suspenseItem(by, id)
    },

    async giveBack(by, id, { reason, reasonCode = RETURN_REASON }) {
      await returnSuspense(deps, { itemId: id, operatorId: by.tenant.id, by: auditCaller(by) }, { reason, reasonCode })
      return await suspenseItem(by, id)
    },
  }
}

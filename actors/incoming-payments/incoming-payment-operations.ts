/**
 * Commands of incoming payments, for the HTTP layer: the sandbox's simulations of credits and recalls, and the
 * operator's decisions on money without an owner.
 */
import { allocateSuspense, returnSuspense, type Acting } from './incoming-cases.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { getSuspenseItem } from '../../storage/incoming-payments/incoming-payment-queries.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type {
  SimIncomingPayment,
  SimIncomingRecall,
  SuspenseAllocation,
  SuspenseItem,
  SuspenseReturn,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import type { SimulationForm, SimulationIn, SimulationResult } from '../../lib/contract/simulation.ts'
import type { Command, CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import { decideOnce } from '../commands/run-once.ts'
import { simulateCredit, simulateRecall, type IncomingCommandsDeps } from './simulate-incoming.ts'

/** Commands of incoming payments. Every refusal is thrown as a problem. */
export interface IncomingCommands {
  /** Simulates a payment into a balance: the sandbox bank announces the credit within a second. */
  simulate<Form extends SimulationForm>(
    by: Caller,
    body: SimIncomingPayment,
    idempotency: Idempotency | null,
    form: Form,
  ): Promise<CommandAnswer<SimulationIn<Form>, 202>>
  /** Simulates a recall of an incoming payment by the payer's bank. */
  simulateRecall(
    by: Caller,
    id: string,
    body: SimIncomingRecall,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  /** Allocates money without an owner to a balance. */
  allocate(
    by: Caller<'person'>,
    id: string,
    command: Command<SuspenseAllocation>,
  ): Promise<CommandAnswer<SuspenseItem, 200>>
  /** Returns money without an owner to its payer. */
  giveBack(
    by: Caller<'person'>,
    id: string,
    command: Command<SuspenseReturn>,
  ): Promise<CommandAnswer<SuspenseItem, 200>>
}

/** The reason of a return that names none: the account number is wrong. */
const RETURN_REASON = 'AC01'

/** Creates the commands of incoming payments. */
export function createIncomingCommands(deps: IncomingCommandsDeps): IncomingCommands {
  /** Decides on a suspense item in the transaction of its answer, once for each key. */
  function decideOnItem(
    by: Caller<'person'>,
    itemId: string,
    command: Command<unknown>,
    decide: (tx: ChangeTransaction, acting: Acting) => Promise<void>,
  ): Promise<CommandAnswer<SuspenseItem, 200>> {
    return decideOnce(deps, command, 200, async (client) => {
      const tx = { client, ids: deps.ids, now: deps.clock.now() }
      await decide(tx, { itemId, operatorId: by.tenant.id, by: auditCaller(by) })
      return { shown: (await getSuspenseItem(client, by.tenant, itemId)) ?? refuseNotFound(), tagged: true }
    })
  }

  return {
    simulate: (by, body, idempotency, form) => simulateCredit(deps, by, body, idempotency, form),
    simulateRecall: (by, id, body, idempotency) => simulateRecall(deps, by, id, body, idempotency),
    async allocate(by, id, command) {
      const { reason = null } = command.body
      const balanceId = command.body.balanceId.toLowerCase()
      const balance = await deps.balances.find(balanceId)
      return await decideOnItem(by, id, command, (tx, acting) =>
        allocateSuspense(deps, tx, acting, { balanceId, balance, reason }),
      )
    },

    giveBack(by, id, command) {
      const { reason, reasonCode = RETURN_REASON } = command.body
      return decideOnItem(by, id, command, (tx, acting) => returnSuspense(deps, tx, acting, { reason, reasonCode }))
    },
  }
}

/** Simulations of the sandbox: credits and recalls that arrive at a balance. */
import { requestRecall, type IncomingCasesDeps } from './incoming-cases.ts'
import type { SandboxCredits } from '../sandbox/sandbox-credits.ts'
import { dateIn } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { KnownBalance } from '../../storage/balances/balance-cache.ts'
import { lockIncoming } from '../../storage/incoming-payments/incoming-payments.ts'
import { providerOfConnection } from '../../storage/providers/provider-connections.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { SimIncomingPayment, SimIncomingRecall } from '../../lib/incoming-payments/incoming-payment-schema.ts'
import {
  simulationIn,
  type SimulationForm,
  type SimulationIn,
  type SimulationResult,
} from '../../lib/contract/simulation.ts'
import type { CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import { invalid, simulatedCredit } from './simulated-credit.ts'

/** The dependencies of commands on incoming payments. */
export interface IncomingCommandsDeps extends IncomingCasesDeps, RunOnceDeps {
  readonly clock: IncomingCasesDeps['clock']
  readonly bank: Pick<SandboxCredits, 'announce'>
}

/** The reason of a simulated recall that names none: fraud. */
const RECALL_REASON = 'FRAD'

/**
 * Simulates a payment into a balance: the sandbox bank announces the credit within a second.
 *
 * @throws ProblemError `validation-error`, `limit-exceeded`, `simulation-not-possible`, and what `runOnce` throws
 */
export async function simulateCredit<Form extends SimulationForm>(
  deps: IncomingCommandsDeps,
  by: Caller,
  body: SimIncomingPayment,
  idempotency: Idempotency | null,
  form: Form,
): Promise<CommandAnswer<SimulationIn<Form>, 202>> {
  const { ids, clock, bank } = deps
  const named = await findBalance(deps, body.balanceId)
  return await runOnce(deps, idempotency, 202, async (client) => {
    const balance = mustOwn(by, named)
    const credit = simulatedCredit(body, {
      currency: balance.currency as CurrencyCode,
      reference: ids.next(),
      today: dateIn(clock.now(), 'UTC'),
    })
    await mustBeSandbox(client, balance.connectionId)
    const id = ids.next()
    const { customerId, connectionId } = balance
    await bank.announce(client, {
      id,
      shard: shardOf(customerId),
      connectionId,
      balanceId: body.balanceId.toLowerCase(),
      credit,
    })
    const { reference } = credit
    const result: SimulationResult = {
      simulationId: ids.next(),
      kind: 'incoming_payment',
      status: 'queued',
      provider: 'sandbox',
      providerEventIds: [id],
      providerReference: reference,
      details: { incomingPaymentRef: reference },
    }
    return simulationIn(form, result, reference)
  })
}

/**
 * Simulates a recall of an incoming payment by the payer's bank.
 *
 * @throws ProblemError `not-found`, `validation-error`, `simulation-not-possible`, and what `runOnce` throws
 */
export async function simulateRecall(
  deps: IncomingCommandsDeps,
  by: Caller,
  id: string,
  { reasonCode = RECALL_REASON, amount = null }: SimIncomingRecall,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { ids, clock } = deps
  return await runOnce(deps, idempotency, 202, async (client) => {
    const record = await lockIncoming(client, id)
    if (record === null || record.customerId !== by.tenant.id || record.creditedAt === null) refuseNotFound()
    if (amount !== null && amount.currency !== record.currency) {
      invalid([
        { field: '/amount/currency', code: 'currency_mismatch', message: `The payment is in ${record.currency}.` },
      ])
    }
    await mustBeSandbox(client, record.connectionId)
    const eventId = ids.next()
    const request = {
      id: eventId,
      reference: id,
      amount: amount === null ? null : BigInt(amount.amountMinor),
      reasonCode,
    }
    const caseId = await requestRecall({ client, ids, now: clock.now() }, record, request)
    return {
      simulationId: ids.next(),
      kind: 'incoming_recall',
      status: 'applied',
      provider: 'sandbox',
      providerEventIds: [eventId],
      providerReference: id,
      details: { caseId },
    }
  })
}

/** Reads a balance. Call it before the transaction begins: a transaction must not wait for a second connection. */
const findBalance = async (
  { balances }: Pick<IncomingCommandsDeps, 'balances'>,
  balanceId: string | null | undefined,
): Promise<KnownBalance | null> => (balanceId == null ? null : await balances.find(balanceId.toLowerCase()))

/** Checks that a balance is the customer's own. @throws ProblemError `validation-error` */
function mustOwn(by: Caller, balance: KnownBalance | null): KnownBalance {
  if (balance === null || balance.customerId !== by.tenant.id)
    invalid([{ field: '/balanceId', code: 'not_found', message: 'No such balance.' }])
  return balance
}

/**
 * Checks that the connection belongs to the sandbox bank: only its messages can be simulated.
 *
 * @throws ProblemError `simulation-not-possible` for any other partner
 */
async function mustBeSandbox(client: TransactionClient, connectionId: string): Promise<void> {
  const provider = await providerOfConnection(client, connectionId)
  if (provider !== 'sandbox')
    refuse('simulation-not-possible', 'Only the sandbox bank can be simulated.', {
      extra: { currentStatus: null, connectionProvider: provider },
    })
}

/** The sandbox's simulation of a direct debit from a balance. */
import { addDays, dateIn } from '../../lib/base/clock.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import type { CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { SimIncomingDebit } from '../../lib/incoming-debits/incoming-debit-schema.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { sandboxMandate } from '../../lib/sandbox/incoming-debits.ts'
import type { BalanceCache, KnownBalance } from '../../storage/balances/balance-cache.ts'
import { providerOfConnection } from '../../storage/providers/provider-connections.ts'
import type { ChangeDeps } from '../commands/changes.ts'
import { runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { SandboxCredits } from '../sandbox/sandbox-credits.ts'

export interface SimulateDebitDeps extends RunOnceDeps, ChangeDeps {
  readonly balances: BalanceCache
  readonly clock: RunOnceDeps['clock'] & ChangeDeps['clock']
  readonly database: RunOnceDeps['database'] & ChangeDeps['database']
  readonly bank: Pick<SandboxCredits, 'announceDebit'>
}

/**
 * Simulates a direct debit: the sandbox bank announces it within a second.
 *
 * @throws ProblemError `validation-error`, `simulation-not-possible`, and what `runOnce` throws
 */
export async function simulateDebit(
  deps: SimulateDebitDeps,
  by: Caller,
  body: SimIncomingDebit,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { ids, clock, bank } = deps
  const balanceId = body.balanceId.toLowerCase()
  const balance = await deps.balances.find(balanceId)
  return await runOnce(deps, idempotency, 202, async (client) => {
    const dueDate = checked(by, body, balance, clock.now())
    const { customerId, connectionId, currency } = balance as KnownBalance
    const provider = await providerOfConnection(client, connectionId)
    if (provider !== 'sandbox')
      refuse('simulation-not-possible', 'Only the sandbox bank can be simulated.', {
        extra: { currentStatus: null, connectionProvider: provider },
      })
    const [id, reference] = [ids.next(), ids.next()]
    await bank.announceDebit(client, {
      id,
      shard: shardOf(customerId),
      connectionId,
      account: balanceId,
      debit: {
        reference,
        scheme: body.scheme,
        amount: BigInt(body.amount.amountMinor),
        currency,
        creditorName: body.creditorName,
        creditorId: body.creditorId ?? null,
        mandateReference: sandboxMandate(body.creditorName, body.mandateReference ?? null),
        remittance: body.reference ?? null,
        endToEndId: null,
        dueDate,
      },
    })
    return {
      simulationId: ids.next(),
      kind: 'incoming_debit',
      status: 'queued',
      provider: 'sandbox',
      providerEventIds: [id],
      providerReference: reference,
      details: { incomingDebitRef: reference },
    }
  })
}

/** Checks the body. @returns the due date @throws ProblemError `validation-error` */
function checked(by: Caller, body: SimIncomingDebit, balance: KnownBalance | null, now: number): string {
  if (balance === null || balance.customerId !== by.tenant.id)
    return invalid([{ field: '/balanceId', code: 'not_found', message: 'No such balance.' }])
  const errors: FieldError[] = []
  const { currency } = balance
  const terms = DEBIT_SCHEMES[body.scheme]
  if (body.amount.currency !== currency)
    errors.push({ field: '/amount/currency', code: 'currency_mismatch', message: `The balance is in ${currency}.` })
  else if (terms.currency !== currency)
    errors.push({ field: '/scheme', code: 'currency_mismatch', message: `${body.scheme} collects ${terms.currency}.` })
  const today = dateIn(now, terms.zone)
  const dueDate = body.dueDate ?? today
  if (dueDate < today) errors.push({ field: '/dueDate', code: 'in_past', message: 'Must not be before today.' })
  else if (dueDate > addDays(today, terms.dueMaxDays))
    errors.push({ field: '/dueDate', code: 'too_far_ahead', message: `Must be within ${terms.dueMaxDays} days.` })
  return errors.length > 0 ? invalid(errors) : dueDate
}

function invalid(errors: readonly FieldError[]): never {
  refuse('validation-error', 'Some fields of the body are not valid.', { errors })
}

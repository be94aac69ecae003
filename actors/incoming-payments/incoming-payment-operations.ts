/**
 * Commands of incoming payments, for the HTTP layer: the sandbox's simulations of credits, debits and recalls, and the
 * operator's decisions on money without an owner.
 */
import { randomUUID } from 'node:crypto'
import { allocateSuspense, requestRecall, returnSuspense, type IncomingCasesDeps } from './incoming-cases.ts'
import type { SandboxCredits } from '../sandbox/sandbox-credits.ts'
import { addDays, dateIn } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../../lib/base/money.ts'
import { CROSS_BORDER_RAIL, ON_PLATFORM_RAIL, RAILS, type Rail } from '../../lib/rails/rails.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import { ibanFault } from '../../lib/recipients/iban.ts'
import { maskAccountNumber, maskIban } from '../../lib/recipients/masking.ts'
import { SANDBOX_BANK_NAME } from '../../lib/sandbox/accounts.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { KnownBalance } from '../../storage/balances/balance-cache.ts'
import { lockIncoming } from '../../storage/incoming-payments/incoming-payments.ts'
import { getSuspenseItem } from '../../storage/incoming-payments/incoming-payment-queries.ts'
import { providerOfConnection } from '../../storage/providers/provider-connections.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller, ByInTenant } from '../../lib/identity/caller.ts'
import { runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type {
  SimIncomingDebit,
  SimIncomingPayment,
  SimIncomingRecall,
  SuspenseAllocation,
  SuspenseItem,
  SuspenseReturn,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import {
  simulationIn,
  type SimulationForm,
  type SimulationIn,
  type SimulationResult,
} from '../../lib/contract/simulation.ts'
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'

/** Commands of incoming payments. Every refusal is thrown as a problem. */
export interface IncomingCommands {
  /** Simulates a payment into a balance: the sandbox bank announces the credit within a second. */
  simulate<Form extends SimulationForm>(
    by: ByCaller,
    body: SimIncomingPayment,
    idempotency: Idempotency | null,
    form: Form,
  ): Promise<CommandAnswer<SimulationIn<Form>, 202>>
  /** Simulates a direct debit from a balance, where the partner's sandbox supports it. */
  simulateDebit(
    by: ByCaller,
    body: SimIncomingDebit,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  /** Simulates a recall of an incoming payment by the payer's bank. */
  simulateRecall(
    by: ByCaller,
    id: string,
    body: SimIncomingRecall,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  allocate(by: ByInTenant, id: string, body: SuspenseAllocation): Promise<Versioned<SuspenseItem>>
  giveBack(by: ByInTenant, id: string, body: SuspenseReturn): Promise<Versioned<SuspenseItem>>
}

export interface IncomingCommandsDeps extends IncomingCasesDeps, RunOnceDeps {
  readonly clock: IncomingCasesDeps['clock']
  readonly bank: Pick<SandboxCredits, 'announce'>
}

const PAYER_NAME = 'Sandbox Payer Ltd'
const RETURN_REASON = 'AC01'
const RECALL_REASON = 'FRAD'
/** A value date lies at most this many days back. */
const VALUE_DAYS_MAX = 366

export function createIncomingCommands(world: IncomingCommandsDeps): IncomingCommands {
  const { database, balances, ids, clock, bank } = world

  /** Reads a balance. Call it before the transaction begins: a transaction must not wait for a second connection. */
  const known = async (balanceId: string | null | undefined) =>
    balanceId == null ? null : await balances.find(balanceId.toLowerCase())

  function mustOwn(by: ByCaller, balance: KnownBalance | null): KnownBalance {
    if (balance === null || balance.customerId !== by.tenant.id)
      invalid([{ field: '/balanceId', code: 'not_found', message: 'No such balance.' }])
    return balance
  }

  async function suspenseItem(by: ByInTenant, id: string): Promise<Versioned<SuspenseItem>> {
    return (
      (await getSuspenseItem(database, by.tenant, id)) ?? refuse('not-found', 'No such resource exists in this tenant.')
    )
  }

  return {
    async simulate(by, body, idempotency, form) {
      const named = await known(body.balanceId)
      return await runOnce(world, idempotency, 202, async (client) => {
        const balance = mustOwn(by, named)
        const credit = creditOf(body, {
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
        const simulationId = ids.next()
        const { reference } = credit
        const result: SimulationResult = {
          simulationId,
          kind: 'incoming_payment',
          status: 'queued',
          provider: 'sandbox',
          providerEventIds: [id],
          providerReference: reference,
          details: { incomingPaymentRef: reference },
        }
        return simulationIn(form, result, reference)
      })
    },

    async simulateDebit(by, { balanceId, amount }, idempotency) {
      const named = await known(balanceId)
      return await runOnce(world, idempotency, 202, async (client) => {
        const { connectionId, currency } = mustOwn(by, named)
        if (amount.currency !== currency)
          invalid([{ field: '/amount/currency', code: 'currency_mismatch', message: `The balance is in ${currency}.` }])
        // No connected partner has a sandbox that supports direct debits.
        return refuse('simulation-not-possible', 'The connection of the balance collects for nobody.', {
          extra: { currentStatus: null, connectionProvider: await providerOfConnection(client, connectionId) },
        })
      })
    },

    async simulateRecall(by, id, { reasonCode = RECALL_REASON, amount = null }, idempotency) {
      return await runOnce(world, idempotency, 202, async (client) => {
        const record = await lockIncoming(client, id)
        if (record === null || record.customerId !== by.tenant.id || record.creditedAt === null)
          refuse('not-found', 'No such resource exists in this tenant.')
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
    },

    async allocate(by, id, { balanceId, reason = null }) {
      await allocateSuspense(
        world,
        { itemId: id, operatorId: by.tenant.id, by: auditCaller(by) },
        { balanceId: balanceId.toLowerCase(), reason },
      )
      return await suspenseItem(by, id)
    },

    async giveBack(by, id, { reason, reasonCode = RETURN_REASON }) {
      await returnSuspense(world, { itemId: id, operatorId: by.tenant.id, by: auditCaller(by) }, { reason, reasonCode })
      return await suspenseItem(by, id)
    },
  }
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

/**
 * Builds the credit that a body asks for.
 *
 * @throws ProblemError when the fields form a credit that no bank would report, or the amount is above the limit
 */
function creditOf(
  body: SimIncomingPayment,
  {
    currency,
    reference,
    today,
  }: { readonly currency: CurrencyCode; readonly reference: string; readonly today: string },
): CreditFacts {
  const errors: FieldError[] = []
  if (body.amount.currency !== currency)
    errors.push({ field: '/amount/currency', code: 'currency_mismatch', message: `The balance is in ${currency}.` })
  const rail = body.rail ?? usualRail(currency)
  if (!carries(rail, currency))
    errors.push({ field: '/rail', code: 'invalid_value', message: `${rail} does not carry ${currency}.` })
  const iban = body.payerIban?.replaceAll(/[\s-]/g, '').toUpperCase() ?? null
  const fault = iban === null ? null : ibanFault(iban)
  if (fault !== null)
    errors.push({
      field: '/payerIban',
      code: fault === 'checksum' ? 'invalid_checksum' : 'invalid_format',
      message: 'Is not an IBAN.',
    })
  const sortCode = body.payerSortCode?.replaceAll(/[\s-]/g, '') ?? null
  if (sortCode !== null && !/^[0-9]{6}$/.test(sortCode))
    errors.push({ field: '/payerSortCode', code: 'invalid_format', message: 'Must have six digits.' })
  const valueDate = body.valueDate ?? today
  if (valueDate > today)
    errors.push({ field: '/valueDate', code: 'too_far_ahead', message: 'Must not be after today.' })
  else if (valueDate < addDays(today, -VALUE_DAYS_MAX))
    errors.push({ field: '/valueDate', code: 'in_past', message: `Must be within ${VALUE_DAYS_MAX} days.` })
  if (errors.length > 0) invalid(errors)
  const amount = BigInt(body.amount.amountMinor)
  if (amount > REQUEST_AMOUNT_MAX) {
    const limit = moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency })
    refuse('limit-exceeded', 'The amount is above the limit of a single payment.', {
      extra: { limit: { kind: 'single', amount: limit, period: null, remaining: limit } },
    })
  }
  return {
    reference,
    amount,
    currency,
    payerName: body.payerName ?? PAYER_NAME,
    payerIdentifier:
      iban === null
        ? body.payerAccountNumber == null
          ? null
          : maskAccountNumber(body.payerAccountNumber)
        : maskIban(iban),
    payerBankName: iban?.slice(4, 8) === 'SBOX' ? SANDBOX_BANK_NAME : null,
    payerCountry: iban === null ? (sortCode === null ? null : 'GB') : iban.slice(0, 2),
    remittance: body.reference ?? null,
    rail,
    endToEndId: body.endToEndId ?? null,
    uetr: RAILS.get(rail)?.uetr === true ? randomUUID() : null,
    valueDate,
  }
}

/** Returns the usual rail of incoming money in a currency: an instant rail where there is one. */
function usualRail(currency: CurrencyCode): Rail {
  const local = [...RAILS.values()].filter((terms) => terms.currency === currency && terms.withdrawnSince === null)
  return (local.find(({ speed }) => speed === 'instant') ?? local[0])?.rail ?? CROSS_BORDER_RAIL
}

function carries(rail: Rail, currency: string): boolean {
  const terms = RAILS.get(rail)
  return (
    terms !== undefined &&
    rail !== ON_PLATFORM_RAIL &&
    terms.withdrawnSince === null &&
    (terms.currency === null || terms.currency === currency)
  )
}

function invalid(errors: readonly FieldError[]): never {
  refuse('validation-error', 'Some fields of the body are not valid.', { errors })
}

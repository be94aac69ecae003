/** Brings a transfer between two balances of one customer to the balance that pays it. */
import { dateIn, type Clock } from '../../lib/base/clock.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../../lib/base/money.ts'
import type { CreateTransfer, TransferCreated } from '../../lib/transfers/transfer.ts'
import { refuseField, type Problem } from '../../lib/base/problems.ts'
import { planTransfer } from '../../lib/sandbox/triggers.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import { balanceActor } from '../balances/balance.ts'
import { Overloaded } from '../runtime/lane.ts'
import { transferSubject } from './transfer-orders.ts'
import type { ScreeningGate } from '../../lib/compliance/screening.ts'
import type { ActorSystem } from '../runtime/system.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { Refused } from '../../lib/balances/decision.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'

/** A transfer as the API takes it, checked for shape. */
export interface TransferInput {
  readonly fromBalanceId: string
  readonly toBalanceId: string
  readonly amount: { readonly amountMinor: string; readonly currency: string }
  readonly reference?: string | null
  readonly externalId?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

/** The dependencies of transfers. */
export interface TransferDeps {
  readonly system: ActorSystem
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly ids: IdSource
  readonly clock: Clock
  /** In a sandbox, special amounts determine whether the partner carries the transfer. */
  readonly sandbox: boolean
  readonly balances: BalanceCache
  readonly gate: ScreeningGate
}

/** A created transfer, a refusal, or the recorded outcome of the same key. */
export type TransferOutcome =
  | TransferCreated
  | Refused
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/**
 * Moves money between two balances of one customer and currency: at once, or through the partner.
 *
 * @throws ProblemError when the body refers to something that it may not use; Overloaded, DatabaseUnavailable or
 *   OutcomeUnknown, safe to repeat under the same key.
 */
export async function submitTransfer(
  deps: TransferDeps,
  caller: CommandOrigin,
  input: TransferInput,
): Promise<TransferOutcome> {
  const { currency } = input.amount
  const amount = BigInt(input.amount.amountMinor)
  if (input.toBalanceId === input.fromBalanceId)
    refuseField('/toBalanceId', 'invalid_value', 'The two balances must be different.')
  let toConnectionId = await connectionOf(deps, caller, input)
  // A transfer that may need a compliance review, or that cannot be screened now, is not booked at once. It goes
  // through the partner, where the screening gate runs again.
  const held = await deps.gate.screen([transferSubject(input.fromBalanceId, amount, input.reference ?? null)]).then(
    ({ size }) => size > 0,
    () => true,
  )
  let externalIdOwner: string | null = null
  let creditRefused = false
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const command: CreateTransfer = {
      kind: 'create_transfer',
      customerId: caller.customerId,
      key: caller.key,
      problemRequest: caller.problemRequest,
      transferId: deps.ids.next(),
      entryId: deps.ids.next(),
      eventId: deps.ids.next(),
      number: orderNumber('TRF', await deps.orderNumbers.take()),
      toBalanceId: input.toBalanceId,
      toConnectionId,
      byPartner: held || (deps.sandbox && planTransfer(amount).viaPartner),
      holdId: deps.ids.next(),
      amount,
      currency,
      reference: input.reference ?? null,
      createdBy: caller.createdBy,
      createdVia: caller.createdVia,
      externalId: input.externalId ?? null,
      externalIdOwner,
      creditRefused,
      policyRefusal: policyRefusal(amount, currency),
      metadata: inStoredOrder(input.metadata ?? {}),
      valueDate: dateIn(deps.clock.now(), 'UTC'),
    }
    const outcome = await deps.system.ask(balanceActor, input.fromBalanceId, caller.shard, command, caller.deadline)
    switch (outcome.kind) {
      case 'decided':
        if (outcome.reply.kind !== 'transfer_created' && outcome.reply.kind !== 'refused')
          throw new Error('A balance has answered another question.')
        return outcome.reply
      case 'recorded':
        return outcome
      case 'credit_refused':
        creditRefused = true
        break
      case 'external_id_used':
        externalIdOwner = outcome.existingId
        break
      case 'fact_stale':
        // The balance has moved to another connection, and this node has not heard of it yet.
        deps.balances.forget(input.toBalanceId)
        toConnectionId = await connectionOf(deps, caller, input)
        break
      case 'payment_stale':
      case 'exchange_stale':
      case 'card_stale':
      case 'card_transaction_stale':
      case 'quote_used':
      case 'incoming_debit_stale':
      case 'mandate_stale':
      case 'mandate_reference_used':
      case 'collection_stale':
      case 'collection_file_written':
      case 'exposure_exceeded':
      case 'debit_refused':
        throw new Error('A transfer rests on its balances alone.')
      default:
        outcome satisfies never
    }
  }
  throw new Overloaded('The balances keep changing; try again.')
}

/** The connection of the balance that is credited. @throws ProblemError `validation-error` */
async function connectionOf(
  { balances }: Pick<TransferDeps, 'balances'>,
  { customerId }: Pick<CommandOrigin, 'customerId'>,
  { toBalanceId, amount: { currency } }: TransferInput,
): Promise<string> {
  const to = await balances.find(toBalanceId)
  if (to === null || to.customerId !== customerId) refuseField('/toBalanceId', 'not_found', 'No such balance.')
  if (to.currency !== currency) refuseField('/toBalanceId', 'currency_mismatch', `The balance is in ${to.currency}.`)
  return to.connectionId
}

function policyRefusal(amount: bigint, currency: string): Problem | null {
  if (amount <= REQUEST_AMOUNT_MAX) return null
  const limit = moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency: currency as CurrencyCode })
  return {
    slug: 'limit-exceeded',
    detail: 'The amount is above the limit of a single transfer.',
    extra: { limit: { kind: 'single', amount: limit, period: null, remaining: limit } },
  }
}

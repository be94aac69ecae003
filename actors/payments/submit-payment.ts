/**
 * Brings a requested payment to the balance that pays it.
 *
 * All reads happen here, before the balance decides: the recipient, the rail, the rules of references. A value that was
 * read may be stale; the commit reports it then, and the flow reads and asks again.
 */
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import { NO_MARKET } from '../../lib/exchange/market.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import type { ConversionOrder } from '../../lib/payments/conversion.ts'
import type { CreatePayment, PaymentCreated } from '../../lib/payments/create-payment-command.ts'
import { railDate } from '../../lib/rails/business-days.ts'
import { editorsSince, requestersOf } from '../../lib/approvals/requesters.ts'
import type { DraftInput } from '../../lib/payments/draft.ts'
import { givenOf } from '../../lib/payments/given-schema.ts'
import type { PaymentRecord, QueuePlace } from '../../lib/payments/payment.ts'
import { checkReference, railReference, referenceMessage } from '../../lib/rails/reference.ts'
import { chargeBearerOf, RAILS, speedOf, type Rail } from '../../lib/rails/rails.ts'
import { refuseField } from '../../lib/base/problems.ts'
import { paymentFieldFault } from '../../lib/recipients/payment-fields.ts'
import { keptVerification } from '../../lib/recipients/verification.ts'
import { queueDelayMs } from '../../lib/sandbox/triggers.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import type { PayableRecipient, RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import { balanceActor, type BalanceReply } from '../balances/balance.ts'
import type { Conversions } from './payment-conversions.ts'
import type { PayeeVerifier } from '../providers/bank.ts'
import type { FxMarkets } from '../providers/fx.ts'
import { routedRail } from '../providers/routing/route-payment.ts'
import type { RoutingTable } from '../providers/routing/routing-table.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { Overloaded } from '../runtime/lane.ts'
import { checkedDocuments, type PaymentDocuments } from '../documents/named-documents.ts'
import type { PaymentQueue } from './payment-queue.ts'
import { paymentActor } from './payment.ts'
import { payeeGate } from './verify-payee.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { checkDate, policyRefusal, queuedState } from '../../lib/payments/payment-request.ts'

/** The dependencies that the flows share. */
export interface FlowDeps {
  readonly system: ActorSystem
  readonly recipients: Pick<RecipientCache, 'find' | 'findMany' | 'forget'>
  /** Checks names of payees. */
  readonly payees: PayeeVerifier
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly ids: IdSource
  readonly clock: Clock
  /** True where a sandbox exists: special texts in a request may then decide an approval. */
  readonly sandbox: boolean
}

/** The further dependencies of payments. */
export interface PayDeps extends FlowDeps {
  /** Finds balances, for the connection from which a payment is routed. */
  readonly balances: Pick<BalanceCache, 'find'>
  /** Turns a customer's quote into a conversion order; absent where no exchange is offered. */
  readonly conversions?: Conversions
  /**
   * Converts amounts to the currency of an approval tier; absent where no exchange is offered, so that nothing can be
   * compared.
   */
  readonly market?: Pick<FxMarkets, 'rates'>
  /** The documents that customers attach to payments; absent where documents are not supported. */
  readonly documents?: PaymentDocuments
  readonly queue: Pick<PaymentQueue, 'place' | 'offer'>
  /** Routes payments; absent: they leave through the connection of their balance. */
  readonly routing?: RoutingTable
}

/** A payment as the API takes it, checked for shape. */
export interface PaymentInput extends DraftInput {
  readonly draft?: boolean
}

export type FlowOutcome =
  | Exclude<BalanceReply, { readonly kind: 'payment_released' | 'rails_changed' }>
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/**
 * Creates a payment.
 *
 * @throws ProblemError when the body refers to something that it may not use; Overloaded, DatabaseUnavailable or
 *   OutcomeUnknown, safe to repeat under the same key.
 */
export async function submitPayment(deps: PayDeps, caller: CommandOrigin, input: PaymentInput): Promise<FlowOutcome> {
  const outcome = await askBalance(deps, caller, input, null)
  // A payment that does not exist yet has no version that could be stale.
  if (outcome.kind === 'payment_stale') throw new Error('A payment that is new was changed.')
  return outcome
}

/**
 * Asks the balance for a new payment, or to submit a draft.
 *
 * @returns `payment_stale` when the draft has changed since it was read
 * @throws as `submitPayment`
 */
export async function askBalance(
  deps: PayDeps,
  caller: CommandOrigin,
  input: PaymentInput,
  draft: PaymentRecord | null,
): Promise<FlowOutcome | { readonly kind: 'payment_stale' }> {
  let externalIdOwner: string | null = null
  let usedBy: string | null = null
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const recipient = await deps.recipients.find(input.recipientId)
    if (recipient === null || recipient.customerId !== caller.customerId)
      refuseField('/recipientId', 'not_found', 'No such recipient.')
    // A refusal is recorded under its key, so it must not rest on a cached recipient that may be old.
    if (recipient.status !== 'active' && attempt === 0) {
      deps.recipients.forget(input.recipientId)
      continue
    }
    const command = await commandOf(deps, caller, input, recipient, { externalIdOwner, usedBy, draft })
    const outcome = await deps.system.ask(balanceActor, input.sourceBalanceId, caller.shard, command, caller.deadline)
    switch (outcome.kind) {
      case 'decided':
        if (outcome.reply.kind === 'payment_released') throw new Error('A balance has answered another question.')
        // The terms of rails are read together with the recipient.
        if (outcome.reply.kind === 'rails_changed') {
          deps.recipients.forget(input.recipientId)
          break
        }
        if (
          outcome.reply.kind === 'payment_created' &&
          outcome.reply.payment.status === 'processing' &&
          command.conversion === undefined
        )
          enqueue(deps, caller.shard, outcome.reply, command)
        return outcome.reply
      case 'recorded':
      case 'payment_stale':
        return outcome
      case 'fact_stale':
        deps.recipients.forget(input.recipientId)
        break
      case 'external_id_used':
        externalIdOwner = outcome.existingId
        break
      case 'credit_refused':
        return refuseField('/quoteId', 'inactive', 'The balance that the quote buys for does not accept money.')
      case 'quote_used':
        usedBy = outcome.existingId
        break
      case 'exchange_stale':
      case 'incoming_debit_stale':
      case 'mandate_stale':
      case 'mandate_reference_used':
      case 'collection_stale':
      case 'collection_file_written':
      case 'exposure_exceeded':
      case 'card_stale':
      case 'card_transaction_stale':
        throw new Error(`A payment met ${outcome.kind}, which it does not change.`)
      case 'debit_refused':
        throw new Error('The balance that pays has decided by itself.')
      default:
        outcome satisfies never
    }
  }
  throw new Overloaded('The recipient keeps changing; try again.')
}

/** Places the payment in the bank's queue; its actor keeps the row that was just written. */
function enqueue({ system, queue }: PayDeps, shard: number, created: PaymentCreated, command: CreatePayment): void {
  const { id } = created.payment
  system.remember(paymentActor, id, shard, queuedState(created, command, shard))
  if (command.notBefore === undefined) queue.offer(id, shard)
}

/** @throws ProblemError when a payment from a quote, whose exchange is booked now, names a later date */
function refuseLaterDate({ executionDate }: PaymentInput, rail: Rail | null, now: number): void {
  if (executionDate != null && executionDate > railDate(rail ?? 'internal', now))
    refuseField('/executionDate', 'not_applicable', 'A payment from a quote is made at once.')
}

/** Builds the command for the balance. @throws ProblemError when the body refers to something that it may not use */
export async function commandOf(
  deps: PayDeps,
  caller: CommandOrigin,
  input: PaymentInput,
  recipient: PayableRecipient,
  {
    externalIdOwner,
    usedBy,
    draft,
    draw = true,
  }: {
    readonly externalIdOwner: string | null
    readonly usedBy: string | null
    readonly draft: PaymentRecord | null
    readonly draw?: boolean
  },
): Promise<CreatePayment> {
  const now = deps.clock.now()
  const { currency } = input.amount
  const amount = BigInt(input.amount.amountMinor)
  if (currency !== recipient.currency)
    refuseField('/amount/currency', 'currency_mismatch', `The recipient is paid in ${recipient.currency}.`)
  let buying: Promise<ConversionOrder> | undefined
  const bought = async () =>
    input.quoteId == null ? undefined : await (buying ??= conversionFor(deps, caller, input.quoteId, { usedBy, draw }))
  const {
    choice,
    rail = null,
    routing,
    calendar,
  } = await routedRail(deps, input, recipient, {
    home: async () => (await bought())?.buyBalance.connectionId,
    isMade: draw,
  })
  checkForRail(input, recipient, rail, now)
  const terms = rail === null ? undefined : RAILS.get(rail)
  const gate =
    rail === null || recipient.status !== 'active' || caller.skipPayeeVerification === true
      ? null
      : await payeeGate(deps, recipient, { rail, override: input.verificationOverride ?? null, by: caller.createdBy })
  const documentIds = await checkedDocuments(deps.documents, caller.customerId, input.documentIds)
  const conversion = await bought()
  if (conversion !== undefined) refuseLaterDate(input, rail, now)
  const number = draft?.number ?? orderNumber('PAY', await deps.orderNumbers.take())
  const delayMs = deps.sandbox
    ? queueDelayMs({ amountMinor: amount, reference: input.reference, recipientName: recipient.name })
    : 0
  return {
    kind: 'create_payment',
    customerId: caller.customerId,
    key: caller.key,
    problemRequest: caller.problemRequest,
    paymentId: draft?.id ?? caller.paymentId ?? deps.ids.next(),
    holdId: deps.ids.next(),
    seed: deps.ids.next(),
    number,
    recipient,
    amount,
    currency,
    conversion,
    // The fallback is never written: without a rail the payment is refused first.
    rail: rail ?? 'internal',
    ...(routing === undefined ? {} : { routing }),
    ...(calendar === undefined ? {} : { calendar }),
    instant: terms !== undefined && speedOf(terms, amount) === 'instant',
    executionDate: input.executionDate ?? null,
    createdBy: caller.createdBy,
    createdByName: caller.createdByName,
    createdVia: caller.createdVia,
    shapedBy: shapersOf(caller, recipient, draft),
    spenderId: draft === null ? caller.spenderId : (draft.details.amountSetBy ?? draft.createdBy),
    approving: {
      sandboxDecision: deps.sandbox ? sandboxDecisionIn([input.reference, recipient.name]) : null,
      rates: deps.market?.rates() ?? NO_MARKET,
    },
    ...givenOf(input),
    externalIdOwner,
    policyRefusal:
      policyRefusal(amount, currency, choice) ?? (gate !== null && 'refused' in gate ? gate.refused : null),
    shown: {
      ...instructionOf(deps, input, rail, number),
      ...(documentIds.length === 0 ? {} : { documentIds }),
      ...(gate !== null && 'verification' in gate ? { verification: keptVerification(gate.verification) } : {}),
      ...(caller.bulk === undefined ? {} : { bulk: caller.bulk }),
    },
    metadata: inStoredOrder(input.metadata ?? {}),
    queued: delayMs === 0 ? deps.queue.place(now) : placeAfter(deps.queue.place(now), now, delayMs),
    ...(recipient.platformAccount === null ? {} : { payeeBalanceId: recipient.platformAccount.balanceId }),
    ...(delayMs === 0 ? {} : { notBefore: now + delayMs }),
    ...(caller.scheduledPaymentId === undefined ? {} : { scheduledPaymentId: caller.scheduledPaymentId }),
    ...(caller.batchApprovalId === undefined ? {} : { batchApprovalId: caller.batchApprovalId }),
    ...(draft === null ? {} : { draft }),
  }
}

/**
 * Checks the fields that depend on the rail; null where no rail can carry the payment.
 *
 * @throws ProblemError `validation-error`
 */
function checkForRail(input: PaymentInput, recipient: PayableRecipient, rail: Rail | null, now: number): void {
  const fault = rail === null ? null : checkReference(rail, input.reference)
  if (rail !== null && fault !== null)
    refuseField('/reference', fault.code, referenceMessage(rail, fault), fault.params)
  checkDate(input.executionDate ?? null, rail ?? 'internal', now)
  const terms = rail === null ? undefined : RAILS.get(rail)
  const wrong = terms === undefined ? null : paymentFieldFault(recipient, terms, input)
  if (wrong !== null) refuseField(wrong.field, wrong.code, wrong.message, wrong.params)
}

/** The instruction as the API shows it, in the form in which the rail carries it. */
function instructionOf(
  { ids }: Pick<PayDeps, 'ids'>,
  input: PaymentInput,
  rail: Rail | null,
  number: string,
): Pick<
  CreatePayment['shown'],
  | 'chargeBearer'
  | 'requestedRail'
  | 'reference'
  | 'endToEndId'
  | 'uetr'
  | 'purposeCode'
  | 'purpose'
  | 'internalNote'
  | 'notifyRecipient'
> {
  const terms = rail === null ? undefined : RAILS.get(rail)
  return {
    chargeBearer: chargeBearerOf(terms, input.chargeBearer),
    requestedRail: input.requestedRail ?? null,
    reference: rail === null ? input.reference : railReference(rail, input.reference),
    endToEndId: rail === null ? (input.endToEndId ?? number) : railReference(rail, input.endToEndId ?? number),
    uetr: terms?.uetr === true ? ids.next() : null,
    purposeCode: input.purposeCode ?? null,
    purpose: input.purpose ?? null,
    internalNote: input.internalNote ?? null,
    notifyRecipient: input.notifyRecipient ?? false,
  }
}

/**
 * Lists the people who shaped the terms of a payment, other than the requester; undefined for a payment that is made
 * from nothing else.
 */
function shapersOf(
  { shapedBy, termsSince }: CommandOrigin,
  { editors }: PayableRecipient,
  draft: PaymentRecord | null,
): readonly string[] | undefined {
  if (draft !== null)
    return requestersOf([draft.createdBy], draft.details.editors ?? [], editorsSince(editors, draft.createdAt))
  return termsSince === undefined ? shapedBy : requestersOf(shapedBy ?? [], editorsSince(editors, termsSince))
}

/**
 * Reads the conversion that a quote offers.
 *
 * @throws ProblemError when the quote does not exist, or no balance can receive the bought currency
 */
async function conversionFor(
  { conversions }: PayDeps,
  caller: CommandOrigin,
  quoteId: string,
  options: Parameters<Conversions['orderOf']>[2],
): Promise<ConversionOrder> {
  if (conversions === undefined) refuseField('/quoteId', 'not_found', 'No such quote.')
  return await conversions.orderOf(caller, quoteId, options)
}

/** The queue place of a payment that is not sent before `delayMs` milliseconds have passed. */
function placeAfter({ position, etaSeconds }: QueuePlace, now: number, delayMs: number): QueuePlace {
  const seconds = Math.max(etaSeconds, Math.ceil(delayMs / 1_000))
  return { position, etaSeconds: seconds, estimatedAt: timestamp(now + seconds * 1_000) }
}

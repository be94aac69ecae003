/**
 * Answers of commands that actors decide: the result becomes bytes, and a repeat under the same Idempotency-Key gets
 * the same bytes (I5).
 */
import type { CommandOrigin } from './command-origin.ts'
import { bookedExchange } from '../../lib/exchange/book-exchange.ts'
import { exchangeJson, type ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { quoteJson, type QuoteRecord } from '../../lib/exchange/quote.ts'
import { createdPayment, paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import { createdTransfer, transferJson, type TransferRecord } from '../../lib/transfers/transfer.ts'
import { locationOf, type ResourceRef, type ResourceType } from '../../lib/base/resource-types.ts'
import { ProblemError, refuse } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import {
  findIdempotencyRecord,
  recordedAnswer as recordedAnswerOf,
  type MadeResource,
  type RecordedAnswer,
  type RecordedCommand,
} from '../../storage/replay/recorded-commands.ts'
import { FUNDS_REQUEST_UNTAGGED } from '../../storage/funds-requests/funds-request-queries.ts'
import { RECIPIENT_UNTAGGED } from '../../storage/recipients/recipient-queries.ts'
import { showing } from '../../lib/commands/answer.ts'
import type { Exchange, Quote } from '../../lib/exchange/exchange-schema.ts'
import type { Payment } from '../../lib/payments/payment-schema.ts'
import type { Transfer } from '../../lib/transfers/transfer-schema.ts'
import { etagOf, resourceETag } from '../../lib/commands/etag.ts'
import { problemStatus } from '../../lib/base/problem-document.ts'
import type {
  Command,
  CommandAnswer,
  CommandBytes,
  Idempotency,
  IdempotencyRecord,
} from '../../lib/commands/command.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Refused } from '../../lib/balances/decision.ts'

/** The 201 of a payment; every repeat for the same payment has the same bytes. */
export function paymentAnswer(payment: PaymentRecord, replayed: boolean): CommandAnswer<Payment, 201> {
  return created({ type: 'payment', id: payment.id }, paymentJson(payment, payment.details.queued), replayed)
}

/** The 200 of a cancelled payment. The payment is final, so a repeat has the same bytes. */
export function cancelledAnswer(payment: PaymentRecord, replayed: boolean): CommandAnswer<Payment, 200> {
  return done(paymentJson(payment, null), replayed)
}

/** The 201 of a transfer. */
export function transferAnswer(transfer: TransferRecord, replayed: boolean): CommandAnswer<Transfer, 201> {
  return created({ type: 'transfer', id: transfer.id }, transferJson(transfer), replayed)
}

/** The 201 of a new resource, with its tag. */
function created<View extends object>(resource: ResourceRef, view: View, replayed: boolean): CommandAnswer<View, 201> {
  const body = JSON.stringify(view)
  return showing({
    status: 201,
    body,
    contentType: 'application/json',
    etag: resourceETag(1, body),
    ...locationOf(resource),
    replayed,
  })
}

/** The 200 of a resource that a command has changed. */
export function done<View extends object>(view: View, replayed: boolean): CommandAnswer<View, 200> {
  return showing({ status: 200, body: JSON.stringify(view), contentType: 'application/json', replayed })
}

/** The 201 of a quote. A quote never changes, and was unused when it was created. */
export function quoteAnswer(quote: QuoteRecord, replayed: boolean): CommandAnswer<Quote, 201> {
  return created({ type: 'quote', id: quote.id }, quoteJson(quote, false), replayed)
}

/** The 201 of an exchange that was booked at once. */
export function exchangeAnswer(exchange: ExchangeRecord, replayed: boolean): CommandAnswer<Exchange, 201> {
  return created({ type: 'exchange', id: exchange.id }, exchangeJson(exchange), replayed)
}

/** The members of a resource that its ETag does not cover. */
const UNTAGGED: Partial<Readonly<Record<ResourceType, readonly string[]>>> = {
  recipient: RECIPIENT_UNTAGGED,
  funds_request: FUNDS_REQUEST_UNTAGGED,
}

/** Answers a repeat from the record: the resource as it was created, or the stored answer, which may be a problem. */
export function storedAnswer(recorded: RecordedAnswer & Pick<RecordedCommand, 'status'>): CommandBytes {
  return recorded.answer === null ? answerOf(recorded.resource, recorded.status) : answerAsGiven(recorded)
}

/** The stored answer, with the ETag and Location of the resource that the command has created. */
function answerAsGiven({
  status,
  answer,
  resource,
}: Extract<RecordedAnswer, { answer: string }> & Pick<RecordedCommand, 'status'>): CommandBytes {
  const isCreated = resource !== null && (status === 201 || status === 202)
  return {
    status,
    body: answer,
    contentType: status < 400 ? 'application/json' : 'application/problem+json',
    replayed: true,
    ...(isCreated ? { etag: firstTag(resource.type, answer), ...locationOf(resource) } : {}),
  }
}

/** The ETag of a resource as it was created. */
function firstTag(type: ResourceType, body: string): string {
  const untagged = UNTAGGED[type]
  return untagged === undefined
    ? resourceETag(1, body)
    : etagOf({ version: 1n, view: JSON.parse(body) as unknown, untagged })
}

function answerOf(resource: MadeResource, status: number): CommandBytes {
  switch (resource.kind) {
    case 'payment':
      return status === 200
        ? cancelledAnswer(resource.payment, true)
        : paymentAnswer(createdPayment(resource.payment), true)
    case 'transfer':
      return transferAnswer(createdTransfer(resource.transfer), true)
    case 'exchange':
      return exchangeAnswer(bookedExchange(resource.exchange), true)
    case 'quote':
      return quoteAnswer(resource.quote, true)
    default:
      return resource satisfies never
  }
}

/** Creates the look-up of the answers that are recorded under Idempotency-Keys. */
export function createIdempotencyRecords({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { now(): number }
}): AnswersDeps['findIdempotencyRecord'] {
  return async (id) => {
    const record = await findIdempotencyRecord(database, id, clock.now())
    if (record === null) return null
    return { fingerprint: record.fingerprint, createdAt: record.createdAt, answer: storedAnswer(record) }
  }
}

/** The results of a decision that creates nothing: a recorded outcome or a refusal. */
export type Unmade =
  | Refused
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/** Leads a command to its answer, and applies the rules of its Idempotency-Key. */
export interface Answers {
  /**
   * Submits the command to the domain, and renders the result as an answer.
   *
   * @throws ProblemError for a refusal that is not recorded, `idempotency-key-in-use` and `idempotency-key-reused`
   */
  answer<Body, Made extends { readonly kind: string }, View, Status extends number>(
    command: Command<Body>,
    submit: (caller: CommandOrigin, body: Body) => Promise<Made | Unmade>,
    render: (made: Made) => CommandAnswer<View, Status>,
  ): Promise<CommandAnswer<View, Status>>
  /**
   * Reads the answer recorded under a key; null when it has none. A key belongs to one operation, so its answer shows
   * what the operation shows.
   */
  recordedAnswer<View, Status extends number>(idempotency: Idempotency): Promise<CommandAnswer<View, Status> | null>
  callerOf(command: Command<unknown>): CommandOrigin
}

export interface AnswersDeps {
  readonly database: Database
  readonly problemBase: string
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

export function createAnswers(deps: AnswersDeps): Answers {
  /** The keys of commands that are being decided on this node. */
  const underWay = new Set<string>()

  async function answer<Body, Made extends { readonly kind: string }, View, Status extends number>(
    command: Command<Body>,
    submit: (caller: CommandOrigin, body: Body) => Promise<Made | Unmade>,
    render: (made: Made) => CommandAnswer<View, Status>,
  ): Promise<CommandAnswer<View, Status>> {
    const { idempotency } = command
    if (idempotency === null) return await decide(command, submit, render)
    if (underWay.has(idempotency.id))
      refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
    underWay.add(idempotency.id)
    try {
      return await decide(command, submit, render)
    } catch (error) {
      // An invalid body is reported only for a new key: a key with an answer keeps its answer.
      if (error instanceof ProblemError) return (await recordedAnswer<View, Status>(idempotency)) ?? raise(error)
      throw error
    } finally {
      underWay.delete(idempotency.id)
    }
  }

  async function decide<Body, Made extends { readonly kind: string }, View, Status extends number>(
    command: Command<Body>,
    submit: (caller: CommandOrigin, body: Body) => Promise<Made | Unmade>,
    render: (made: Made) => CommandAnswer<View, Status>,
  ): Promise<CommandAnswer<View, Status>> {
    const outcome = await submit(callerOf(command), command.body)
    if (isUnmade(outcome)) {
      if (outcome.kind === 'recorded') return showing(await replay(outcome.outcome, command.idempotency as Idempotency))
      if (outcome.body === null) throw new ProblemError(outcome.problem)
      return showing({
        status: problemStatus(outcome.problem),
        body: outcome.body,
        contentType: 'application/problem+json',
        replayed: false,
      })
    }
    return render(outcome)
  }

  async function replay(outcome: StoredOutcome, idempotency: Idempotency): Promise<CommandBytes> {
    if (outcome.fingerprint !== idempotency.fingerprint) reused(outcome.decidedAt)
    return storedAnswer({ ...(await recordedAnswerOf(deps.database, outcome)), status: outcome.status })
  }

  async function recordedAnswer<View, Status extends number>(
    idempotency: Idempotency,
  ): Promise<CommandAnswer<View, Status> | null> {
    const record = await deps.findIdempotencyRecord(idempotency.id)
    if (record === null) return null
    if (record.fingerprint !== idempotency.fingerprint) reused(record.createdAt)
    return record.answer === null ? null : showing(record.answer)
  }

  function callerOf({
    tenantId,
    principal,
    idempotency,
    requestId,
    instance,
    deadline,
  }: Command<unknown>): CommandOrigin {
    return {
      customerId: tenantId,
      shard: shardOf(tenantId),
      createdBy: principal.id,
      createdByName: principal.name,
      createdVia: principal.createdVia,
      key: idempotency,
      deadline,
      problemRequest: { problemBase: deps.problemBase, instance, requestId },
    }
  }

  return { answer, recordedAnswer, callerOf }
}

export function isUnmade<Made extends { readonly kind: string }>(outcome: Made | Unmade): outcome is Unmade {
  return outcome.kind === 'recorded' || outcome.kind === 'refused'
}

export function reused(firstUsedAt: string): never {
  refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', { extra: { firstUsedAt } })
}

export function raise(error: unknown): never {
  throw error
}

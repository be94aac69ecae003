/** Answers of commands that actors decide: what was made becomes bytes, and a repeat under the same Idempotency-Key gets the same bytes (I5). */
import type { Caller } from './caller.ts'
import { bookedExchange } from '../../lib/exchange/book-exchange.ts'
import { exchangeJson, type ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { quoteJson, type QuoteRecord } from '../../lib/exchange/quote.ts'
import { createdPayment, paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import { createdTransfer, transferJson, type TransferRecord } from '../../lib/transfers/transfer.ts'
import { type Problem, ProblemError, refuse } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { StoredOutcome } from '../../storage/commit/commit.ts'
import { type RecordedCommand, recordedResource } from '../../storage/replay/recorded-commands.ts'
import { FUNDS_REQUEST_UNTAGGED } from '../../storage/funds-requests/funds-request-queries.ts'
import { RECIPIENT_UNTAGGED } from '../../storage/recipients/recipient-queries.ts'
import { etagOf, resourceETag } from '../../lib/commands/etag.ts'
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'
import type { Command, CommandAnswer, Idempotency, IdempotencyRecord } from '../../lib/commands/command.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Refused } from '../../lib/balances/decision.ts'

/** The 201 of a payment; the same bytes whenever it is given for the same payment. */
export function paymentAnswer(payment: PaymentRecord, replayed: boolean): CommandAnswer {
  return created(`/v1/payments/${payment.id}`, JSON.stringify(paymentJson(payment, payment.details.queued)), replayed)
}

/** The 200 of a payment that was cancelled. It has come to its end, so a repeat finds the same. */
export function cancelledAnswer(payment: PaymentRecord, replayed: boolean): CommandAnswer {
  return { status: 200, body: JSON.stringify(paymentJson(payment, null)), contentType: 'application/json', replayed }
}

/** The 201 of a transfer. */
export function transferAnswer(transfer: TransferRecord, replayed: boolean): CommandAnswer {
  return created(`/v1/transfers/${transfer.id}`, JSON.stringify(transferJson(transfer)), replayed)
}

export function created(location: string, body: string, replayed: boolean): CommandAnswer {
  return { status: 201, body, contentType: 'application/json', etag: resourceETag(1, body), location, replayed }
}

/** The 201 of a quote. A quote never changes, and was not used when it was made. */
export function quoteAnswer(quote: QuoteRecord, replayed: boolean): CommandAnswer {
  return created(`/v1/exchanges/quotes/${quote.id}`, JSON.stringify(quoteJson(quote, false)), replayed)
}

/** The 201 of an exchange that was booked at once. */
export function exchangeAnswer(exchange: ExchangeRecord, replayed: boolean): CommandAnswer {
  return created(`/v1/exchanges/${exchange.id}`, JSON.stringify(exchangeJson(exchange)), replayed)
}

/** What keeps its answers as they were given: where it is, and what its tag does not cover. */
export const KEPT = {
  recipient: { path: 'recipients', untagged: RECIPIENT_UNTAGGED },
  funds_request: { path: 'funds-requests', untagged: FUNDS_REQUEST_UNTAGGED },
  scheduled_payment: { path: 'scheduled-payments', untagged: [] },
  bulk_payment: { path: 'bulk-payments', untagged: [] },
  job: { path: 'jobs', untagged: [] },
} as const

/** What a record answers to a repeat: the resource as it was created, or the words that were said, of a problem too. */
export function storedAnswer({ status, answer, resource }: Pick<RecordedCommand, 'status' | 'answer' | 'resource'>): CommandAnswer {
  if (answer !== null) {
    // Of a draft, which has been written over since, or is gone.
    if (status === 201 && resource?.kind === 'payment') return created(`/v1/payments/${resource.payment.id}`, answer, true)
    if (status === 201 && resource?.kind === 'exchange') return created(`/v1/exchanges/${resource.exchange.id}`, answer, true)
    const made = resource === null || !('id' in resource) ? {} : {
      etag: etagOf({ version: 1n, view: JSON.parse(answer) as unknown, untagged: KEPT[resource.kind].untagged }), location: `/v1/${KEPT[resource.kind].path}/${resource.id}`,
    }
    return { status, body: answer, contentType: status < 400 ? 'application/json' : 'application/problem+json', replayed: true, ...made }
  }
  switch (resource?.kind) {
    case 'payment': return status === 200 ? cancelledAnswer(resource.payment, true) : paymentAnswer(createdPayment(resource.payment), true)
    case 'transfer': return transferAnswer(createdTransfer(resource.transfer), true)
    case 'exchange': return exchangeAnswer(bookedExchange(resource.exchange), true)
    case 'quote': return quoteAnswer(resource.quote, true)
    default: throw new Error('An idempotency record names a resource that does not exist.')
  }
}

/** What a decision comes to where it makes nothing: the same key was decided before, or a no. */
export type Unmade =
  | Refused
  /** The same key was decided before. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/** The way from a command to its answer, with everything that its Idempotency-Key asks for. */
export interface Answers {
  /**
   * Lets the domain decide, and puts what it has made into words.
   *
   * @throws ProblemError for a no that is not kept, `idempotency-key-in-use` and `idempotency-key-reused`
   */
  answer<Body, Made extends { readonly kind: string }>(command: Command<Body>, submit: (caller: Caller, body: Body) => Promise<Made | Unmade>, render: (made: Made) => CommandAnswer): Promise<CommandAnswer>
  /** The answer that a key has already; null when it has none. */
  recordedAnswer(idempotency: Idempotency): Promise<CommandAnswer | null>
  callerOf(command: Command<unknown>): Caller
}

export interface AnswersDeps {
  readonly database: Database
  readonly problemBase: string
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

export function createAnswers(world: AnswersDeps): Answers {
  /** Keys of commands that are being decided here. */
  const underWay = new Set<string>()

  async function answer<Body, Made extends { readonly kind: string }>(command: Command<Body>, submit: (caller: Caller, body: Body) => Promise<Made | Unmade>, render: (made: Made) => CommandAnswer): Promise<CommandAnswer> {
    const { idempotency } = command
    if (idempotency === null) return await decide(command, submit, render)
    if (underWay.has(idempotency.id)) refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
    underWay.add(idempotency.id)
    try {
      return await decide(command, submit, render)
    } catch (error) {
      // What is wrong with the body is said only when the key is new: a key that has an answer keeps it.
      if (error instanceof ProblemError) return await recordedAnswer(idempotency) ?? raise(error)
      throw error
    } finally {
      underWay.delete(idempotency.id)
    }
  }

  async function decide<Body, Made extends { readonly kind: string }>(command: Command<Body>, submit: (caller: Caller, body: Body) => Promise<Made | Unmade>, render: (made: Made) => CommandAnswer): Promise<CommandAnswer> {
    const outcome = await submit(callerOf(command), command.body)
    if (isUnmade(outcome)) {
      if (outcome.kind === 'recorded') return await replay(outcome.outcome, command.idempotency as Idempotency)
      if (outcome.body === null) throw new ProblemError(outcome.problem)
      return { status: problemStatus(outcome.problem), body: outcome.body, contentType: 'application/problem+json', replayed: false }
    }
    return render(outcome)
  }

  async function replay(outcome: StoredOutcome, idempotency: Idempotency): Promise<CommandAnswer> {
    if (outcome.fingerprint !== idempotency.fingerprint) reused(outcome.decidedAt)
    return storedAnswer({ ...outcome, resource: await recordedResource(world.database, outcome.resourceId) })
  }

  async function recordedAnswer(idempotency: Idempotency): Promise<CommandAnswer | null> {
    const record = await world.findIdempotencyRecord(idempotency.id)
    if (record === null) return null
    if (record.fingerprint !== idempotency.fingerprint) reused(record.createdAt)
    return record.answer
  }

  function callerOf({ tenantId, principal, idempotency, requestId, instance, deadline }: Command<unknown>): Caller {
    return {
      customerId: tenantId,
      shard: shardOf(tenantId),
      createdBy: principal.id,
      createdByName: principal.name,
      createdVia: principal.createdVia,
      key: idempotency,
      deadline,
      problemText: (problem: Problem) => problemBody(problem, { problemBase: world.problemBase, instance, requestId }),
      problemStatus,
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

/**
 * The issuer's messages, answered. A question is decided by the balance that pays, within the issuer's deadline:
 *
 *  * A decision that has come in time is the answer.
 *  * What is not decided in time is declined for lack of an answer (`system_error`): by then the issuer has declined it,
 *    too. The decline is booked by the same message as soon as that can be done; an approval that comes late is reversed.
 *  * A message that is sent again gets the answer of the first, so a reversed approval is a decline.
 *
 * Where the node ends between the two, the issuer tells of its own decline (`stand_in`), and an authorisation that
 * nobody mentions again expires.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { CardMessage } from '../../lib/cards/card-message.ts'
import type { CardMessageReply } from '../../lib/cards/decide-card-message.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import type { CardDecision, CardInstruction, IssuerMessages } from '../providers/issuer-messages.ts'
import type { CardMessages, CardOrigin, OtherContent } from './card-messages.ts'

/** Waits by the clock. */
export interface DecisionTimer {
  /** Resolves at `moment`, epoch milliseconds; `cancel` ends the wait without resolving it. */
  wait(moment: number): { readonly passed: Promise<void>; cancel(): void }
}

export interface CardDecisionsOptions {
  readonly messages: Pick<CardMessages, 'take' | 'isDecided'>
  readonly clock: Clock
  readonly timer: DecisionTimer
  readonly onError: (error: unknown, what: string) => void
}

type Taken = CardMessageReply | OtherContent | null

/** Attempts to book what was declined for lack of an answer, and the first pause between two, which doubles. */
const ATTEMPTS_MAX = 8
const FIRST_PAUSE_MS = 500

const LATE = { cardTransactionId: null, approved: false, declineReason: 'system_error', misfit: null } as const

export class CardDecisions {
  readonly #options: CardDecisionsOptions
  /** The booking that follows its answer. */
  readonly #later = new Set<Promise<void>>()
  readonly #pauses = new Set<() => void>()
  #isStopping = false

  constructor(options: CardDecisionsOptions) {
    this.#options = options
  }

  /** Waits for what is booked after its answer. */
  async settled(): Promise<void> {
    while (this.#later.size > 0) await Promise.all(this.#later)
  }

  start(): void {
    this.#isStopping = false
  }

  /** Ends the pauses between attempts and waits for those under way. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const end of this.#pauses) end()
    await this.settled()
  }

  /**
   * Decides a message that was received at `receivedAt`, epoch milliseconds.
   *
   * @throws Overloaded, DatabaseUnavailable, OutcomeUnknown for messages that are no questions: the issuer repeats them
   */
  async decide(
    network: Pick<IssuerMessages, 'decisionMs'>,
    instruction: CardInstruction,
    origin: CardOrigin,
    receivedAt: number,
  ): Promise<CardDecision> {
    switch (instruction.kind) {
      case 'question':
        return await this.#inTime(instruction, origin, receivedAt + network.decisionMs)
      case 'fact':
        return decisionOf(await this.#take(instruction, instruction.message, origin))
      case 'stand_in':
        return await this.#standIn(instruction, origin)
      default:
        return instruction.kind satisfies never
    }
  }

  async #take(
    instruction: CardInstruction,
    message: CardMessage,
    origin: CardOrigin,
    deadline = this.#options.clock.now() + LIMITS.requestDeadlineMs,
  ): Promise<Taken> {
    const fingerprint = fingerprintOf(instruction)
    return await this.#options.messages.take(instruction.cardId, message, deadline, { origin, fingerprint })
  }

  async #inTime(instruction: CardInstruction, origin: CardOrigin, deadline: number): Promise<CardDecision> {
    const { clock, timer, messages } = this.#options
    const taking = this.#take(instruction, instruction.message, origin, deadline)
    const { passed, cancel } = timer.wait(deadline)
    const first = await Promise.race([taking.catch(() => 'failed' as const), passed.then(() => 'late' as const)])
    cancel()
    if (first === 'failed' || first === 'late' || clock.now() > deadline) {
      this.#book(instruction, origin, taking)
      return LATE
    }
    const decision = decisionOf(first)
    const isRepeated = first?.kind === 'card_decided' && first.isRepeated === true
    return isRepeated && decision.approved && (await messages.isDecided(reversalId(instruction)))
      ? { ...LATE, cardTransactionId: decision.cardTransactionId }
      : decision
  }

  /** Books, after the answer, that a question was declined. */
  #book(instruction: CardInstruction, origin: CardOrigin, taking: Promise<Taken>): void {
    const booking = this.#declined(instruction, origin, taking)
      .catch((error: unknown) => this.#options.onError(error, `card message ${instruction.message.id}`))
      .finally(() => this.#later.delete(booking))
    this.#later.add(booking)
  }

  async #declined(instruction: CardInstruction, origin: CardOrigin, taking: Promise<Taken>): Promise<void> {
    // The message was taken or dropped under its own id, so the second taking of that id tells which.
    const declined: CardMessage = { ...instruction.message, declined: 'system_error' }
    let taken = await taking.catch(() => undefined)
    for (let attempt = 1; ; attempt++) {
      try {
        taken ??= await this.#take(instruction, declined, origin)
        if (taken?.kind === 'card_decided' && taken.answer.approved) await this.#reverse(instruction, origin)
        return
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || this.#isStopping) throw error
        await this.#pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    const { clock, timer } = this.#options
    const { passed, cancel } = timer.wait(clock.now() + ms)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#pauses.add(end)
    await Promise.race([passed, ended])
    this.#pauses.delete(end)
    cancel()
  }

  /** Takes back what an approved message has reserved or paid. */
  async #reverse(instruction: CardInstruction, origin: CardOrigin): Promise<Taken> {
    const { message } = instruction
    const phase = message.phase === 'increment' ? 'partial_reversal' : 'reversal'
    return await this.#take(instruction, { ...message, id: reversalId(instruction), phase, declined: null }, origin)
  }

  /** The issuer has declined by itself: what was approved is reversed, what is not known is booked as declined. */
  async #standIn(instruction: CardInstruction, origin: CardOrigin): Promise<CardDecision> {
    const { message } = instruction
    const reversal = await this.#take(instruction, { ...message, phase: 'reversal' }, origin)
    if (reversal?.kind !== 'card_misfit' || reversal.misfit !== 'needs_transaction') return decisionOf(reversal)
    const booked: CardMessage = { ...message, phase: 'decline', declined: message.declined ?? 'system_error' }
    return decisionOf(await this.#take(instruction, booked, origin))
  }
}

const reversalId = ({ message }: CardInstruction): string => derivedId(message.id, 'stand-in')

/** Messages of one id with another amount, phase or transaction are not the same message. */
const fingerprintOf = ({ kind, message }: CardInstruction): string => {
  const { id, phase, ref, amount, merchantAmount, merchantCurrency } = message
  return derivedId(id, kind, phase, ref, `${amount} ${merchantAmount} ${merchantCurrency}`)
}

function decisionOf(taken: Taken): CardDecision {
  if (taken === null) return { ...LATE, declineReason: 'do_not_honour', misfit: 'unknown_card' }
  if (taken.kind === 'other_content') return { ...LATE, declineReason: 'do_not_honour', misfit: 'other_content' }
  if (taken.kind === 'card_misfit') return { ...LATE, declineReason: 'do_not_honour', misfit: taken.misfit }
  const { transactionId, approved, declineReason } = taken.answer
  return { cardTransactionId: transactionId, approved, declineReason, misfit: null }
}

/**
 * The messages of the card network: each is decided once by the balance that pays. Messages about one card go one after
 * the other within this node; between nodes the versions of the card and of the transaction are the fences.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { dateIn, timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { CardMessage } from '../../lib/cards/card-message.ts'
import type { CardAnswer } from '../../lib/cards/card-transaction.ts'
import type { CardMessageReply, DecideCardMessage } from '../../lib/cards/decide-card-message.ts'
import type { FoundCard } from '../../storage/cards/card-reading.ts'
import { decidedMessage } from '../../storage/cards/card-transactions.ts'
import type { Database } from '../../storage/db/database.ts'
import { readerOf } from '../../storage/db/transaction.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { cardBalance } from '../balances/balance.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import { InTurn } from '../runtime/in-turn.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { CardReading } from './card-reading.ts'

export interface CardMessagesOptions {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly ids: IdSource
  readonly clock: Clock
}

/** The message was decided with other content. */
export interface OtherContent {
  readonly kind: 'other_content'
  /** RFC 3339. */
  readonly decidedAt: string
}

/** The connection that a message came by, and the currency of its amount. */
export interface CardOrigin {
  readonly connectionId: string
  readonly currency: string
}

export class CardMessages {
  readonly #options: CardMessagesOptions
  readonly #turns = new InTurn()
  readonly reading: CardReading

  constructor(options: CardMessagesOptions) {
    this.#options = options
    this.reading = new CardReading(readerOf(options.database))
  }

  /**
   * Decides a message. A repeated message gets the answer of the first.
   *
   * @param deadline epoch milliseconds; a message that still waits then is dropped undecided
   * @param fingerprint of the message's content, where one id may come with other content: that is refused
   * @param origin null for messages of the service itself
   * @param known the card as the caller has just read it; null: it is read here
   * @returns null for a card that does not exist, or is not of the message's origin
   * @throws Overloaded, DatabaseUnavailable, OutcomeUnknown: the issuer sends the message again
   */
  async take(
    cardId: string,
    message: CardMessage,
    deadline: number,
    {
      fingerprint = message.id,
      origin = null,
      known = null,
    }: {
      readonly fingerprint?: string | undefined
      readonly origin?: CardOrigin | null
      readonly known?: FoundCard | null
    } = {},
  ): Promise<CardMessageReply | OtherContent | null> {
    // A state that was read before a wait for a turn is older than the turns in between.
    const fresh = this.#turns.isFree(cardId) ? known : null
    return await this.#turns.run(cardId, () =>
      this.#decide(cardId, message, deadline, { fingerprint, origin, known: fresh }),
    )
  }

  /** Tells whether a message was decided. @throws DatabaseUnavailable */
  async isDecided(messageId: string): Promise<boolean> {
    return (await decidedMessage(readerOf(this.#options.database), messageId)) !== null
  }

  async #decide(
    cardId: string,
    message: CardMessage,
    deadline: number,
    {
      fingerprint,
      origin,
      known,
    }: { readonly fingerprint: string; readonly origin: CardOrigin | null; readonly known: FoundCard | null },
  ): Promise<CardMessageReply | OtherContent | null> {
    const { system, accounts, ids, clock } = this.#options
    const question = { cardId, ref: message.ref, relatedRef: message.relatedRef }
    const found = known ?? (await this.reading.read(question))
    if (found === null) return null
    if (origin !== null && (found.card.connectionId !== origin.connectionId || found.card.currency !== origin.currency))
      return null
    let { card, transaction, relatedTransactionId } = found
    const internal = await accounts.accounts(card)
    const key = { id: message.id, fingerprint }
    const makeCommand = (): DecideCardMessage => ({
      kind: 'card_message',
      key,
      message,
      card,
      transaction,
      relatedTransactionId,
      accounts: internal,
      valueDate: dateIn(clock.now(), 'UTC'),
      seed: ids.next(),
    })
    const reply = await askUntilDecided(
      { system, actor: cardBalance, id: card.balanceId, shard: card.shard, deadline },
      makeCommand,
      async (conflict): Promise<'again'> => {
        switch (conflict.kind) {
          case 'card_stale':
          case 'card_transaction_stale': {
            const again = await this.reading.read(question)
            if (again === null) throw new Error(`The card ${cardId} has gone.`)
            ;({ card, transaction, relatedTransactionId } = again)
            return 'again'
          }
          default:
            throw new Error(`A card message met ${conflict.kind}.`)
        }
      },
      'balance',
    )
    if (reply.kind === 'recorded' && reply.outcome.fingerprint !== fingerprint)
      return { kind: 'other_content', decidedAt: reply.outcome.decidedAt }
    if (reply.kind === 'recorded')
      return {
        kind: 'card_decided',
        answer: JSON.parse(reply.outcome.answer as string) as CardAnswer,
        isRepeated: true,
      }
    if (reply.kind === 'card_decided') return reply
    // The record of an answer lives for a day, the message for ever: a repeat that comes later fits nothing any more.
    const before = await decidedMessage(readerOf(this.#options.database), message.id)
    if (before === null) return reply
    return before.ref === message.ref && before.amount === message.amount
      ? { kind: 'card_decided', answer: before.answer, isRepeated: true }
      : { kind: 'other_content', decidedAt: timestamp(before.at) }
  }
}

/**
 * The adapter of a provider: one folder that speaks the provider's own language, and nothing else does.
 *
 * An adapter sees neither the ledger nor a clock nor the database. The time comes as an argument, `now` in epoch
 * milliseconds, and all input and output goes through what `open` is given: calls are recorded, limited in rate and
 * redacted there, so an adapter cannot forget to. README.md tells how to write one.
 */
import type { ProviderDescription, ProviderEnvironment } from '../../../lib/providers/provider.ts'
import type { SignedBody } from '../../../lib/security/signed-body.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../../lib/recipients/verification.ts'
import type { AccountOffer, AccountPartner } from '../account-partner.ts'
import type { BankMessage, BankRecallRequest, OrderQuestion, OrderStatus, PaymentOrder, Submission } from '../bank.ts'
import type { BookTransferPartner } from '../book-transfers.ts'
import type { IssuerMessages } from '../issuer-messages.ts'
import type { CreditMessage, CreditReturn } from '../credits.ts'
import type { CollectionTold, DebitPartner } from '../debits.ts'
import type { FxMarket, FxMessage, FxOrder, FxStatus, FxSubmission } from '../fx.ts'
import type { DebitAnswerOrder, IncomingDebitMessage } from '../incoming-debits.ts'
import type { StatementQuestion } from '../statements.ts'
import type { PartnerFiles } from './partner-files.ts'
import type { PartnerEndpoint, PartnerHttp } from './partner-http.ts'

export interface Adapter {
  readonly description: ProviderDescription
  /** The kinds of account that the provider keeps for balances of a currency; absent: it keeps none. */
  accountOffers?(currency: CurrencyCode): readonly AccountOffer[]
  /**
   * Opens a connection: prepares what its calls need, and calls nothing yet.
   *
   * @throws Error for a configuration that its schema allows and the provider does not, in words for staff
   */
  open(connection: OpenConnection, io: AdapterIo): AdapterConnection
}

/**
 * A connection as its adapter sees it. The configuration and the credentials have passed the schemas of the
 * description; an adapter names their types in its own `open`.
 */
export interface OpenConnection<Config = unknown, Credentials = unknown> {
  readonly id: string
  readonly operatorId: string
  readonly environment: ProviderEnvironment
  readonly config: Config
  /** Null: none are set, or the provider has none. No error, log or answer may hold any of them. */
  readonly credentials: Credentials | null
}

/** The ways out of an adapter. */
export interface AdapterIo {
  /** Makes the client of an address. Every client of a connection shares the connection's rate and concurrency. */
  http(endpoint: PartnerEndpoint): PartnerHttp
  /** The files that are exchanged with the provider. */
  readonly files: PartnerFiles
}

/** An answer to a probe. `message`: the provider's trouble in words for staff; null when it is well. */
export interface ProbeAnswer {
  readonly ok: boolean
  readonly latencyMs: number
  readonly message: string | null
}

/** A page of events that the provider lists. */
export interface EventPage {
  readonly events: readonly RawProviderEvent[]
  /** Where the next page begins; null: this page was the last one. */
  readonly cursor: string | null
}

/** The end of the verification of a webhook; `reason` is in words for staff and holds no secret. */
export type Verification =
  | { readonly valid: true; readonly eventId: string; readonly type: string; readonly answer?: WebhookAnswer }
  | { readonly valid: false; readonly reason: string }

/** The answer that a provider wants to a webhook, in place of 202 with no body; also when the webhook is a repetition. */
export interface WebhookAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * An open connection. An ability that the description lacks has no method here.
 *
 * A call that throws has an unknown outcome. It is never repeated here: the caller asks for the status.
 */
export interface AdapterConnection {
  /** Asks the provider for something harmless that needs the credentials. Never throws for the provider's faults. */
  probe(now: number): Promise<ProbeAnswer>
  /**
   * Sends orders. The provider accepts a reference once, however often it is sent. An order without a result timed out.
   *
   * @throws when the whole call failed: the outcome of every order is unknown
   */
  submit?(orders: readonly PaymentOrder[], now: number): Promise<ReadonlyMap<string, Submission>>
  /**
   * Asks for the outcome of orders, by reference. `unknown`: the provider is sure that it never got the order. An order
   * without an answer is absent.
   *
   * @throws when the provider does not answer
   */
  status?(questions: readonly OrderQuestion[], now: number): Promise<ReadonlyMap<string, OrderStatus>>
  /** Recalls payments; a reference that was recalled before is ignored. @throws when it is unknown whether they arrived */
  recall?(requests: readonly BankRecallRequest[], now: number): Promise<void>
  /** Returns credits. @returns the references that the provider has taken @throws when the outcome is unknown */
  giveBack?(returns: readonly CreditReturn[], now: number): Promise<readonly string[]>
  /**
   * Tells the provider of direct debits of balances: accepted, refused, to be refunded.
   *
   * @returns the references that the provider has taken @throws when the outcome is unknown
   */
  answerDebits?(answers: readonly DebitAnswerOrder[], now: number): Promise<readonly string[]>
  /**
   * Lists events that happened at `since` (epoch milliseconds) or later, page by page, in the provider's order. A page
   * may hold events that a page before it held.
   */
  list?(since: number, cursor: string | null, now: number): Promise<EventPage>
  /** Reads a statement as camt.053, piece by piece; null while there is none. @throws when the provider does not answer */
  statement?(question: StatementQuestion, now: number): Promise<AsyncIterable<Uint8Array> | null>
  /**
   * Does work that the connection has put off until its time, such as a file that gathers orders. Repeating it does no
   * harm.
   *
   * @param id what is due, as the connection has named it
   * @throws when it has to be begun again
   */
  carryOut?(id: string, now: number): Promise<void>
  /** Judges the signature of a webhook. Pure. */
  verify?(request: SignedBody, secret: string, now: number): Verification
  /**
   * Translates an event, whatever its body holds: what cannot be read, and what is not for us, gives a message of the
   * port `none`. Pure: the same event gives the same messages with the same ids.
   */
  translate(event: RawProviderEvent): readonly InboxMessage[]
  /**
   * Asks whether a name belongs to an account, by the scheme of the question (`cop` and `vop` of the capabilities). The
   * codes of the scheme pass through; a match of `cop` has none.
   *
   * @throws when the provider does not answer
   */
  verifyPayee?(question: PayeeQuestion, now: number): Promise<PayeeAnswer>
  /** The accounts that the provider keeps for balances. */
  readonly accounts?: Pick<AccountPartner, 'open' | 'close'>
  /** Transfers between accounts of the operator at the provider. */
  readonly bookTransfers?: BookTransferPartner
  /** Direct debits of the schemes that travel by orders (`debits` of the description). */
  readonly debits?: DebitPartner
  /** Exchanges of currencies, with the market at which they are quoted (`fx` of the capabilities). */
  readonly fx?: AdapterExchanges
  /** The messages of the issuer of cards (`cards` of the capabilities). */
  readonly cards?: IssuerMessages
  /** Ends what the connection holds open. It gets no call after this, and those under way may fail. */
  close?(): Promise<void>
}

/** Exchanges at a provider. */
export interface AdapterExchanges extends FxMarket {
  /** As `submit` of payments. */
  submit(orders: readonly FxOrder[], now: number): Promise<ReadonlyMap<string, FxSubmission>>
  /** As `status` of payments. */
  status(references: readonly string[], now: number): Promise<ReadonlyMap<string, FxStatus>>
}

/** An event of a provider as it came, from whichever source. */
export interface RawProviderEvent {
  readonly source: 'webhook' | 'poll' | 'file' | 'statement'
  /** The provider's id of the event, or what stands for it where the provider gives none; up to 200 characters. */
  readonly eventId: string
  /** The provider's own word. */
  readonly type: string
  readonly body: Uint8Array
  /** Names in lower case; none unless it is a webhook. */
  readonly headers: Readonly<Record<string, string>>
  /** When the event happened by the provider's clock, epoch milliseconds; null where it does not tell. */
  readonly occurredAt: number | null
}

/** A message without its shard, which the inbox finds by the reference. */
type Shardless<Message> = Message extends unknown ? Omit<Message, 'shard'> : never

/**
 * A message out of a raw event, for the inbox of its port. Its id is made by `derivedId` (derived-id.ts) from the
 * connection and the provider's id of the message, so a message that comes by two ways has one id.
 */
export type InboxMessage =
  | { readonly port: 'bank'; readonly message: Shardless<BankMessage> }
  /**
   * The account of a credit is the id of a balance, or an identifier of an account of the connection: an IBAN, CLABE or
   * account number, or the bank's code and the account number with a space between. A returned credit that the provider
   * names by the end-to-end id of the credit has that as its reference.
   */
  | { readonly port: 'credit'; readonly message: Shardless<CreditMessage> }
  | { readonly port: 'fx'; readonly message: Shardless<FxMessage> }
  /** The account of a debit is named as that of a credit. */
  | { readonly port: 'incoming_debit'; readonly message: Shardless<IncomingDebitMessage> }
  | { readonly port: 'collection'; readonly message: Omit<Shardless<CollectionTold>, 'connectionId'> }
  /** The event says nothing that the service uses, or could not be read. `reason`: in words for staff. */
  | { readonly port: 'none'; readonly reason: string; readonly isFault: boolean }

/** The parts of other nouns that the inbox of providers works with. */
import type { ProviderDescription } from '../../../lib/providers/provider.ts'
import type { AdapterConnection } from '../adapters/adapter.ts'
import type { BankInbox, BankMessage } from '../bank.ts'
import type { CreditInbox } from '../credits.ts'
import type { IncomingDebitInbox } from '../incoming-debits.ts'
import type { TakeDebitMessages } from '../debits.ts'
import type { FxInbox, FxMessage } from '../fx.ts'

/** A connection that is open. */
export interface InboxConnection {
  readonly id: string
  readonly operatorId: string
  readonly description: Pick<ProviderDescription, 'webhooks' | 'poll'>
  readonly adapter: AdapterConnection
  /** Null: none is set, so no webhook is believed. */
  readonly webhookSecret: string | null
}

export interface InboxPartners {
  /** Opens a connection, or finds it open; null when there is none, and when it is retired. */
  open(connectionId: string): Promise<InboxConnection | null>
  /** Whether the health of a connection lets its provider be asked for events. */
  mayPoll(connectionId: string): boolean
}

/** The statuses of a message's object before and after it; null: there is none. */
export interface Foreseen {
  readonly before: string | null
  readonly after: string | null
}

/** The inboxes of the messages, and what messages would do that are not sent: the same decisions, uncommitted. */
export interface InboxPorts {
  readonly bank: {
    readonly inbox: BankInbox
    foresee(messages: readonly BankMessage[]): Promise<ReadonlyMap<string, Foreseen>>
  }
  readonly fx: {
    readonly inbox: FxInbox
    foresee(messages: readonly FxMessage[]): Promise<ReadonlyMap<string, Foreseen>>
  }
  readonly credits: { readonly inbox: CreditInbox }
  readonly incomingDebits: { readonly inbox: IncomingDebitInbox }
  /** Mandates and collections. */
  readonly debits: { readonly inbox: TakeDebitMessages }
}

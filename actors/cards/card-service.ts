/** Cards: their management, the messages of the network about them, and their transactions. */
import { cardJson } from '../../lib/cards/card-view.ts'
import { cardTransactionJson } from '../../lib/cards/card-transaction-view.ts'
import type {
  Card,
  CardClose,
  CardControlsWrite,
  CardCreate,
  CardLimitsWrite,
  cardList,
  CardTransaction,
  cardTransactionList,
  SimCard,
} from '../../lib/cards/card-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Command, CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { getCardTransaction, listCardTransactions } from '../../storage/cards/card-transactions.ts'
import { listCards, readCards } from '../../storage/cards/cards.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { readerOf } from '../../storage/db/transaction.ts'
import type { WebhookAnswer } from '../providers/adapters/adapter.ts'
import type { InboxPartners } from '../providers/inbox/inbox-ports.ts'
import { background, type Node } from '../runtime/node.ts'
import { authorisationExpiry, cardExpiry } from './card-expiry.ts'
import { CardDecisions } from './card-decisions.ts'
import { CardMessages } from './card-messages.ts'
import { closeCard, issueCard, moveOwnCard, onlyHolder, setCardControls, setCardLimits } from './card-operations.ts'
import { decisionTimer } from './decision-timer.ts'
import type { CardIssuer } from './issuer.ts'
import { receiveCardMessage } from './receive-card-message.ts'
import { simulateCard } from './simulate-card.ts'

/** The reads. */
export interface CardReads {
  /** Lists the customer's cards, or those of the caller alone. */
  list(query: ListQuery<typeof cardList>, by: Caller): Promise<ListResult<Card>>
  /** Null when the customer has no such card, or the caller does not see it. Without a caller: any of the customer. */
  get(tenant: Tenant, id: string, by?: Caller): Promise<Versioned<Card> | null>
  listTransactions(query: ListQuery<typeof cardTransactionList>): Promise<ListResult<CardTransaction>>
  /** Null when the customer has no such transaction. */
  getTransaction(tenant: Tenant, id: string): Promise<Versioned<CardTransaction> | null>
}

/** The commands. Every refusal is thrown as a problem, except those that are recorded under an Idempotency-Key. */
export interface CardCommands {
  issue(by: Caller<'person'>, command: Command<CardCreate>): Promise<CommandAnswer<Card, 201>>
  move(by: Caller<'person'>, id: string, move: 'activate' | 'freeze' | 'unfreeze'): Promise<Versioned<Card>>
  close(
    by: Caller<'person'>,
    id: string,
    body: CardClose,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<Card, 200>>
  setLimits(
    by: Caller<'person'>,
    id: string,
    body: CardLimitsWrite,
    expected: number | bigint | null,
  ): Promise<Versioned<Card>>
  setControls(
    by: Caller<'person'>,
    id: string,
    body: CardControlsWrite,
    expected: number | bigint | null,
  ): Promise<Versioned<Card>>
  /** Takes a message of an issuer; its signature is verified here. @returns the answer in the issuer's words */
  receive(connectionId: string, request: SignedBody): Promise<WebhookAnswer>
  simulate(by: Caller, cardId: string, command: Command<SimCard>): Promise<CommandAnswer<SimulationResult, 202>>
}

export type CardService = ReturnType<typeof createCardService>

/** Creates the service. */
export function createCardService(
  node: Node,
  { issuer, partners }: { readonly issuer: CardIssuer; readonly partners: InboxPartners },
) {
  const { database } = node
  const db = readDatabase(database)
  const reader = readerOf(database)
  const messages = new CardMessages(node)
  const decisions = new CardDecisions({ ...node, messages, timer: decisionTimer(node.clock) })
  const deps = { ...node, issuer }
  const reads: CardReads = {
    async list(query, by) {
      const { rows, ...page } = await listCards(db, query, onlyHolder(by))
      return { ...page, rows: rows.map(cardJson) }
    },
    async get(tenant, id, by) {
      const card = (await readCards(reader, [id])).get(id)
      if (card === undefined || card.customerId !== tenant.id) return null
      const holder = by === undefined ? null : onlyHolder(by)
      return holder !== null && holder !== card.holderUserId ? null : { version: card.version, view: cardJson(card) }
    },
    async listTransactions(query) {
      const { rows, ...page } = await listCardTransactions(db, query)
      return { ...page, rows: rows.map(cardTransactionJson) }
    },
    async getTransaction(tenant, id) {
      const found = await getCardTransaction(reader, tenant.id, id)
      return found === null ? null : { version: found.version, view: cardTransactionJson(found) }
    },
  }
  const commands: CardCommands = {
    issue: (by, command) => issueCard(deps, by, command),
    move: (by, id, move) => moveOwnCard(deps, by, id, move),
    close: (by, id, { reason }, idempotency) => closeCard(deps, by, { id, reason }, idempotency),
    setLimits: (by, id, body, expected) => setCardLimits(deps, by, id, body, expected),
    setControls: (by, id, body, expected) => setCardControls(deps, by, id, body, expected),
    receive: (connectionId, request) => receiveCardMessage({ ...node, partners, decisions }, connectionId, request),
    simulate: (by, cardId, command) => simulateCard(deps, messages, by, cardId, command),
  }
  return {
    reads,
    commands,
    background: [
      background('answers to issuers', decisions),
      background('card authorisations', authorisationExpiry({ ...node, messages })),
    ],
    tasks: [cardExpiry(node)],
  }
}

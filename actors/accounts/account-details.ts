/**
 * Opens and closes accounts at the partner, on the node that owns their shard. The partner is asked for an account
 * until it has opened or refused it, and to close an account until that has happened. Our reference names the account,
 * so a repeated request, also from another node, opens no second account.
 *
 * The result is written under the lock of the balance, together with its event.
 */
import {
  changeKind,
  OPEN_DETAILS,
  replacedBy,
  REPLACED_FOR_MS,
  standingOf,
  type DetailsChangeKind,
  type KnownDetails,
} from '../../lib/accounts/requests.ts'
import type { AccountTerms } from '../../lib/accounts/details.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import {
  activateDetails,
  askDetailsAt,
  beginClosingDetails,
  endDetails,
  failDetails,
  lockDetails,
  replaceDetails,
  takeDueDetails,
  type DueDetails,
} from '../../storage/accounts/account-requests.ts'
import {
  closeBalance,
  lockOneBalance,
  setDetailsStatus,
  type BalanceRecord,
} from '../../storage/balances/balance-changes.ts'
import { closeCardsOfBalance } from '../../storage/cards/cards.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { SYSTEM, writeAudit } from '../../storage/trail/trail.ts'
import type { AccountPartner } from '../providers/account-partner.ts'
import { DueRowPoller } from '../runtime/due-row-poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The poll interval, and the number of account details taken per poll. */
const TICK_MS = 500
const TAKEN_MAX = 64
/**
 * The claim time: after it, another node takes the details of a dead node. A call of the partner takes 10 s at most.
 */
const TAKEN_MS = 15_000
/** The delay before the partner is asked again. */
const ASK_MS = 1_000

export interface AccountDetailsUpkeepOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly partner: AccountPartner
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class AccountDetailsUpkeep extends DueRowPoller<DueDetails> {
  readonly #options: AccountDetailsUpkeepOptions

  constructor(options: AccountDetailsUpkeepOptions) {
    super({
      ...options,
      work: 'account_details',
      everyMs: TICK_MS,
      max: TAKEN_MAX,
      takenMs: TAKEN_MS,
      what: 'account details that are due',
      take: (claim) => takeDueDetails(options.database, claim),
      follow: (details) => this.#follow(details),
      nameOf: ({ id }) => `account details ${id}`,
    })
    this.#options = options
  }

  async #follow(details: DueDetails): Promise<void> {
    const { database, partner, clock } = this.#options
    const { id: reference, connectionId, currency, scope, accountHolderName: holderName } = details
    if (details.status === 'pending') {
      const answer = await partner.open({
        reference,
        connectionId,
        currency: currency as CurrencyCode,
        scope,
        holderName,
      })
      if (answer.kind === 'opened')
        return await this.#settle(details, 'pending', (client, known, balance) =>
          this.#opened(client, details, known, balance, answer.terms),
        )
      if (answer.kind === 'refused')
        return await this.#settle(details, 'pending', (client) => failDetails(client, reference, answer.reason))
    } else if (await partner.close({ reference, connectionId })) {
      return await this.#settle(details, details.status, (client) => endDetails(client, reference, clock.now()))
    }
    await askDetailsAt(database, reference, clock.now() + ASK_MS)
  }

  /**
   * Writes the partner's answer, unless the details have changed since the question: then the partner is asked again.
   */
  async #settle(
    details: DueDetails,
    from: KnownDetails['status'],
    write: (client: TransactionClient, known: readonly KnownDetails[], balance: BalanceRecord) => Promise<void>,
  ): Promise<void> {
    const { database, clock } = this.#options
    await inTransaction(database, async (client) => {
      const balance = await lockOneBalance(client, details.customerId, details.balanceId)
      if (balance === null) throw new Error(`The balance ${details.balanceId} is gone.`)
      const known = await lockDetails(client, balance.id)
      if (known.find(({ id }) => id === details.id)?.status !== from) return
      await write(client, known, balance)
      const now = clock.now()
      const after = await lockDetails(client, balance.id)
      await setDetailsStatus(client, balance.id, standingOf(after), now)
      await finishClosing(client, balance, after, now)
    })
  }

  async #opened(
    client: TransactionClient,
    details: DueDetails,
    known: readonly KnownDetails[],
    balance: BalanceRecord,
    terms: AccountTerms,
  ): Promise<void> {
    const { clock, ids } = this.#options
    const now = clock.now()
    const own = known.find(({ id }) => id === details.id) as KnownDetails
    const before = replacedBy(known, own)
    await activateDetails(client, details.id, terms, now)
    await replaceDetails(
      client,
      before.map(({ id }) => id),
      { byId: details.id, validUntil: now + REPLACED_FOR_MS },
    )
    const kind = changeKind(before, own)
    if (kind !== null) await tellOfChange(client, balance, kind, { id: ids.next(), now })
  }
}

/** Closes a closing balance when its last account is closed, unless money has come back to it meanwhile. */
async function finishClosing(
  client: TransactionClient,
  balance: BalanceRecord,
  known: readonly KnownDetails[],
  now: number,
): Promise<void> {
  if (balance.status !== 'closing' || balance.posted !== 0n || balance.held !== 0n) return
  if (known.some(({ status }) => OPEN_DETAILS.includes(status)) || !known.some(({ status }) => status === 'closed'))
    return
  await closeBalance(client, balance.id, 'closed', now)
}

/** Writes the event that the account details of a balance have changed, in the transaction of the change. */
async function tellOfChange(
  client: TransactionClient,
  balance: BalanceRecord,
  kind: DetailsChangeKind,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<void> {
  await writeEvent(client, {
    id,
    createdAt: now,
    customerId: balance.customerId,
    operatorId: balance.operatorId,
    shard: balance.shard,
    type: 'balance.details_changed',
    object: 'balance',
    objectId: balance.id,
    status: kind,
    previousStatus: null,
    amount: null,
    currency: null,
  })
}

/**
 * Begins to close a locked balance that is empty. Its cards are closed with it; its accounts are closed at the partner,
 * and the balance closes with the last of them; a balance without accounts closes at once.
 *
 * @returns the new status of the balance
 */
export async function beginClosing(
  client: TransactionClient,
  balance: BalanceRecord,
  { ids, now }: { readonly ids: IdSource; readonly now: number },
): Promise<'closing' | 'closed'> {
  const known = await lockDetails(client, balance.id)
  const hasOpen = known.some(({ status }) => OPEN_DETAILS.includes(status))
  const status = hasOpen ? 'closing' : 'closed'
  await closeBalance(client, balance.id, status, now)
  await endCards(client, balance, { ids, now })
  if (hasOpen) {
    await beginClosingDetails(client, balance.id, now)
    await setDetailsStatus(client, balance.id, standingOf(await lockDetails(client, balance.id)), now)
    await tellOfChange(client, balance, 'closing', { id: ids.next(), now })
  }
  return status
}

/** Closes the cards that pay from a balance that closes. */
async function endCards(
  client: TransactionClient,
  { id, customerId }: BalanceRecord,
  { ids, now }: { readonly ids: IdSource; readonly now: number },
): Promise<void> {
  for (const card of await closeCardsOfBalance(client, id, now))
    await writeAudit(client, {
      ...SYSTEM,
      id: ids.next(),
      tenantId: customerId,
      at: now,
      action: 'card.closed',
      object: { type: 'card', id: card.id },
      before: { status: card.status },
      after: { status: 'closed', closeReason: 'unwanted' },
    })
}

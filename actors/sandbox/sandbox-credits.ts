/**
 * The sandbox bank's messages about incoming credits and direct debits (table sandbox_message). Each message is sent until it is
 * acknowledged, so that a crash neither loses nor doubles one.
 *
 * A sandbox has no real payers and creditors, so credits and debits are simulated: `announce` and `announceDebit` write
 * the messages from which they start.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { sandboxKnowsOwner } from '../../lib/sandbox/incoming.ts'
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertSandboxBookings } from '../../storage/sandbox/sandbox-book.ts'
import {
  acknowledgeSandboxMessages,
  announceCredit,
  announceDebit,
  dueSandboxMessages,
  insertReturnMessages,
  type SandboxMessage,
} from '../../storage/sandbox/sandbox-messages.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type {
  DebitAnswerOrder,
  DebitArrival,
  IncomingDebitInbox,
  IncomingDebitPartner,
} from '../providers/incoming-debits.ts'
import type { CreditInbox, CreditMessage, CreditPartner, CreditReturn } from '../providers/credits.ts'

/** Time between two polls for due messages: a credit arrives well within a second. */
const TICK_MS = 200
/** Money that is sent back has left after this time. */
const RETURN_MS = 2_000

export interface SandboxCreditsOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  /** Only the node that owns a shard sends the messages of that shard. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

/** A simulated credit: the balance it is meant for, and the facts that the payer gives. */
export interface SandboxCredit {
  readonly id: string
  readonly shard: number
  readonly connectionId: string
  readonly balanceId: string
  readonly credit: CreditFacts
}

/** A simulated debit: the balance that it is collected from, and the facts that the creditor gives. */
export type SandboxDebit = Pick<DebitArrival, 'id' | 'shard' | 'connectionId' | 'account' | 'debit'>

export class SandboxCredits implements CreditPartner, IncomingDebitPartner {
  readonly #options: SandboxCreditsOptions
  readonly #poller: Poller
  #inbox: CreditInbox | undefined
  #debits: IncomingDebitInbox | undefined

  constructor(options: SandboxCreditsOptions) {
    this.#options = options
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#report(),
      rest: untilDue(options, ['sandbox_message']),
      onError: (error) => options.onError(error, 'sandbox bank'),
    })
  }

  /** Tells where messages about debits go. */
  reportDebitsTo(inbox: IncomingDebitInbox): void {
    this.#debits = inbox
  }

  /** Starts sending due messages. */
  start(inbox: CreditInbox): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  /** Stops sending, and waits until the messages under way are finished. */
  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  /** Announces and books a credit that comes in now, in the caller's transaction. */
  async announce(
    client: TransactionClient,
    { id, shard, connectionId, balanceId, credit }: SandboxCredit,
  ): Promise<void> {
    const account = sandboxKnowsOwner(credit.payerName) ? balanceId : null
    await announceCredit(
      client,
      { id, shard, reference: credit.reference, body: creditBody({ connectionId, account, credit }) },
      this.#options.clock.now(),
    )
    await insertSandboxBookings(through(client), [
      {
        id,
        connectionId,
        currency: credit.currency,
        reference: credit.reference,
        direction: 'CRDT',
        amount: credit.amount,
        at: this.#options.clock.now(),
        code: 'RCDT',
        text: credit.remittance,
      },
    ])
  }

  /** Announces a debit, in the caller's transaction. The bank books it when it is told that the debit is accepted. */
  async announceDebit(client: TransactionClient, { id, shard, ...debit }: SandboxDebit): Promise<void> {
    const { now } = this.#options.clock
    await announceDebit(client, { id, shard, reference: debit.debit.reference, body: debitBody(debit) }, now())
  }

  async answerDebits(answers: readonly DebitAnswerOrder[]): Promise<readonly string[]> {
    await insertSandboxBookings(
      this.#options.database,
      answers.flatMap(({ reference, connectionId, currency, amount, creditorName: text, ...answer }) => {
        const booking = { connectionId, currency, reference, amount, text }
        const { debitedAt, endedAt } = answer
        // A debit that is refunded before the bank was told of it is booked with its refund.
        return [
          ...(debitedAt === null
            ? []
            : [{ ...booking, id: reference, direction: 'DBIT' as const, at: debitedAt, code: 'RDDT' }]),
          ...(answer.answer !== 'refund' || endedAt === null
            ? []
            : [{ ...booking, id: returnId(reference), direction: 'CRDT' as const, at: endedAt, code: 'UPDD' }]),
        ]
      }),
    )
    return answers.map(({ reference }) => reference)
  }

  async giveBack(returns: readonly CreditReturn[]): Promise<readonly string[]> {
    const { database, clock } = this.#options
    await insertReturnMessages(
      database,
      returns.map(({ reference, shard }) => ({ id: returnId(reference), reference, shard })),
      clock.now() + RETURN_MS,
    )
    const at = clock.now() + RETURN_MS
    await insertSandboxBookings(
      database,
      returns.map(({ reference, connectionId, currency, amount }) => ({
        id: returnId(reference),
        connectionId,
        currency,
        reference,
        direction: 'DBIT',
        amount,
        at,
        code: 'RRTN',
        text: null,
      })),
    )
    return returns.map(({ reference }) => reference)
  }

  /** Sends due messages until none is left, or until a batch was not fully acknowledged. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const due = await dueSandboxMessages(database, {
        now: clock.now(),
        max: LIMITS.partnerEventsMax,
        owned: shards.owned(),
      })
      if (due.length === 0 || this.#inbox === undefined) return
      const [debits, credits] = [due.filter(isDebit), due.filter((message) => !isDebit(message))]
      const acknowledged = (
        await Promise.all([
          credits.length === 0 ? [] : this.#inbox(credits.map(messageOf)),
          debits.length === 0 ? [] : (this.#debits?.(debits.map(debitOf)) ?? []),
        ])
      ).flat()
      await acknowledgeSandboxMessages(database, acknowledged, clock.now())
      if (acknowledged.length < due.length) return
    }
  }
}

interface CreditBody {
  readonly connectionId: string
  /** The balance of the owner; null when the bank does not know the owner. */
  readonly account: string | null
  readonly credit: CreditFacts
}

/** Encodes a credit as the text that `sandbox_message` stores. */
export function creditBody({ credit, ...rest }: CreditBody): string {
  return JSON.stringify({ ...rest, credit: { ...credit, amount: credit.amount.toString() } })
}

function messageOf({ id, shard, type, reference, body }: SandboxMessage): CreditMessage {
  if (type === 'debit.announced') throw new Error(`The message ${id} is of a debit.`)
  if (type === 'account.credit_returned') return { type, id, shard, reference }
  const { connectionId, account, credit } = JSON.parse(body) as CreditBody
  return { type, id, shard, reference, connectionId, account, credit: { ...credit, amount: BigInt(credit.amount) } }
}

const isDebit = ({ type }: SandboxMessage): boolean => type === 'debit.announced'

/** Encodes a debit as the text that `sandbox_message` stores. */
function debitBody({ debit, ...rest }: Omit<SandboxDebit, 'id' | 'shard'>): string {
  return JSON.stringify({ ...rest, debit: { ...debit, amount: debit.amount.toString() } })
}

function debitOf({ id, shard, reference, body }: SandboxMessage): DebitArrival {
  const { connectionId, account, debit } = JSON.parse(body) as Omit<SandboxDebit, 'id' | 'shard'>
  return {
    type: 'debit.announced',
    id,
    shard,
    reference,
    connectionId,
    account,
    debit: { ...debit, amount: BigInt(debit.amount) },
  }
}

/** The bank's id of its message that a credit has gone back: the reference with its last digit mirrored. */
function returnId(reference: string): string {
  return reference.slice(0, -1) + (15 - Number.parseInt(reference.slice(-1), 16)).toString(16)
}

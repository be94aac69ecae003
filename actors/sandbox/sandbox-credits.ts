/**
 * The sandbox bank's side of money that comes in: messages of its own (table sandbox_message), said until they are heard, so
 * that neither its death nor ours loses or doubles one.
 *
 * Nobody pays into a sandbox by themselves, so credits are simulated: they are announced here, and take their way from here.
 */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { sandboxKnowsOwner } from '../../lib/sandbox/incoming.ts'
import type { CreditFacts } from '../../lib/incoming-payments/credit.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArray, plainArrayOrNull } from '../../storage/db/array-literal.ts'
import type { Database } from '../../storage/db/database.ts'
import { sandboxBookings } from '../../storage/sandbox/sandbox-book.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { Poller } from '../runtime/poller.ts'
import type { CreditInbox, CreditMessage, CreditPartner, CreditReturn } from '../providers/credits.ts'

/** How often messages that are due are looked for: a credit is here well within a second. */
const TICK_MS = 200
/** What goes back has left after this. */
const RETURN_MS = 2_000

export interface SandboxCreditsOptions {
  readonly database: Database
  readonly clock: Clock
  /** Messages about a shard are said where it is at home. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

/** A credit as it is simulated: the balance it is meant for, and what the payer says. */
export interface SandboxCredit {
  readonly id: string
  readonly shard: number
  readonly connectionId: string
  readonly balanceId: string
  readonly credit: CreditFacts
}

export class SandboxCredits implements CreditPartner {
  readonly #options: SandboxCreditsOptions
  readonly #poller: Poller
  #inbox: CreditInbox | undefined

  constructor(options: SandboxCreditsOptions) {
    this.#options = options
    this.#poller = new Poller({ everyMs: TICK_MS, poll: () => this.#report(), onError: (error) => options.onError(error, 'sandbox bank') })
  }

  /** Starts to say what is due. */
  start(inbox: CreditInbox): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  /** Says nothing more; what is under way is finished. */
  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  /** Money that comes in now, in the caller's transaction. */
  async announce(client: TransactionClient, { id, shard, connectionId, balanceId, credit }: SandboxCredit): Promise<void> {
    const account = sandboxKnowsOwner(credit.payerName) ? balanceId : null
    await client.query({
      name: 'sandbox_announce', values: [id, shard, credit.reference, creditBody({ connectionId, account, credit }), timestamp(this.#options.clock.now())],
      text: `insert into sandbox_message (id, shard, type, reference, body, due_at) values ($1, $2, 'account.credited', $3, $4, $5)`,
    })
    await client.query(sandboxBookings([{
      id, connectionId, currency: credit.currency, reference: credit.reference, direction: 'CRDT', amount: credit.amount, at: this.#options.clock.now(), code: 'RCDT', text: credit.remittance,
    }]))
  }

  async giveBack(returns: readonly CreditReturn[]): Promise<readonly string[]> {
    const { database, clock } = this.#options
    await database.query({
      name: 'sandbox_give_back',
      text: `insert into sandbox_message (id, shard, type, reference, body, due_at)
        select u.id, u.shard, 'account.credit_returned', u.reference, '{}', $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::smallint[]) u(id, reference, shard)
        on conflict (id) do nothing`,
      values: [
        plainArray(returns.map(({ reference }) => returnId(reference))), plainArray(returns.map(({ reference }) => reference)),
        plainArray(returns.map(({ shard }) => shard)), timestamp(clock.now() + RETURN_MS),
      ],
    })
    const at = clock.now() + RETURN_MS
    await database.query(sandboxBookings(returns.map(({ reference, connectionId, currency, amount }) =>
      ({ id: returnId(reference), connectionId, currency, reference, direction: 'DBIT', amount, at, code: 'RRTN', text: null }))))
    return returns.map(({ reference }) => reference)
  }

  /** Says what is due until nothing more is. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const owned = shards.owned()
      const rows = await database.query<[string, number, CreditMessage['type'], string, string]>({
        name: 'sandbox_messages',
        text: `select id, shard, type, reference, body from sandbox_message
          where due_at <= $1::timestamptz and acknowledged_at is null and ($3::smallint[] is null or shard = any($3)) order by due_at, id limit $2`,
        values: [timestamp(clock.now()), LIMITS.partnerEventsMax, plainArrayOrNull(owned)],
      })
      if (rows.length === 0 || this.#inbox === undefined) return
      const acknowledged = await this.#inbox(rows.map(messageOf))
      await database.query({
        name: 'sandbox_heard', text: 'update sandbox_message set acknowledged_at = $2::timestamptz where id = any($1::uuid[])',
        values: [plainArray(acknowledged), timestamp(clock.now())],
      })
      if (acknowledged.length < rows.length) return
    }
  }
}

interface CreditBody {
  readonly connectionId: string
  /** Null: the bank does not know. */
  readonly account: string | null
  readonly credit: CreditFacts
}

/** A credit as `sandbox_message` keeps it. */
export function creditBody({ credit, ...rest }: CreditBody): string {
  return JSON.stringify({ ...rest, credit: { ...credit, amount: credit.amount.toString() } })
}

function messageOf([id, shard, type, reference, body]: readonly [string, number, CreditMessage['type'], string, string]): CreditMessage {
  if (type === 'account.credit_returned') return { type, id, shard, reference }
  const { connectionId, account, credit } = JSON.parse(body) as CreditBody
  return { type, id, shard, reference, connectionId, account, credit: { ...credit, amount: BigInt(credit.amount) } }
}

/** The bank's id of its message that a credit has gone back: the reference with its last digit mirrored. */
function returnId(reference: string): string {
  return reference.slice(0, -1) + (15 - Number.parseInt(reference.slice(-1), 16)).toString(16)
}

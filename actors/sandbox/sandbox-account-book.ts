/** The sandbox bank's accounts: opened and closed five seconds after they were asked for, in a book of its own (table sandbox_account). */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { sandboxAccounts } from '../../lib/sandbox/accounts.ts'
import type { Database } from '../../storage/db/database.ts'
import type { AccountAnswer, AccountOffer, AccountPartner, AccountRequest } from '../providers/account-partner.ts'

/** How long the bank takes for anything. */
const TAKES_MS = 5_000

interface Entry {
  readonly number: number
  /** Epoch milliseconds. */
  readonly opensAt: number
}

export class SandboxAccountBook implements AccountPartner {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  offers(currency: CurrencyCode): readonly AccountOffer[] {
    return sandboxAccounts(currency, 0)
  }

  async open({ reference, currency, scope }: AccountRequest): Promise<AccountAnswer> {
    const now = this.#clock.now()
    const known = await this.#entry(reference) ?? await this.#enter(reference, now + TAKES_MS)
    const { number, opensAt } = known
    if (now < opensAt) return { kind: 'pending' }
    const terms = sandboxAccounts(currency, number).find((one) => one.scope === scope)
    return terms === undefined ? { kind: 'refused', reason: `The bank keeps no ${scope} accounts in ${currency}.` } : { kind: 'opened', terms }
  }

  async close(reference: string): Promise<boolean> {
    const now = this.#clock.now()
    const [row] = await this.#database.query<[number]>({
      name: 'sandbox_account_close', values: [reference, timestamp(now + TAKES_MS)],
      text: `insert into sandbox_account as a (reference, closes_at) values ($1, $2)
        on conflict (reference) do update set closes_at = coalesce(a.closes_at, excluded.closes_at) returning (extract(epoch from a.closes_at) * 1000)::float8`,
    })
    return now >= row![0]
  }

  async #entry(reference: string): Promise<Entry | null> {
    const [row] = await this.#database.query<[number, number]>({
      name: 'sandbox_account', values: [reference],
      text: 'select number, (extract(epoch from opens_at) * 1000)::float8 from sandbox_account where reference = $1 and number is not null',
    })
    return row === undefined ? null : { number: row[0], opensAt: row[1] }
  }

  /** Asked for at the same moment twice, the first one counts. */
  async #enter(reference: string, opensAt: number): Promise<Entry> {
    await this.#database.query({
      name: 'sandbox_account_open', values: [reference, timestamp(opensAt)],
      text: `insert into sandbox_account (reference, number, opens_at) values ($1, nextval('sandbox_account_number'), $2) on conflict (reference) do nothing`,
    })
    const entry = await this.#entry(reference)
    if (entry === null) throw new Error(`The account ${reference} was closed before it was opened.`)
    return entry
  }
}

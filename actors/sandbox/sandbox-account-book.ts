/**
 * The sandbox bank's accounts: opened and closed five seconds after the request, in a book of its own (table
 * sandbox_account).
 */
import type { Clock } from '../../lib/base/clock.ts'
import { ACCOUNT_MS, sandboxAccounts } from '../../lib/sandbox/accounts.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  closeSandboxAccount,
  findSandboxAccount,
  insertSandboxAccount,
  type SandboxAccountEntry,
} from '../../storage/sandbox/sandbox-accounts.ts'
import type { AccountAnswer, AccountPartner, AccountRequest } from '../providers/account-partner.ts'

export class SandboxAccountBook implements Pick<AccountPartner, 'open' | 'close'> {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async open({ reference, currency, scope }: AccountRequest): Promise<AccountAnswer> {
    const now = this.#clock.now()
    const known =
      (await findSandboxAccount(this.#database, reference)) ?? (await this.#enter(reference, now + ACCOUNT_MS))
    const { number, opensAt } = known
    if (now < opensAt) return { kind: 'pending' }
    const terms = sandboxAccounts(currency, number).find((one) => one.scope === scope)
    return terms === undefined
      ? { kind: 'refused', reason: `The bank keeps no ${scope} accounts in ${currency}.` }
      : { kind: 'opened', terms }
  }

  async close({ reference }: Pick<AccountRequest, 'reference'>): Promise<boolean> {
    const now = this.#clock.now()
    return now >= (await closeSandboxAccount(this.#database, reference, now + ACCOUNT_MS))
  }

  /** Opens an account. When two requests open one at the same moment, the first counts. */
  async #enter(reference: string, opensAt: number): Promise<SandboxAccountEntry> {
    await insertSandboxAccount(this.#database, reference, opensAt)
    const entry = await findSandboxAccount(this.#database, reference)
    if (entry === null) throw new Error(`The account ${reference} was closed before it was opened.`)
    return entry
  }
}

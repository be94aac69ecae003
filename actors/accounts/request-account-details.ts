/** Requests the account details of a balance: an account at the partner bank, for some rails. */
import type { AccountDetailsJson } from '../../lib/accounts/details.ts'
import { scopeOf, standingOf } from '../../lib/accounts/requests.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { refuse, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { accountDetailsOf } from '../../storage/accounts/account-details.ts'
import { insertDetailsRequest, lockDetails } from '../../storage/accounts/account-requests.ts'
import { lockOneBalance, setDetailsStatus } from '../../storage/balances/balance-changes.ts'
import { providerOfConnection } from '../../storage/providers/provider-connections.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { AccountDetailsRequest } from '../../lib/balances/balance-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { through } from '../../storage/db/transaction.ts'
import { recordChange } from '../commands/changes.ts'
import { runOnce } from '../commands/run-once.ts'
import type { BalanceDeps } from './balance-record.ts'

/**
 * Requests details for rails that the partner bank offers in the currency.
 *
 * @throws ProblemError `not-found`, `validation-error`, `invalid-transition`
 */
export async function requestAccountDetails(
  deps: BalanceDeps,
  by: Caller<'person'>,
  balanceId: string,
  { body, idempotency }: Command<AccountDetailsRequest>,
): Promise<CommandAnswer<AccountDetailsJson, 202>> {
  const { rails } = body
  return await runOnce(deps, idempotency, 202, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const { now } = tx
    const id = deps.ids.next()
    const balance = (await lockOneBalance(client, by.tenant.id, balanceId)) ?? refuseNotFound()
    const provider = (await providerOfConnection(client, balance.connectionId)) ?? ''
    const offer = scopeOf(rails, deps.accountPartner.offers(provider, balance.currency as CurrencyCode))
    if ('field' in offer) refuse('validation-error', offer.message, { errors: [offer] })
    if (balance.status !== 'active') refuseTransition(`The balance is ${balance.status}.`, balance.status, ['active'])
    const known = await lockDetails(client, balanceId)
    if (known.some(({ scope, status }) => scope === offer.scope && status === 'pending')) {
      refuseTransition('Details of this kind were already requested and are pending.', 'pending', [
        'active',
        'failed',
        'closed',
      ])
    }
    await insertDetailsRequest(client, {
      id,
      balanceId,
      scope: offer.scope,
      rails: offer.rails.filter((rail) => rails.includes(rail)),
      now,
    })
    await setDetailsStatus(client, balanceId, standingOf([...known, { status: 'pending' }]), now)
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'account_details.requested',
      object: { type: 'account_details', id },
      before: null,
      after: { balanceId, rails },
    })
    const shown = (await accountDetailsOf(through(client), [balanceId])).get(balanceId)
    return shown?.find((details) => details.id === id) ?? refuseNotFound()
  })
}

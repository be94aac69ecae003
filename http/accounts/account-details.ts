/** Account details of balances, to which payers send money. */
import { json } from '../route/answer.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { route } from '../route/route.ts'
import { AccountDetails, AccountDetailsQuery } from '../../lib/accounts/account-details-schema.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'

export const getBalanceAccountDetails = route({
  method: 'get',
  path: '/balances/{balanceId}/details',
  operationId: 'getBalanceAccountDetails',
  tag: 'accounts',
  summary: 'Read the account details of a balance',
  description:
    "Lists the details for payers in the currency's own country before those for payers abroad. The answer " +
    'contains all rows.',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'customer',
  idempotency: 'none',
  query: AccountDetailsQuery,
  success: {
    status: 200,
    description: 'All account details of the balance.',
    schema: PageOf('AccountDetailsPage', AccountDetails),
  },
  problems: [],
  handle: async ({ tenant, params, query }, { accounts }) => {
    const details = await accounts.getAccountDetails(tenant, params.balanceId)
    if (details === null) refuseNotFound()
    const { rail } = query
    const data =
      rail === undefined ? details : details.filter(({ rails }) => (rails as readonly string[]).includes(rail))
    return json(200, { data, page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX } })
  },
})

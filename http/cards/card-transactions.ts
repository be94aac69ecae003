/** Card transactions. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { CardTransaction, cardTransactionList } from '../../lib/cards/card-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const READ = {
  method: 'get',
  tag: 'activity',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  feature: 'cards',
  idempotency: 'none',
} as const

export const listCardTransactions = route({
  ...READ,
  path: '/card-transactions',
  operationId: 'listCardTransactions',
  summary: 'List card transactions',
  description: 'Each purchase, withdrawal and refund once, with all that the network has told about it.',
  list: cardTransactionList,
  success: {
    status: 200,
    description: 'A page of card transactions.',
    schema: PageOf('CardTransactionPage', CardTransaction),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { cards }) => page(list, await cards.listTransactions(list)),
})

export const getCardTransaction = route({
  ...READ,
  path: '/card-transactions/{cardTransactionId}',
  operationId: 'getCardTransaction',
  summary: 'Read a card transaction',
  success: { status: 200, description: 'The card transaction.', schema: CardTransaction, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { cards }) =>
    resource(await cards.getTransaction(tenant, params.cardTransactionId)),
})

/** Transfers between balances of one customer. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { Transfer, TransferCreate, transferList } from '../../lib/transfers/transfer-schema.ts'

export const listTransfers = route({
  method: 'get',
  path: '/transfers',
  operationId: 'listTransfers',
  tag: 'payments',
  summary: 'List transfers',
  description: '`filter[balanceId]` finds transfers from and to the balance.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  list: transferList,
  success: { status: 200, description: 'A page of transfers.', schema: PageOf('TransferPage', Transfer), etag: true },
  problems: [],
  handle: async ({ list }, { transfers }) => page(list, await transfers.listTransfers(list)),
})

export const createTransfer = route({
  method: 'post',
  path: '/transfers',
  operationId: 'createTransfer',
  money: 'move',
  tag: 'payments',
  summary: 'Move money between two balances of the same currency',
  description:
    'A transfer between balances at one bank is complete at once. Between two banks it is `processing` until ' +
    'the money has moved.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'required',
  limits: ['money'],
  body: TransferCreate,
  success: {
    status: 201,
    description: 'The transfer as it was created.',
    schema: Transfer,
    etag: true,
    location: true,
  },
  problems: ['insufficient-funds', 'duplicate-external-id', 'limit-exceeded'],
  handle: ({ command }, { transfers }) => transfers.createTransfer(command),
})

export const getTransfer = route({
  method: 'get',
  path: '/transfers/{transferId}',
  operationId: 'getTransfer',
  tag: 'payments',
  summary: 'Read a transfer',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The transfer.', schema: Transfer, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { transfers }) => resource(await transfers.getTransfer(tenant, params.transferId)),
})

/** Recipients. */
import { page, resource } from '../answer.ts'
import { route } from '../route.ts'
import { PageOf } from '../schemas/page.ts'
import { Recipient, recipientList } from '../schemas/recipient.ts'

export const listRecipients = route({
  method: 'get',
  path: '/recipients',
  operationId: 'listRecipients',
  tag: 'recipients',
  summary: 'List recipients',
  description: 'Account identifiers are masked here; read one recipient for the full ones.',
  callers: 'key',
  scope: 'recipients:read',
  tenant: 'customer',
  idempotency: 'none',
  list: recipientList,
  success: { status: 200, description: 'A page of recipients.', schema: PageOf('RecipientPage', Recipient), etag: true },
  problems: [],
  handle: async ({ list }, { queries }) => page(list, await queries.listRecipients(list)),
})

export const getRecipient = route({
  method: 'get',
  path: '/recipients/{recipientId}',
  operationId: 'getRecipient',
  tag: 'recipients',
  summary: 'Read a recipient with full account identifiers',
  callers: 'key',
  scope: 'recipients:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The recipient.', schema: Recipient, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { queries }) => resource(await queries.getRecipient(tenant, params.recipientId)),
})

/** Recipients. */
import { requirementsOf, currencyFault } from '../../lib/recipients/requirements.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { isCountry } from '../../lib/recipients/iban.ts'
import { refuse } from '../../lib/base/problems.ts'
import { empty, json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  Recipient,
  RecipientApproval,
  RecipientCreate,
  recipientList,
  RecipientRequirements,
  RecipientUpdate,
  RecipientVerification,
  RequirementsQuery,
} from '../../lib/recipients/recipient-schema.ts'

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
  success: {
    status: 200,
    description: 'A page of recipients.',
    schema: PageOf('RecipientPage', Recipient),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { recipients }) => page(list, await recipients.listRecipients(list)),
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
  handle: async ({ tenant, params }, { recipients }) =>
    resource(await recipients.getRecipient(tenant, params.recipientId)),
})

export const createRecipient = route({
  method: 'post',
  path: '/recipients',
  operationId: 'createRecipient',
  money: 'prepare',
  tag: 'recipients',
  summary: 'Create a recipient',
  description:
    'The required members depend on the currency and the country of the bank: read the requirements first. ' +
    'Where banks check account names, the name is checked; a name that does not match is refused unless the ' +
    'request accepts the outcome. A recipient made with an API key always waits for the approval of a ' +
    "person, any other recipient when the customer's policy requires approval.",
  callers: 'key',
  scope: 'recipients:write',
  tenant: 'customer',
  idempotency: 'required',
  stepUp: { action: 'recipient.create' },
  limits: ['verify'],
  body: RecipientCreate,
  success: {
    status: 201,
    description: 'The recipient as it was created.',
    schema: Recipient,
    etag: true,
    location: true,
  },
  problems: ['duplicate-recipient', 'duplicate-external-id', 'limit-reached', 'verification-mismatch'],
  handle: ({ caller, command }, { recipients }) => recipients.create(caller, command),
})

export const updateRecipient = route({
  method: 'patch',
  path: '/recipients/{recipientId}',
  operationId: 'updateRecipient',
  money: 'prepare',
  tag: 'recipients',
  summary: 'Change a recipient',
  description:
    'A new name, type, address or account is reviewed like a new recipient. The recipient cannot be paid ' +
    'during the review, and payments to it that wait for approval are cancelled.',
  callers: 'key',
  scope: 'recipients:write',
  tenant: 'customer',
  idempotency: 'none',
  stepUp: { action: 'recipient.update', subject: 'recipientId' },
  ifMatch: true,
  current: async ({ tenant, params }, { recipients }) =>
    tenant === null ? null : await recipients.getRecipient(tenant, params.recipientId),
  limits: ['verify'],
  body: RecipientUpdate,
  success: { status: 200, description: 'The recipient as it is now.', schema: Recipient, etag: true },
  problems: ['invalid-transition', 'duplicate-recipient', 'duplicate-external-id', 'verification-mismatch'],
  handle: async ({ caller, params, body, expectedVersion }, { recipients }) =>
    resource(await recipients.update(caller, params.recipientId, body, expectedVersion)),
})

export const deleteRecipient = route({
  method: 'delete',
  path: '/recipients/{recipientId}',
  operationId: 'deleteRecipient',
  tag: 'recipients',
  summary: 'Remove a recipient',
  description:
    'Refused while payments under way or scheduled payments use the recipient. A deleted recipient is listed ' +
    'only with `filter[status]=deleted`.',
  callers: 'key',
  scope: 'recipients:write',
  tenant: 'customer',
  idempotency: 'none',
  ifMatch: true,
  current: async ({ tenant, params }, { recipients }) =>
    tenant === null ? null : await recipients.getRecipient(tenant, params.recipientId),
  success: { status: 204, description: 'The recipient can no longer be paid.' },
  problems: ['recipient-in-use'],
  handle: async ({ caller, params, expectedVersion }, { recipients }) => {
    await recipients.remove(caller, params.recipientId, expectedVersion)
    return empty()
  },
})

export const getRecipientApproval = route({
  method: 'get',
  path: '/recipients/{recipientId}/approval',
  operationId: 'getRecipientApproval',
  tag: 'recipients',
  summary: 'Read the review of a recipient',
  callers: 'key',
  scope: 'recipients:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The last review of the recipient.', schema: RecipientApproval, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { recipients }) => {
    const found = await recipients.getRecipient(tenant, params.recipientId)
    if (found === null) return resource(null)
    const { approval } = found.view
    if (approval === null) refuse('not-found', 'The recipient needed no review.')
    return resource({ version: found.version, view: approval })
  },
})

export const verifyRecipient = route({
  method: 'post',
  path: '/recipients/{recipientId}/verify',
  operationId: 'verifyRecipient',
  money: 'prepare',
  tag: 'recipients',
  summary: 'Check the name of a recipient with its bank',
  description:
    'Confirmation of Payee for pounds in the United Kingdom, Verification of Payee for euros in the SEPA countries.',
  callers: 'key',
  scope: 'recipients:write',
  tenant: 'customer',
  idempotency: 'none',
  limits: ['verify'],
  success: { status: 200, description: 'The outcome of the name check.', schema: RecipientVerification },
  problems: ['not-found', 'verification-unavailable'],
  handle: async ({ caller, params }, { recipients }) => json(200, await recipients.verify(caller, params.recipientId)),
})

export const getRecipientRequirements = route({
  method: 'get',
  path: '/recipients/requirements',
  operationId: 'getRecipientRequirements',
  tag: 'recipients',
  summary: 'Read the requirements for recipients',
  description: 'The requirements are for a currency and the country of the bank. The same rules check new recipients.',
  callers: 'key',
  scope: 'recipients:read',
  tenant: 'customer',
  idempotency: 'none',
  query: RequirementsQuery,
  success: {
    status: 200,
    description: 'The requirements of every rail that reaches the country’s banks.',
    schema: RecipientRequirements,
    etag: true,
  },
  problems: ['validation-error'],
  handle: async ({ tenant, query: { currency, country, type = null } }, { operators }) => {
    const fault = currencyFault(currency)
    if (fault !== null)
      refuse(fault.code === 'currency_withdrawn' ? 'validation-error' : 'malformed-request', fault.message, {
        errors: [{ field: 'query.currency', ...fault }],
      })
    const message = 'Is no country of ISO 3166.'
    if (!isCountry(country))
      refuse('malformed-request', message, { errors: [{ field: 'query.country', code: 'invalid_value', message }] })
    const requirements = requirementsOf(
      { currency: currency as CurrencyCode, country, type },
      await operators.railLimits(tenant.id),
    )
    return { ...json(200, requirements), etag: `W/"${requirements.version}"` }
  },
})

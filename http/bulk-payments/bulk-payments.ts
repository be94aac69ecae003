/** Bulk payments: files of payments, and their rows. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  BulkPayment,
  BulkPaymentCreate,
  BulkPaymentRow,
  bulkPaymentList,
  BulkPaymentUpload,
  bulkRowList,
} from '../../lib/bulk-payments/bulk-payment-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const FEATURE = 'payments.bulk'
/** Size of a JSON body with payment rows: enough for a thousand usual rows. */
const JSON_BYTES_MAX = 2 * 1024 * 1024

export const listBulkPayments = route({
  method: 'get',
  path: '/bulk-payments',
  operationId: 'listBulkPayments',
  tag: 'payments',
  summary: 'List bulk payments',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  list: bulkPaymentList,
  success: {
    status: 200,
    description: 'A page of bulk payments.',
    schema: PageOf('BulkPaymentPage', BulkPayment),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { bulkPayments }) => page(list, await bulkPayments.list(list)),
})

export const getBulkPayment = route({
  method: 'get',
  path: '/bulk-payments/{bulkPaymentId}',
  operationId: 'getBulkPayment',
  tag: 'payments',
  summary: 'Read a bulk payment',
  description: 'Its counts move while it is read and while it is submitted, so this is what to ask until it is over.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  success: { status: 200, description: 'The bulk payment.', schema: BulkPayment, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { bulkPayments }) =>
    resource(await bulkPayments.get(tenant, params.bulkPaymentId)),
})

export const listBulkPaymentRows = route({
  method: 'get',
  path: '/bulk-payments/{bulkPaymentId}/rows',
  operationId: 'listBulkPaymentRows',
  tag: 'payments',
  summary: 'List the rows of a bulk payment',
  description:
    'Each with what was found wrong or odd about it, and with the payment that was made of it. `filter[errorCode]` finds codes of errors and of failures.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  list: bulkRowList,
  success: {
    status: 200,
    description: 'A page of rows.',
    schema: PageOf('BulkPaymentRowPage', BulkPaymentRow),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { bulkPayments }) =>
    page(list, await bulkPayments.rows({ ...list, bulkPaymentId: params.bulkPaymentId })),
})

export const createBulkPayment = route({
  method: 'post',
  path: '/bulk-payments',
  operationId: 'createBulkPayment',
  tag: 'payments',
  summary: 'Send in a file of payments',
  description:
    'CSV, XLSX, pain.001.001.03 or pain.001.001.09 of up to 64 MiB and 100 000 rows as `multipart/form-data`, or up to 1 000 rows as JSON with the names of the columns in camelCase. A job checks every row as the payment that it would be; nothing is paid before it is submitted. What was sent in during the last 24 hours, or as a message of the same MsgId during the last 90 days, is refused unless `allowDuplicate` says otherwise.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'required',
  limits: ['upload'],
  form: BulkPaymentUpload,
  body: BulkPaymentCreate,
  bodyBytesMax: JSON_BYTES_MAX,
  success: {
    status: 202,
    description: 'The bulk payment; `jobId` is the job that checks its rows.',
    schema: BulkPayment,
    etag: true,
    location: true,
  },
  problems: ['duplicate-file'],
  handle: ({ caller, command, upload }, { bulkPayments }) =>
    upload === null ? bulkPayments.create(caller, command) : bulkPayments.upload(caller, command, upload),
})

export const revalidateBulkPayment = route({
  method: 'post',
  path: '/bulk-payments/{bulkPaymentId}/revalidate',
  operationId: 'revalidateBulkPayment',
  tag: 'payments',
  summary: 'Check the rows of a bulk payment again',
  description: 'Before it is submitted: recipients may have been approved since, balances opened, limits raised.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  success: {
    status: 202,
    description: 'The bulk payment, whose rows are being checked.',
    schema: BulkPayment,
    etag: true,
  },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { bulkPayments }) =>
    resource(await bulkPayments.revalidate(caller, params.bulkPaymentId), 202),
})

export const cancelBulkPayment = route({
  method: 'post',
  path: '/bulk-payments/{bulkPaymentId}/cancel',
  operationId: 'cancelBulkPayment',
  tag: 'payments',
  summary: 'Cancel a bulk payment',
  description:
    'Before it is submitted, or when its submission has stood still for two minutes. Payments that were made stay.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'optional',
  success: {
    status: 200,
    description: 'The bulk payment, cancelled, or ended with what was made of it.',
    schema: BulkPayment,
  },
  problems: ['not-found', 'not-cancellable'],
  handle: ({ caller, params, command }, { bulkPayments }) =>
    bulkPayments.cancel(caller, params.bulkPaymentId, command.idempotency),
})

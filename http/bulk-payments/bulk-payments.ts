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
  description:
    'The counts change while the file is validated and while it is submitted: poll this operation until both ' +
    'have ended.',
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
    'Each row has its errors, its warnings and its payment. `filter[errorCode]` finds codes of errors and of failures.',
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
  money: 'pay',
  tag: 'payments',
  summary: 'Upload a file of payments',
  description:
    'CSV, XLSX, pain.001.001.03 or pain.001.001.09 of up to 64 MiB and 100 000 rows as ' +
    '`multipart/form-data`, or up to 1 000 rows as JSON with the names of the columns in camelCase. A job ' +
    'checks every row like a new payment; nothing is paid before the bulk payment is submitted. Without ' +
    '`allowDuplicate`, a file with the content of an upload of the last 24 hours, or with the MsgId of an ' +
    'upload of the last 90 days, is refused. With the format `mandates_csv` or `collections_csv` the rows become ' +
    'mandates or collections.',
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
  summary: 'Validate the rows of a bulk payment again',
  description:
    'Possible before the submission, for example after recipients were approved, balances were opened or ' +
    'limits were raised.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'optional',
  success: {
    status: 202,
    description: 'The bulk payment, whose rows are being validated.',
    schema: BulkPayment,
    etag: true,
  },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { bulkPayments }) =>
    bulkPayments.revalidate(caller, params.bulkPaymentId, command.idempotency),
})

export const cancelBulkPayment = route({
  method: 'post',
  path: '/bulk-payments/{bulkPaymentId}/cancel',
  operationId: 'cancelBulkPayment',
  tag: 'payments',
  summary: 'Cancel a bulk payment',
  description:
    'A bulk payment can be cancelled before it is submitted, or when its submission has made no progress for ' +
    'two minutes. Payments already created stay.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'optional',
  success: {
    status: 200,
    description: 'The cancelled bulk payment; `partially_submitted` when some of its payments exist.',
    schema: BulkPayment,
  },
  problems: ['not-found', 'not-cancellable'],
  handle: ({ caller, params, command }, { bulkPayments }) =>
    bulkPayments.cancel(caller, params.bulkPaymentId, command.idempotency),
})

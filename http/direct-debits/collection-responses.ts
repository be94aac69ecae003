/** Answers of banks about direct debits: staff upload a file, look at its preview, and another person has it applied. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  CollectionResponseUpload,
  DebitResponse,
  DebitResponseLine,
  debitResponseLineList,
  debitResponseList,
} from '../../lib/direct-debits/files/debit-response-schema.ts'
import { Job } from '../../lib/jobs/job-schema.ts'

const STAFF = {
  tag: 'payments',
  callers: 'staff',
  capability: 'operations.manage',
  scope: null,
  tenant: 'operator',
  feature: 'payments.direct_debits',
} as const

export const uploadCollectionResponse = route({
  ...STAFF,
  method: 'post',
  path: '/collection-files/responses',
  operationId: 'uploadCollectionResponse',
  summary: 'Upload the answer of a bank',
  description:
    'The file is read at once, and nothing changes: its lines show what each would do. A file that is cut off, whose ' +
    'sums are wrong, or that names nothing of this operator is refused, and one that was taken before is `duplicate-file`.',
  idempotency: 'optional',
  limits: ['upload'],
  form: CollectionResponseUpload,
  success: {
    status: 202,
    description: 'The job with the counts of the preview.',
    schema: Job,
    etag: true,
    location: true,
  },
  problems: ['duplicate-file'],
  handle: ({ caller, command, upload }, { collectionResponses }) =>
    collectionResponses.upload(caller, command, upload!),
})

export const applyCollectionResponse = route({
  ...STAFF,
  method: 'post',
  path: '/collection-files/responses/{jobId}/apply',
  operationId: 'applyCollectionResponse',
  summary: 'Apply the answer of a bank',
  description: 'For another person than the one who uploaded it. A job applies the lines, each once.',
  idempotency: 'optional',
  success: { status: 200, description: 'The answer, which is being applied.', schema: DebitResponse, etag: true },
  problems: ['invalid-transition'],
  handle: ({ caller, command, params }, { collectionResponses }) =>
    collectionResponses.apply(caller, params.jobId, command),
})

export const listCollectionResponses = route({
  ...STAFF,
  method: 'get',
  path: '/collection-files/responses',
  operationId: 'listCollectionResponses',
  summary: 'List answers of banks',
  idempotency: 'none',
  list: debitResponseList,
  success: {
    status: 200,
    description: 'A page of answers.',
    schema: PageOf('DebitResponsePage', DebitResponse),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { collectionResponses }) => page(list, await collectionResponses.list(list)),
})

export const getCollectionResponse = route({
  ...STAFF,
  method: 'get',
  path: '/collection-files/responses/{jobId}',
  operationId: 'getCollectionResponse',
  summary: 'Read the answer of a bank',
  idempotency: 'none',
  success: {
    status: 200,
    description: 'The answer with the counts of its preview.',
    schema: DebitResponse,
    etag: true,
  },
  problems: [],
  handle: async ({ tenant, params }, { collectionResponses }) =>
    resource(await collectionResponses.get(tenant, params.jobId)),
})

export const listCollectionResponseLines = route({
  ...STAFF,
  method: 'get',
  path: '/collection-files/responses/{jobId}/lines',
  operationId: 'listCollectionResponseLines',
  summary: 'List the lines of an answer',
  description: 'The preview: for each line what it is about, and the status before and after it.',
  idempotency: 'none',
  list: debitResponseLineList,
  success: {
    status: 200,
    description: 'A page of lines, in the order of the file.',
    schema: PageOf('DebitResponseLinePage', DebitResponseLine),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { collectionResponses }) =>
    page(list, await collectionResponses.lines(list, params.jobId)),
})

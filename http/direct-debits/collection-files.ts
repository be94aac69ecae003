/** Files of direct debits for staff, who download them for banks. */
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { CollectionFile, collectionFileList } from '../../lib/direct-debits/files/collection-file-schema.ts'

const STAFF = {
  tag: 'payments',
  callers: 'staff',
  capability: 'operations.manage',
  scope: null,
  tenant: 'operator',
  feature: 'payments.direct_debits',
} as const

export const listCollectionFiles = route({
  ...STAFF,
  method: 'get',
  path: '/collection-files',
  operationId: 'listCollectionFiles',
  summary: 'List files of collections',
  description:
    'A file holds the collections of one connection, scheme, sequence, due date and creditor; it is made half an hour ' +
    'before the cut-off. Files are pain.008.001.08, or Standard 18 for Bacs.',
  idempotency: 'none',
  list: collectionFileList,
  success: {
    status: 200,
    description: 'A page of files.',
    schema: PageOf('CollectionFilePage', CollectionFile),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { collectionFiles }) => page(list, await collectionFiles.list(list)),
})

export const getCollectionFile = route({
  ...STAFF,
  method: 'get',
  path: '/collection-files/{fileId}',
  operationId: 'getCollectionFile',
  summary: 'Read a file of collections',
  idempotency: 'none',
  success: { status: 200, description: 'The file.', schema: CollectionFile, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { collectionFiles }) => resource(await collectionFiles.get(tenant, params.fileId)),
})

export const downloadCollectionFile = route({
  ...STAFF,
  method: 'get',
  path: '/collection-files/{fileId}/download',
  operationId: 'downloadCollectionFile',
  summary: 'Download a file of collections',
  description: 'Answers with a link to the bytes; the file is `downloaded` when the link was asked for.',
  idempotency: 'none',
  success: { status: 200, description: 'A link to the file.', schema: DownloadLink },
  problems: ['not-found'],
  handle: async ({ caller, params }, { collectionFiles }) =>
    json(200, await collectionFiles.download(caller, params.fileId)),
})

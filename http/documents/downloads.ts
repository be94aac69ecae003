/** Downloads of files by a signed link, without a credential. */
import { route } from '../route/route.ts'

export const downloadFile = route({
  method: 'get',
  path: '/downloads/{token}',
  operationId: 'downloadFile',
  tag: 'activity',
  summary: 'Download a file by its link',
  description: 'The target of download links. A link needs no credentials and expires soon; request a new link then.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The file.', contentType: '*/*', etag: true },
  problems: ['not-found', 'link-expired'],
  handle: async ({ params }, { downloads }) => await downloads.open(params.token),
})

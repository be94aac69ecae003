/** Uploads, for tests: forms of one file, as a browser sends them. */
import type { World } from '../../support/world.ts'
import { Reply } from '../../support/client.ts'

/** The first bytes that make a file what it is, and something behind them. */
export const PDF = Buffer.from('%PDF-1.4\n1 0 obj\n<< >>\nendobj\n%%EOF\n')
export const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(40, 7)])
export const CSV = Buffer.from('name;amount\nŁódź;12,50\n')

export interface Form {
  readonly bytes?: Uint8Array
  readonly fileName?: string
  readonly type?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** The credentials of a caller. */
export interface Caller {
  readonly token: string
  readonly tenantId: string
}

/** Posts a form. */
export async function upload<Body>(
  world: World,
  { token, tenantId }: Caller,
  path: string,
  { bytes, fileName = 'invoice.pdf', type = 'application/pdf', fields = {} }: Form,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply<Body>> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  if (bytes !== undefined) form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), fileName)
  const response = await fetch(`${world.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-tenant-id': tenantId, ...headers },
    body: form,
  })
  return new Reply<Body>(response.status, response.headers, await response.text())
}

/** The parts that tests of bulk payments share: they upload files and wait for them. */
import { randomUUID } from 'node:crypto'
import type { BulkPayment, BulkPaymentRow } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Client, PageBody, Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export interface UploadOptions {
  readonly fileName?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly key?: string | null
}

/** The form of a file, as a browser sends it. */
export async function formOf(
  content: string | Uint8Array,
  { fileName = 'payments.csv', fields = {} }: Pick<UploadOptions, 'fileName' | 'fields'> = {},
): Promise<{ readonly type: string; readonly body: Uint8Array }> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), fileName)
  const written = new Response(form)
  return { type: written.headers.get('content-type')!, body: new Uint8Array(await written.arrayBuffer()) }
}

/** Sends a file in. */
export async function sendFile(
  client: Client,
  content: string | Uint8Array,
  { key = randomUUID(), ...options }: UploadOptions = {},
): Promise<Reply<BulkPayment>> {
  const { type, body } = await formOf(content, options)
  return await client.send<BulkPayment>('/v1/bulk-payments', {
    method: 'POST',
    headers: { 'content-type': type, ...(key === null ? {} : { 'idempotency-key': key }) },
    body,
  })
}

/** Sends rows in. */
export const sendRows = (client: Client, body: object, key = randomUUID()): Promise<Reply<BulkPayment>> =>
  client.post<BulkPayment>('/bulk-payments', body, key)

export const readBulk = async (client: Client, id: string): Promise<BulkPayment> =>
  (await client.get<BulkPayment>(`/bulk-payments/${id}`)).body

/** Waits until all rows of a bulk payment have been looked at. */
export const validated = (client: Client, { id }: Pick<BulkPayment, 'id'>): Promise<BulkPayment> =>
  until(`the validation of ${id}`, async () => {
    const bulk = await readBulk(client, id)
    return bulk.status === 'validating' ? null : bulk
  })

/** Sends a file in and waits until its rows have been looked at. @throws when it is not taken */
export const uploaded = async (
  client: Client,
  content: string | Uint8Array,
  options?: UploadOptions,
): Promise<BulkPayment> => await validated(client, (await sendFile(client, content, options)).body)

/** All rows, page by page. */
export async function rowsOf(
  client: Client,
  { id }: Pick<BulkPayment, 'id'>,
  query: Readonly<Record<string, string | number>> = {},
): Promise<BulkPaymentRow[]> {
  const rows: BulkPaymentRow[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: Reply<PageBody<BulkPaymentRow>> = await client.list<BulkPaymentRow>(`/bulk-payments/${id}/rows`, {
      limit: 100,
      ...query,
      ...(cursor === '' ? {} : { cursor }),
    })
    rows.push(...body.data)
    cursor = body.page.nextCursor
  }
  return rows
}

/** The faults of each row: `column code`. */
export const faults = (rows: readonly BulkPaymentRow[]): string[][] =>
  rows.map(({ errors }) => errors.map(({ column, code }) => `${column} ${code}`))

/** A table as CSV, without quotes. */
export const table = (...lines: readonly (readonly string[])[]): string =>
  lines.map((cells) => cells.join(',')).join('\n')

/** Recipients of these names, in the order in which they were made. */
export const recipientsMade = (
  world: World,
  names: readonly string[],
): Promise<{ readonly id: string; readonly name: string; readonly status: string; readonly email: string | null }[]> =>
  world.query('select id, name, status, email from recipient where name = any($1::text[]) order by id', [names])

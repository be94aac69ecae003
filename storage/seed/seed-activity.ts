/**
 * Seeds the objects of a sandbox that keys cannot add: an annotation and a clean file on its opening credit in euro.
 */
import type { DocumentRecord } from '../../lib/documents/document.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { insertAnnotation } from '../transactions/annotations.ts'
import { countAttachment, insertDocument } from '../documents/documents.ts'
import { keepFile, writeFile } from '../documents/files.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { makeTransactions } from '../transactions/make-transactions.ts'

const FILE_NAME = 'opening-balance.pdf'
const TEXT = 'Opening balance of the sandbox, credited by its operator.'

/** Writes both, in the transaction of the seed. `author` is the user shown as their author. */
export async function seedActivity(
  { client, ids, now }: { readonly client: TransactionClient; readonly ids: IdSource; readonly now: number },
  {
    customerId,
    balanceId,
    author,
  }: {
    readonly customerId: string
    readonly balanceId: string
    readonly author: { readonly id: string; readonly name: string }
  },
): Promise<void> {
  const {
    rows: [credit],
  } = await client.query<{ id: string }>('select id from incoming_payment where balance_id = $1 order by id limit 1', [
    balanceId,
  ])
  if (credit === undefined) return
  const { id: transactionId } = credit
  await makeTransactions(client, [transactionId])
  await insertAnnotation(client, customerId, {
    id: ids.next(),
    transactionId,
    text: TEXT,
    author,
    version: 1n,
    createdAt: now,
    updatedAt: now,
  })
  const query = async <Row extends unknown[]>(statement: {
    readonly name: string
    readonly text: string
    readonly values: unknown[]
  }): Promise<Row[]> => (await client.query({ ...statement, rowMode: 'array' })).rows as unknown as Row[]
  const pdf = page('Opening balance', TEXT)
  const file = await writeFile(
    { query },
    (async function* () {
      yield pdf
    })(),
    {
      id: ids.next(),
      tenantId: customerId,
      fileName: FILE_NAME,
      contentType: 'application/pdf',
      maxBytes: pdf.byteLength,
      now,
    },
  )
  await keepFile(client, file.id, null)
  await countAttachment(client, customerId, transactionId, 1)
  const record: DocumentRecord = {
    id: ids.next(),
    customerId,
    transactionId,
    purpose: null,
    fileId: file.id,
    fileName: file.fileName,
    contentType: file.contentType,
    sizeBytes: file.sizeBytes,
    sha256: file.sha256,
    status: 'clean',
    createdBy: author.id,
    createdByName: author.name,
    version: 1n,
    createdAt: now,
  }
  await insertDocument(client, { ...record, shard: shardOf(customerId), scanDueAt: null })
}

/** Builds a minimal PDF of one page with a title and a line, both in ASCII letters. */
function page(title: string, line: string): Buffer {
  const content = `BT /F1 20 Tf 72 770 Td (${title}) Tj /F1 11 Tf 0 -30 Td (${line}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const xref = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')}`
  return Buffer.from(
    `${text}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`,
    'latin1',
  )
}

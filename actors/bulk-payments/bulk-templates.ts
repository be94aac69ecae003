/** The templates of bulk payments: an empty table with the columns of a file. */
import type { TemplateFormat } from '../../lib/bulk-payments/formats.ts'
import { TEMPLATES } from '../../lib/bulk-payments/template.ts'
import { FORMATS } from '../../lib/statements/statement.ts'
import type { DocumentPool } from '../../workers/documents/pool.ts'
import { contentDisposition } from '../../lib/documents/file-name.ts'
import { resourceETag } from '../../lib/commands/etag.ts'
import { type Answer, type FileBytes, showing } from '../../lib/commands/answer.ts'

/** Writes a template as an answer. */
export async function writeTemplate(
  { documents }: { readonly documents: DocumentPool },
  format: TemplateFormat,
): Promise<Answer<FileBytes, 200>> {
  const { name, sheetName, file, columns, rows } = TEMPLATES[format]
  using stream = documents.open({
    kind: 'table',
    format: file,
    sheetName,
    columns,
    style: { timezone: 'UTC', decimalSeparator: '.' },
    createdAt: 0,
  })
  const gained = [...(await stream.write(rows)), ...(await stream.end())]
  const body = Buffer.concat(gained)
  return showing({
    status: 200,
    body,
    contentType: FORMATS[file].contentType,
    etag: resourceETag(1, body),
    headers: ['Content-Disposition', contentDisposition(`${name}.${file}`)],
  })
}

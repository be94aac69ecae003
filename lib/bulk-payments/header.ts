/** The header of a table: which column each of its cells names. */
import {
  columnName,
  columnNamed,
  METADATA_COLUMNS_MAX,
  PAYMENT_TABLE,
  type BulkTable,
  type CellTarget,
} from './columns.ts'
import { BulkFileError, type FileError } from './file-error.ts'

/** Names from the file are cut to this length in messages, because any sender can put any text there. */
const SHOWN_MAX = 40

/**
 * Reads the header of a table.
 *
 * @param line the line of the header in the file
 * @throws BulkFileError with every fault of the header
 */
export function readHeader(
  cells: readonly string[],
  line: number,
  table: BulkTable = PAYMENT_TABLE,
): readonly CellTarget[] {
  const max = table.columns.length + METADATA_COLUMNS_MAX
  if (cells.length > max)
    throw new BulkFileError([
      {
        line,
        code: 'unknown_column',
        message: `The file has ${cells.length} columns; there are ${max} at most.`,
      },
    ])
  const errors: FileError[] = []
  const seen = new Set<string>()
  const targets: CellTarget[] = []
  for (const cell of cells) {
    const target = columnNamed(cell, table)
    if (target === null) {
      errors.push({
        line,
        code: 'unknown_column',
        message: cell.trim() === '' ? 'A column has no name.' : `There is no column ${shown(cell)}.`,
      })
      continue
    }
    const name = columnName(target)
    if (seen.has(name)) errors.push({ line, code: 'duplicate_column', message: `The column ${name} appears twice.` })
    seen.add(name)
    targets.push(target)
  }
  for (const name of table.required)
    if (!seen.has(name)) errors.push({ line, code: 'missing_column', message: `The column ${name} is missing.` })
  if (!table.named.some((name) => seen.has(name)))
    errors.push({
      line,
      code: 'missing_column',
      message:
        table.named.length === 1
          ? `The column ${table.named[0]} is missing.`
          : `The file has neither a column ${table.named.join(' nor a column ')}.`,
    })
  if (targets.filter((target) => 'metadataKey' in target).length > METADATA_COLUMNS_MAX) {
    errors.push({ line, code: 'unknown_column', message: `At most ${METADATA_COLUMNS_MAX} columns of metadata.` })
  }
  if (errors.length > 0) throw new BulkFileError(errors)
  return targets
}

function shown(text: string): string {
  const plain = text.trim().replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?')
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain
}

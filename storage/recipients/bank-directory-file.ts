/** Loads the directory of banks from a CSV file. */
import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { StartError } from '../../lib/base/errors.ts'
import { BankDirectory, DIRECTORY_COLUMNS, type DirectoryLine } from '../../lib/recipients/bank-directory.ts'

/**
 * Reads the directory; without a `file` it is empty.
 *
 * @throws StartError when the file is missing or has another format
 */
export async function loadBankDirectory(file: string | null): Promise<BankDirectory> {
  if (file === null) return new BankDirectory([])
  try {
    const lines = parse<DirectoryLine>(await readFile(file, 'utf8'), { columns: true, bom: true, trim: true })
    const missing =
      lines[0] === undefined ? undefined : DIRECTORY_COLUMNS.find((name) => !(name in (lines[0] as object)))
    if (missing !== undefined) throw new SyntaxError(`there is no column ${missing}`)
    return new BankDirectory(lines)
  } catch (error) {
    throw new StartError(`BANK_DIRECTORY cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}

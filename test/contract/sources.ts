/** The source of the product as text, for the question whether anything in it does what the contract names. */
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const ROOT = dirname(dirname(import.meta.dirname))

export interface Source {
  /** Path from the root of the project. */
  readonly path: string
  /** Without comments, so that a word in prose counts for nothing. */
  readonly text: string
}

const withoutComments = (text: string): string =>
  text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/^\s*\/\/.*$/gm, '')

/** Reads every file of the folders; SQL of migrations included. */
export async function sourcesOf(folders: readonly string[]): Promise<readonly Source[]> {
  const found: Source[] = []
  for (const folder of folders) {
    for await (const path of glob(`${folder}/**/*.{ts,sql}`, { cwd: ROOT }))
      found.push({ path: path.replaceAll('\\', '/'), text: withoutComments(await readFile(join(ROOT, path), 'utf8')) })
  }
  return found
}

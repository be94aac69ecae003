/** Every way of starting the service gives Node the same flags. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = 'http/server/main.ts'
const read = (file: string): Promise<string> => readFile(join(ROOT, file), 'utf8')

/** The words between the program and the entry point. */
function flagsOf(words: readonly string[]): readonly string[] {
  const program = words.findIndex((word) => /(^|\/)node$/.test(word))
  return words.slice(program + 1, words.indexOf(MAIN))
}

t.test('npm start and the image start Node with the same flags', async (t) => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: { start: string } }
  const command = /^CMD (\[.*\])$/m.exec(await read('Dockerfile'))![1]!
  const flags = flagsOf(scripts.start.split(' '))
  t.strictSame(flags, ['--max-semi-space-size=32'])
  t.strictSame(flagsOf(JSON.parse(command) as string[]), flags)
})

/** What is named in known.ts as walked elsewhere is walked by tests that exist. */
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { NOT_WALKED, WALKED_OVER_HTTP } from './known.ts'

const ROOT = dirname(dirname(import.meta.dirname))

t.test('the tests of what is not walked here exist', async (t) => {
  for (const { tests } of [...WALKED_OVER_HTTP, ...NOT_WALKED])
    for (const test of tests) t.ok((await stat(join(ROOT, test))).isFile(), test)
})

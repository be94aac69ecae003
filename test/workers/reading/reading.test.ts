import t from 'tap'
import { bulkReader, pieces } from '../../support/bulk-file.ts'

const reader = bulkReader()
t.teardown(() => reader[Symbol.asyncDispose]())
const HEADER = 'recipient_id,currency,amount,reference'
const csv = (rows: number): Buffer =>
  Buffer.from(`${HEADER}\n${Array.from({ length: rows }, (_, nth) => `a,EUR,${nth + 1},x\n`).join('')}`)
const TASK = { format: 'csv', delimiter: null, decimalSeparator: '.' } as const
const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

t.test(
  'every row arrives once and in its order, however the file is cut and however slowly rows are taken',
  async (t) => {
    const file = csv(12_345)
    for (const [size, isSlow] of [
      [997, false],
      [10_000, true],
      [65_536, false],
      [file.length, true],
    ] as const) {
      const seen: number[] = []
      const result = await reader.files.read({
        task: TASK,
        bytes: pieces(file, size),
        onRows: async (rows) => {
          seen.push(...rows.map(({ rowNumber }) => rowNumber))
          if (isSlow) await turn()
        },
      })
      t.ok('facts' in result)
      t.ok(
        seen.length === 12_345 && seen.every((number, nth) => number === nth + 1),
        `pieces of ${size}: ${seen.length} rows`,
      )
    }
  },
)

t.test('files that are read at the same time do not mix, and none waits for the end of another', async (t) => {
  const ends: string[] = []
  const read = async (name: string, rows: number) => {
    let count = 0
    await reader.files.read({
      task: TASK,
      bytes: pieces(csv(rows), 20_000),
      onRows: async (more) => {
        count += more.length
      },
    })
    ends.push(name)
    return count
  }
  t.strictSame(
    await Promise.all([read('large', 40_000), read('small', 10), read('middle', 3_000)]),
    [40_000, 10, 3_000],
  )
  t.equal(ends.at(-1), 'large')
})

t.test('a reading that is given up leaves the thread to others', async (t) => {
  const stop = new AbortController()
  await t.rejects(
    reader.files.read({
      task: TASK,
      bytes: pieces(csv(20_000), 30_000),
      onRows: async () => stop.abort(new Error('enough')),
      signal: stop.signal,
    }),
    { message: 'enough' },
  )
  t.equal((await reader.read(csv(7))).rows.length, 7)
})

t.test('one small file after the other is read, a hundred times', async (t) => {
  let rows = 0
  for (let nth = 0; nth < 100; nth++) rows += (await reader.read(csv(3))).rows.length
  t.equal(rows, 300)
})

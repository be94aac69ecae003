import { createHash } from 'node:crypto'
import t from 'tap'

import { instructionIdOf } from '../../../lib/providers/iso20022/references.ts'
import type { BankFileItem } from '../../../lib/providers/iso20022/reports.ts'
import { createBankFileReader } from '../../../workers/providers/bank-file-reader.ts'
import { entry, notificationFile, statusFile, statusOrder } from '../../support/bank-files.ts'

const reader = createBankFileReader()
t.teardown(() => reader.close())

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, size = 100_000) {
  const items: BankFileItem[] = []
  let longest = 0
  const result = await reader.read(inPieces(text, size), async (batch) => {
    longest = Math.max(longest, batch.length)
    items.push(...batch)
  })
  return { ...result, items, longest }
}

const uuid = (at: number) => `01980d6e-7f3a-7c21-9f58-${at.toString(16).padStart(12, '0')}`

t.test('a long report is read in a thread, batch by batch', async (t) => {
  const count = 5_000
  const orders = Array.from({ length: count }, (_, at) =>
    statusOrder(instructionIdOf(uuid(at)), `<TxSts>${at % 2 === 0 ? 'ACSC' : 'RJCT'}</TxSts>`),
  )
  const text = statusFile({ blocks: [orders.join('\n')] })
  const { items, longest, ...result } = await read(text)
  t.strictSame(result, {
    sha256: createHash('sha256').update(text).digest('hex'),
    bytes: Buffer.byteLength(text),
    message: 'pain.002',
    error: null,
  })
  t.ok(longest <= 200, `at most ${longest} items at once`)
  t.strictSame(
    items.flatMap((item) => (item.kind === 'status_order' ? [[item.order.reference, item.order.status]] : [])),
    orders.map((_, at) => [uuid(at), at % 2 === 0 ? 'ACSC' : 'RJCT']),
  )
})

t.test('amounts come out of the thread as they are', async (t) => {
  const { items, message } = await read(notificationFile({ entries: [entry({ amount: '9007199254740993.01' })] }), 9)
  t.equal(message, 'camt.054')
  t.match(items[1], { kind: 'entry', entry: { amount: 900_719_925_474_099_301n } })
})

t.test('a file that cannot be used is a result', async (t) => {
  const { sha256, message, error } = await read(notificationFile({ entries: [entry(), entry({ side: 'BOTH' })] }))
  t.equal(sha256, '')
  t.equal(message, 'camt.054')
  t.match(error, {
    fault: 'invalid_value',
    path: 'BkToCstmrDbtCdtNtfctn/Ntfctn/Ntry/CdtDbtInd',
    line: /^\d+$/,
    message: '"BOTH" is none of CRDT, DBIT.',
  })
  t.match(await read(''), { message: null, error: { fault: 'empty_file', path: '', line: null } })
})

t.test('an error of the caller is thrown, and the next file is read', async (t) => {
  await t.rejects(
    reader.read(inPieces(notificationFile({ entries: [entry()] }), 50), async () => {
      throw new RangeError('mine')
    }),
    { name: 'RangeError', message: 'mine' },
  )
  t.equal((await read(notificationFile({ entries: [entry()] }))).error, null)
})

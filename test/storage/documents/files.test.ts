import { createHash, randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'

import { Database } from '../../../storage/db/database.ts'
import {
  dropFile,
  FileTooLarge,
  findFile,
  keepFile,
  readFile,
  removeExpiredFiles,
  writeFile,
} from '../../../storage/documents/files.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { createTestDatabase } from '../../support/postgres.ts'

const NOW = Date.UTC(2026, 4, 4)
const HOUR_MS = 3_600_000

async function* chunks(...all: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces))
}

t.test('files', async (t) => {
  await using made = await createTestDatabase()
  const database = new Database(made.url)
  t.teardown(() => database.close())
  const toWrite = (maxBytes = 10_000_000) => ({
    id: randomUUID(),
    tenantId: randomUUID(),
    fileName: 'a.bin',
    contentType: 'application/octet-stream',
    maxBytes,
    now: NOW,
  })
  const rest = async (id: string) =>
    (
      await database.query<[string]>({
        name: 'rest',
        text: 'select count(*) from stored_file_piece where file_id = $1',
        values: [id],
      })
    )[0]![0]

  await t.test('come back byte for byte, in pieces, with their size and hash', async (t) => {
    const whole = randomBytes(700_001)
    const file = await writeFile(
      database,
      chunks(whole.subarray(0, 3), whole.subarray(3, 600_000), whole.subarray(600_000)),
      toWrite(),
    )
    t.match(file, {
      sizeBytes: 700_001,
      sha256: createHash('sha256').update(whole).digest('hex'),
      expiresAt: NOW + HOUR_MS,
    })
    t.strictSame(await findFile(database, file.id, NOW), file)
    const pieces = await Array.fromAsync(readFile(database, file))
    t.strictSame(
      pieces.map(({ byteLength }) => byteLength),
      [262_144, 262_144, 175_713],
    )
    t.ok(Buffer.concat(pieces).equals(whole))
  })

  await t.test('of no bytes are files too', async (t) => {
    const file = await writeFile(database, chunks(), toWrite())
    t.equal(file.sizeBytes, 0)
    t.equal((await bytesOf(readFile(database, file))).length, 0)
  })

  await t.test('that are too large or break off are never found, and go by themselves', async (t) => {
    const large = toWrite(300_000)
    await t.rejects(writeFile(database, chunks(randomBytes(300_000), randomBytes(1)), large), FileTooLarge)
    t.equal(await findFile(database, large.id, NOW), null)
    const broken = toWrite()
    await t.rejects(
      writeFile(
        database,
        (async function* () {
          yield randomBytes(300_000)
          throw new Error('the client has gone')
        })(),
        broken,
      ),
      { message: 'the client has gone' },
    )
    t.equal(await findFile(database, broken.id, NOW), null)
    t.equal(await rest(broken.id), '1')
    while ((await removeExpiredFiles(database, NOW + HOUR_MS)) > 0) {
      /* All of them. */
    }
    t.strictSame([await rest(large.id), await rest(broken.id)], ['0', '0'])
  })

  await t.test('that are kept stay; those that are lent or dropped do not', async (t) => {
    const [kept, until, lent, dropped] = await Promise.all(
      [1, 2, 3, 4].map(() => writeFile(database, chunks(randomBytes(10)), toWrite())),
    )
    await inTransaction(database, async (client) => {
      await keepFile(client, kept!.id, null)
      await keepFile(client, until!.id, NOW + 2 * HOUR_MS)
      await keepFile(client, dropped!.id, null)
    })
    await inTransaction(database, (client) => dropFile(client, dropped!.id, NOW))
    const found = async (now: number) =>
      await Promise.all(
        [kept, until, lent, dropped].map(async (file) => (await findFile(database, file!.id, now)) !== null),
      )
    t.strictSame(await found(NOW), [true, true, true, false])
    t.strictSame(await found(NOW + HOUR_MS), [true, true, false, false], 'though nothing was removed yet')
    const removed = await Promise.all([
      removeExpiredFiles(database, NOW + HOUR_MS),
      removeExpiredFiles(database, NOW + HOUR_MS),
    ])
    t.equal(removed[0] + removed[1], 2, 'each by one of two nodes')
    t.strictSame(await Promise.all([kept, until, lent, dropped].map((file) => rest(file!.id))), ['1', '1', '0', '0'])
    await t.rejects(
      inTransaction(database, (client) => keepFile(client, lent!.id, null)),
      /is gone/,
    )
    await t.rejects(bytesOf(readFile(database, lent!)), /was removed/)
  })
})

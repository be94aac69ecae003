/**
 * Files in Postgres, in pieces: any node writes and serves them, and no node holds more than one piece of a file in
 * memory.
 *
 * - A file is written before the row that needs it, so that no transaction waits for a client's upload. A new file has
 *   a lease of an hour. The transaction that writes the row keeps the file; files that are not kept are removed after
 *   the lease.
 * - A file whose upload broke off is never found.
 * - Expired files are not found either, whether or not they have been removed yet.
 *
 * Writing and reading of bytes are single statements on the pool, because a client's upload or download may take
 * minutes between two of them.
 */
import { createHash } from 'node:crypto'
import { HOUR_MS, timestamp } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import type { Database } from '../db/database.ts'
import { entitiesOfEveryTenant } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { StoredFile as FileRow } from './stored-file-entity.ts'

/** Bytes of one piece: the memory of a reader, and the most that is hashed at once (a fifth of a millisecond). */
const PIECE_BYTES = 256 * 1024
/** Lease of a file that is not kept yet, milliseconds. */
const LENT_MS = HOUR_MS
/** Files removed per call. */
const REMOVED_MAX = 32

/** The stream had more bytes than the limit; the bytes written are never found and are removed after the lease. */
export class FileTooLarge extends OperatingError {
  override readonly name = 'FileTooLarge'
}

/** A file to be written. */
export interface FileToWrite {
  readonly id: string
  /** The customer or operator it belongs to. */
  readonly tenantId: string
  /** The name offered for download; not a path. */
  readonly fileName: string
  readonly contentType: string
  readonly maxBytes: number
  /** Epoch milliseconds of the clock that was passed in. */
  readonly now: number
}

/** A file that was written completely. */
export interface StoredFile {
  readonly id: string
  readonly tenantId: string
  readonly fileName: string
  readonly contentType: string
  readonly sizeBytes: number
  /** 64 lower-case hex digits. */
  readonly sha256: string
  /** Epoch milliseconds; null for a file that is kept until it is removed. */
  readonly expiresAt: number | null
  readonly createdAt: number
}

/** Regroups a stream of chunks of any size into pieces of one size. */
async function* pieces(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    waiting.push(chunk)
    bytes += chunk.byteLength
    if (bytes < PIECE_BYTES) continue
    const whole = Buffer.concat(waiting, bytes)
    let from = 0
    for (; bytes - from >= PIECE_BYTES; from += PIECE_BYTES) yield whole.subarray(from, from + PIECE_BYTES)
    waiting = from === bytes ? [] : [whole.subarray(from)]
    bytes -= from
  }
  if (bytes > 0) yield Buffer.concat(waiting, bytes)
}

/**
 * Writes a stream as a file with a lease of an hour.
 *
 * @throws FileTooLarge when the stream has more than `maxBytes`; the errors of the stream and of the driver
 */
export async function writeFile(
  database: Pick<Database, 'query'>,
  stream: AsyncIterable<Uint8Array>,
  { id, tenantId, fileName, contentType, maxBytes, now }: FileToWrite,
): Promise<StoredFile> {
  const expiresAt = now + LENT_MS
  await database.query({
    name: 'file_begin',
    values: [id, tenantId, fileName, contentType, timestamp(expiresAt), timestamp(now)],
    text: 'insert into stored_file (id, tenant_id, file_name, content_type, expires_at, created_at) values ($1, $2, $3, $4, $5, $6)',
  })
  const sha256 = createHash('sha256')
  let sizeBytes = 0
  let nth = 0
  for await (const piece of pieces(stream)) {
    sizeBytes += piece.byteLength
    if (sizeBytes > maxBytes) throw new FileTooLarge(`The file ${id} has more than ${maxBytes} bytes.`)
    sha256.update(piece)
    await database.query({
      name: 'file_piece',
      text: 'insert into stored_file_piece (file_id, nth, bytes) values ($1, $2, $3)',
      values: [id, nth, piece],
    })
    nth += 1
  }
  const digest = sha256.digest()
  await database.query({
    name: 'file_end',
    text: 'update stored_file set size_bytes = $2, sha256 = $3 where id = $1',
    values: [id, sizeBytes, digest],
  })
  return { id, tenantId, fileName, contentType, sizeBytes, sha256: digest.toString('hex'), expiresAt, createdAt: now }
}

/** A file is kept, dropped and served by the row that names it, whose tenant has been checked. */
const NAMED = 'files that rows name'

/**
 * Keeps a written file, in the transaction of the row that needs it: permanently, or until a time in epoch
 * milliseconds.
 *
 * @throws Error when the file no longer exists; the transaction must then be rolled back
 */
export async function keepFile(client: TransactionClient, id: string, until: number | null): Promise<void> {
  const rows = entitiesOfEveryTenant(client, NAMED)
  const file = await rows.lock(FileRow, { id, sizeBytes: { $ne: null } })
  if (file === null) throw new Error(`The file ${id} is gone.`)
  file.expiresAt = until
  await rows.save()
}

/**
 * Drops a file, in the transaction of rows that no longer need it: the file is not found from now on, and its bytes are
 * removed later.
 */
export async function dropFile(client: TransactionClient, id: string, now: number): Promise<void> {
  const rows = entitiesOfEveryTenant(client, NAMED)
  const file = await rows.lock(FileRow, { id })
  if (file === null) return
  file.expiresAt = now
  await rows.save()
}

/** Finds a written file that has not expired; null when there is none. `now` is epoch milliseconds. */
export async function findFile({ pool }: Pick<Database, 'pool'>, id: string, now: number): Promise<StoredFile | null> {
  const row = await entitiesOfEveryTenant(pool, NAMED).findOne(FileRow, { id })
  if (row === null || row.sizeBytes == null || row.sha256 == null) return null
  const { tenantId, fileName, contentType, sizeBytes, sha256, createdAt, expiresAt = null } = row
  if (expiresAt !== null && expiresAt <= now) return null
  return {
    id,
    tenantId,
    fileName,
    contentType,
    sizeBytes: Number(sizeBytes),
    sha256: Buffer.from(sha256).toString('hex'),
    expiresAt,
    createdAt,
  }
}

/**
 * Reads the bytes of a file, one piece at a time; the next piece is read after the consumer has taken this one.
 *
 * @throws Error when the file is removed meanwhile: otherwise the early end would look like the end of the file
 */
export async function* readFile(
  database: Pick<Database, 'query'>,
  { id, sizeBytes }: Pick<StoredFile, 'id' | 'sizeBytes'>,
): AsyncGenerator<Uint8Array> {
  let left = sizeBytes
  for (let nth = 0; left > 0; nth++) {
    const [row] = await database.query<[Buffer]>({
      name: 'file_read',
      text: 'select bytes from stored_file_piece where file_id = $1 and nth = $2',
      values: [id, nth],
    })
    if (row === undefined) throw new OperatingError(`The file ${id} was removed while it was read.`)
    left -= row[0].byteLength
    yield row[0]
  }
}

/** Removes expired files, a limited number at a time; two nodes take different ones. @returns how many */
export async function removeExpiredFiles(database: Database, now: number): Promise<number> {
  const { rows } = await database.pool.query<{ removed: string }>({
    name: 'files_remove',
    values: [timestamp(now), REMOVED_MAX],
    text: `with expired as materialized (select id from stored_file where expires_at <= $1 order by expires_at limit $2 for update skip locked),
      pieces as (delete from stored_file_piece p using expired e where p.file_id = e.id),
      gone as (delete from stored_file f using expired e where f.id = e.id returning f.id)
      select count(*) as removed from gone`,
  })
  return Number(rows[0]?.removed ?? 0)
}

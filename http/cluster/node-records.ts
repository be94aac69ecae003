/**
 * Records: the unit in which two nodes exchange messages over one connection. All messages of one turn of the event loop
 * are one record, with one signature and one write.
 *
 *     record   = length of the content (4 bytes) · HMAC-SHA256 (32 bytes) · content
 *     content  = time of the sender (8 bytes, epoch milliseconds) · messages
 *     message  = length of the head (4 bytes) · length of the body (4 bytes) · head (JSON) · body (bytes)
 *
 * Promises
 *  * The signature covers the number of the record in its direction and the content. The key belongs to one direction of
 *    one connection between two processes. So a record that was changed, left out, repeated, reordered, sent back, or
 *    taken from another connection ends the connection.
 *  * A length beyond the maximum is refused before memory is taken for it.
 *
 * Own code, because no library fits. HTTP/2 (node:http2) has streams, headers and windows for each request, which cost
 * more than HTTP/1.1 here. `ws` has frames and a heartbeat, but one maximum for strangers and for proven nodes, no
 * signatures, no limit for slow frames, and it masks each byte; what it would save is the forty lines of `RecordReader`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

const LENGTH_BYTES = 4
const SIGNATURE_BYTES = 32
const TIME_BYTES = 8
const PREFIX_BYTES = LENGTH_BYTES + SIGNATURE_BYTES
const MESSAGE_PREFIX_BYTES = 2 * LENGTH_BYTES
/** Size of a record without messages: a heartbeat. */
export const EMPTY_CONTENT_BYTES = TIME_BYTES
/** Largest content: the largest body of a command, 4 MiB, and the largest answer, some 100 KB, with room to spare. */
export const CONTENT_BYTES_MAX = 8 * 1024 * 1024
/** Messages beyond this size of a record go into the next, so that no record keeps others waiting for long. */
export const CONTENT_BYTES_AIM = 256 * 1024

/** A message: a head that is JSON, and a body of bytes, which may be empty. */
export interface Message<Head> {
  readonly head: Head
  readonly body: string | Uint8Array
}

/** A message as it was received. */
export interface ReceivedMessage {
  /** JSON, as the other node sent it. */
  readonly head: unknown
  readonly body: Buffer
}

/** A record whose signature is right. */
export interface ReceivedRecord {
  /** The sender's time, epoch milliseconds. */
  readonly time: number
  readonly messages: readonly ReceivedMessage[]
}

/** The other end sent what no node of this cluster sends. The connection cannot be used any more. */
export class RecordError extends Error {
  override readonly name = 'RecordError'
}

/** Signs the records of one direction of a connection, which are numbered from 0. */
class Signatures {
  readonly #key: Uint8Array
  readonly #number = Buffer.alloc(8)
  #next = 0n

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Signs the next record. */
  next(content: Uint8Array): Buffer {
    this.#number.writeBigUInt64BE(this.#next++)
    return createHmac('sha256', this.#key).update(this.#number).update(content).digest()
  }
}

/** A message whose size is known, as it waits for its record. */
export interface EncodedMessage {
  readonly head: string
  readonly headBytes: number
  readonly body: string | Uint8Array
  readonly bodyBytes: number
  /** Its size within a record. */
  readonly bytes: number
}

/** Encodes a message. @throws RangeError when no record can hold it */
export function encodeMessage<Head>({ head, body }: Message<Head>): EncodedMessage {
  const text = JSON.stringify(head)
  const headBytes = Buffer.byteLength(text)
  const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  const bytes = MESSAGE_PREFIX_BYTES + headBytes + bodyBytes
  if (EMPTY_CONTENT_BYTES + bytes > CONTENT_BYTES_MAX)
    throw new RangeError(`A message between nodes has ${bytes} bytes, more than a record holds.`)
  return { head: text, headBytes, body, bodyBytes, bytes }
}

/** Writes the records of one direction. */
export class RecordWriter {
  readonly #signatures: Signatures

  constructor(key: Uint8Array) {
    this.#signatures = new Signatures(key)
  }

  /** Returns the bytes of a record with these messages, which fit into one. */
  write(time: number, messages: readonly EncodedMessage[]): Buffer {
    const contentBytes = messages.reduce((sum, { bytes }) => sum + bytes, EMPTY_CONTENT_BYTES)
    const record = Buffer.allocUnsafe(PREFIX_BYTES + contentBytes)
    record.writeUInt32BE(contentBytes, 0)
    let at = PREFIX_BYTES
    record.writeBigUInt64BE(BigInt(Math.trunc(time)), at)
    at += TIME_BYTES
    for (const { head, headBytes, body, bodyBytes } of messages) {
      record.writeUInt32BE(headBytes, at)
      record.writeUInt32BE(bodyBytes, at + LENGTH_BYTES)
      at += MESSAGE_PREFIX_BYTES
      at += writeText(record, head, headBytes, at)
      if (typeof body === 'string') at += writeText(record, body, bodyBytes, at)
      else {
        record.set(body, at)
        at += bodyBytes
      }
    }
    this.#signatures.next(record.subarray(PREFIX_BYTES)).copy(record, LENGTH_BYTES)
    return record
  }
}

/** When bytes and characters are equally many, the text is ASCII and is written without a conversion. */
function writeText(target: Buffer, text: string, bytes: number, at: number): number {
  return target.write(text, at, bytes, text.length === bytes ? 'latin1' : 'utf8')
}

/** Reads the records of one direction from the bytes of a connection, however they are divided. */
export class RecordReader {
  readonly #signatures: Signatures
  readonly #firstMax: number
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes of the present record; 0 while its length has not arrived. */
  #needed = 0
  #records = 0

  /** `firstMax` is the greatest content of the first record, which proves that the other end knows the key. */
  constructor(key: Uint8Array, firstMax: number = CONTENT_BYTES_MAX) {
    this.#signatures = new Signatures(key)
    this.#firstMax = firstMax
  }

  /** Records read so far. */
  get records(): number {
    return this.#records
  }

  /** Whether a record has begun to arrive and is not whole. */
  get isWithinRecord(): boolean {
    return this.#bytes > 0
  }

  /** Takes bytes, and returns the records that they complete. @throws RecordError */
  read(chunk: Buffer): ReceivedRecord[] {
    this.#chunks.push(chunk)
    this.#bytes += chunk.byteLength
    const records: ReceivedRecord[] = []
    for (;;) {
      if (this.#needed === 0) {
        if (this.#bytes < PREFIX_BYTES) return records
        const contentBytes = this.#joined(PREFIX_BYTES).readUInt32BE(0)
        const max = this.#records === 0 ? this.#firstMax : CONTENT_BYTES_MAX
        if (contentBytes > max || contentBytes < EMPTY_CONTENT_BYTES)
          throw new RecordError(`A record of ${contentBytes} bytes was announced.`)
        this.#needed = PREFIX_BYTES + contentBytes
      }
      if (this.#bytes < this.#needed) return records
      records.push(this.#take(this.#needed))
      this.#needed = 0
    }
  }

  /** Returns the first chunk, after it was joined with those that follow until it has so many bytes. */
  #joined(bytes: number): Buffer {
    const [first] = this.#chunks
    if (first !== undefined && first.byteLength >= bytes) return first
    const all = Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all
  }

  #take(bytes: number): ReceivedRecord {
    const all = this.#joined(bytes)
    this.#bytes -= bytes
    if (all.byteLength === bytes) this.#chunks.shift()
    else this.#chunks[0] = all.subarray(bytes)
    const content = all.subarray(PREFIX_BYTES, bytes)
    if (!timingSafeEqual(this.#signatures.next(content), all.subarray(LENGTH_BYTES, PREFIX_BYTES)))
      throw new RecordError('A record is not signed by the node at the other end of this connection.')
    this.#records += 1
    return { time: Number(content.readBigUInt64BE(0)), messages: messagesOf(content) }
  }
}

/** Divides the content of a record whose signature is right. */
function messagesOf(content: Buffer): ReceivedMessage[] {
  const messages: ReceivedMessage[] = []
  let at = TIME_BYTES
  while (at < content.byteLength) {
    const headBytes = content.readUInt32BE(at)
    const bodyBytes = content.readUInt32BE(at + LENGTH_BYTES)
    const headAt = at + MESSAGE_PREFIX_BYTES
    const bodyAt = headAt + headBytes
    at = bodyAt + bodyBytes
    if (at > content.byteLength) throw new RecordError('A message is longer than its record.')
    messages.push({
      head: JSON.parse(content.toString('utf8', headAt, bodyAt)) as unknown,
      body: content.subarray(bodyAt, at),
    })
  }
  return messages
}

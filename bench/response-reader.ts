/**
 * Reads HTTP/1.1 responses off a keep-alive connection, whatever the packets they come in: the status, and where one
 * response ends and the next begins. Nothing else of a response is looked at, because the reader shares the machine's
 * cores with what it measures.
 */

/** The peer sent something that this reader does not understand; the measurement is void. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError'
}

const CR = 13
const LF = 10
const COLON = 58
const DIGIT_0 = 48
const HTTP_1 = Buffer.from('HTTP/1.')
const CONTENT_LENGTH = Buffer.from('content-length')
const TRANSFER_ENCODING = Buffer.from('transfer-encoding')
/** No server measured here answers with more header than this. */
const HEAD_BYTES_MAX = 64 * 1024

export class ResponseReader {
  /** Whether the bodies are wanted; without them only their length is counted. */
  keepBody = false
  readonly #onResponse: (status: number, body: Uint8Array | null) => void
  #carry: Buffer | null = null
  /** Bytes of an unwanted body that have still to come. */
  #skip = 0
  #status = 0
  #contentLength = 0

  /** @param onResponse called once per response; `body` is valid during the call only, and null unless it is wanted. */
  constructor(onResponse: (status: number, body: Uint8Array | null) => void) {
    this.#onResponse = onResponse
  }

  /** Takes the first `length` bytes of a chunk; the chunk may be reused afterwards. @throws ResponseError */
  push(chunk: Uint8Array, length = chunk.length): void {
    let bytes = chunk
    let end = length
    let at = 0
    if (this.#carry !== null) {
      bytes = Buffer.concat([this.#carry, chunk.subarray(0, length)])
      end = bytes.length
      this.#carry = null
    }
    while (at < end) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, end - at)
        at += skipped
        this.#skip -= skipped
        if (this.#skip === 0) this.#onResponse(this.#status, null)
        continue
      }
      const bodyAt = this.#readHead(bytes, at, end)
      if (bodyAt === -1) {
        if (end - at > HEAD_BYTES_MAX) throw new ResponseError('The header of a response does not end.')
        this.#carry = Buffer.from(bytes.subarray(at, end))
        return
      }
      // An interim response announces the one that counts.
      if (this.#status < 200) {
        at = bodyAt
        continue
      }
      if (bodyAt + this.#contentLength <= end) {
        at = bodyAt + this.#contentLength
        this.#onResponse(this.#status, this.keepBody ? bytes.subarray(bodyAt, at) : null)
      } else if (this.keepBody) {
        this.#carry = Buffer.from(bytes.subarray(at, end))
        return
      } else {
        this.#skip = this.#contentLength - (end - bodyAt)
        return
      }
    }
  }

  /** Reads a status line and headers; returns where the body begins, or -1 when they have not all come yet. */
  #readHead(bytes: Uint8Array, start: number, end: number): number {
    let line = start
    let status = 0
    let contentLength = -1
    for (;;) {
      let lineEnd = line
      while (lineEnd < end && bytes[lineEnd] !== LF) lineEnd++
      if (lineEnd === end) return -1
      if (line === start) {
        if (!startsWith(bytes, line, HTTP_1) || lineEnd - line < 12)
          throw new ResponseError('The answer is not HTTP/1.1.')
        status = number(bytes, line + 9, line + 12)
      } else if (bytes[line] === CR && lineEnd === line + 1) {
        this.#status = status
        const bodiless = status < 200 || status === 204 || status === 304
        if (contentLength === -1 && !bodiless) throw new ResponseError(`A ${status} answer has no Content-Length.`)
        this.#contentLength = bodiless ? 0 : contentLength
        return lineEnd + 1
      } else if (isHeader(bytes, line, CONTENT_LENGTH)) {
        contentLength = number(bytes, line + CONTENT_LENGTH.length + 1, lineEnd)
      } else if (isHeader(bytes, line, TRANSFER_ENCODING)) {
        throw new ResponseError('An answer came in chunks, which no server measured here sends.')
      }
      line = lineEnd + 1
    }
  }
}

function startsWith(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false
  return true
}

function isHeader(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (((bytes[at + i] as number) | 0x20) !== name[i]) return false
  return bytes[at + name.length] === COLON
}

/** The decimal digits between two places; everything else there is white space. */
function number(bytes: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = (bytes[i] as number) - DIGIT_0
    if (digit >= 0 && digit <= 9) value = value * 10 + digit
  }
  return value
}

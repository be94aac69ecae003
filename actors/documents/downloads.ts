/**
 * Signed links to files. The holder of a link may download the file, without signing in, until the link expires. Links
 * are for browsers, which send no key. They live for a short time, and a new link is made for each request of a caller
 * who may read the file; a resource that shows a link with its other members shows the same link for a minute.
 *
 * A link's token consists of the file's id, the expiry time and an HMAC over both. Nothing is stored: every node
 * accepts links that any node has signed, and the links of a removed file stop working.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Database } from '../../storage/db/database.ts'
import { findFile, readFile, type StoredFile } from '../../storage/documents/files.ts'
import { contentDisposition } from '../../lib/documents/file-name.ts'
import { resourceETag } from '../../lib/commands/etag.ts'
import { type Answer, type FileBytes, showing } from '../../lib/commands/answer.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'

/** The lifetime of a link: long enough to click, too short to be passed on; milliseconds. */
export const LINK_MS = 5 * MINUTE_MS
/** The time for which reads of a resource show the same link, milliseconds. */
const STEADY_MS = MINUTE_MS
const ID_BYTES = 16
const EXPIRY_BYTES = 6
const SIGNED_BYTES = ID_BYTES + EXPIRY_BYTES
const TOKEN_BYTES = SIGNED_BYTES + 32

/**
 * Added to the policy of every answer: no script in a file runs under our origin, even when a browser renders the file.
 */
const FILE_CONTENT_POLICY = 'sandbox'

/** The reads for routes. */
export interface DownloadReads {
  /** Creates a new link to a file that the caller may read. */
  link(file: Pick<StoredFile, 'id' | 'contentType' | 'fileName'>): DownloadLink
  /**
   * Returns a link that stays the same for a minute, so that reads of an unchanged resource that shows it have one tag.
   * Minutes count from `since`, the time when the file was made, epoch milliseconds; a link that is read at the end of
   * its minute lives for four more.
   */
  steadyLink(file: Pick<StoredFile, 'id' | 'contentType' | 'fileName'>, since: number): DownloadLink
  /** Opens the file of a link. @throws ProblemError `not-found`, `link-expired` */
  open(token: string): Promise<Answer<FileBytes, 200>>
}

export interface DownloadsDeps {
  readonly database: Database
  readonly clock: { now(): number }
  /** The key that signs links, 32 bytes, the same on every node. */
  readonly linkKey: Uint8Array
  /** The public address of the service, without `/v1`. */
  readonly origin: () => string
}

/** Creates signed links and opens them. */
export function createDownloads({ database, clock, linkKey, origin }: DownloadsDeps): DownloadReads {
  const sign = (signed: Uint8Array): Buffer => createHmac('sha256', linkKey).update(signed).digest()

  function read(token: string): { readonly id: string; readonly expiresAt: number } {
    const bytes = Buffer.from(token, 'base64url')
    const signed = bytes.subarray(0, SIGNED_BYTES)
    if (bytes.length !== TOKEN_BYTES || !timingSafeEqual(bytes.subarray(SIGNED_BYTES), sign(signed)))
      refuse('not-found', 'The link is unknown.')
    const hex = bytes.toString('hex', 0, ID_BYTES)
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
    return { id, expiresAt: bytes.readUIntBE(ID_BYTES, EXPIRY_BYTES) }
  }

  function linkUntil({ id, contentType, fileName }: Parameters<DownloadReads['link']>[0], expiresAt: number) {
    const signed = Buffer.alloc(SIGNED_BYTES)
    signed.write(id.replaceAll('-', ''), 'hex')
    signed.writeUIntBE(expiresAt, ID_BYTES, EXPIRY_BYTES)
    const token = Buffer.concat([signed, sign(signed)]).toString('base64url')
    return { url: `${origin()}/v1/downloads/${token}`, expiresAt: timestamp(expiresAt), contentType, fileName }
  }

  return {
    link: (file) => linkUntil(file, clock.now() + LINK_MS),
    steadyLink(file, since) {
      const now = clock.now()
      return linkUntil(file, now - Math.max(0, (now - since) % STEADY_MS) + LINK_MS)
    },
    async open(token) {
      const { id, expiresAt } = read(token)
      const now = clock.now()
      if (expiresAt <= now) refuse('link-expired', 'The link has expired. Request a new link.')
      const file = await findFile(database, id, now)
      if (file === null) refuse('not-found', 'The file is no longer there.')
      return showing({
        status: 200,
        body: '',
        contentType: file.contentType,
        etag: resourceETag(1, file.sha256),
        headers: [
          'Content-Disposition',
          contentDisposition(file.fileName),
          'Content-Security-Policy',
          FILE_CONTENT_POLICY,
        ],
        stream: { bytes: file.sizeBytes, pieces: () => readFile(database, file) },
      })
    },
  }
}

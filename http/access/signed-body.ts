/** Reads bodies that partners sign: as bytes, because the signature is over the bytes as they were sent. */
import type { IncomingMessage } from 'node:http'
import { ProblemError, refuse } from '../../lib/base/problems.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import type { Arrivals } from './arrivals.ts'

/** A body of more bytes, or of unknown length, takes a place among the files: there are few of these places. */
const SMALL_BYTES_MAX = 256 * 1024

/**
 * Reads the body of a request. While the body arrives it takes a place of the party's share.
 *
 * @throws ProblemError `payload-too-large`, `unsupported-media-type`, `request-timeout`, `service-unavailable`, and
 *   `malformed-request` when the client leaves before its end
 */
export async function readSignedBody(
  request: IncomingMessage,
  party: Party,
  { arrivals, bytesMax }: { readonly arrivals: Arrivals; readonly bytesMax: number },
): Promise<SignedBody> {
  const { headers } = request
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = headers
  if (encoding !== 'identity')
    refuse('unsupported-media-type', 'The content encoding is not supported.', { extra: { supported: ['identity'] } })
  if (length !== undefined && Number(length) > bytesMax) throw tooLarge(bytesMax)
  const read = () => collect(request, bytesMax)
  const isSmall = Math.min(bytesMax, length === undefined ? bytesMax : Number(length)) <= SMALL_BYTES_MAX
  return {
    bytes: await (isSmall
      ? arrivals.body(request, party, read)
      : arrivals.upload(request, party, read, () => undefined)),
    headers,
  }
}

const tooLarge = (maxBytes: number): ProblemError =>
  new ProblemError({
    slug: 'payload-too-large',
    detail: `The body may have at most ${maxBytes} bytes.`,
    extra: { maxBytes },
  })

async function collect(request: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    // The connection stays open for the refusal of a body that is too large.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += (chunk as Uint8Array).byteLength
      if (length > bytesMax) throw tooLarge(bytesMax)
      chunks.push(chunk as Uint8Array)
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error
    refuse('malformed-request', 'The body could not be read to its end.')
  }
  return Buffer.concat(chunks)
}

/** Calls Sumsub's API. No secret of it stands in an error or a log. */
import { OperatingError } from '../../lib/base/errors.ts'
import type { SumsubRequest } from '../../lib/kyc/sumsub/sumsub-requests.ts'

export const SUMSUB_URL = 'https://api.sumsub.com'
const TIMEOUT_MS = 10_000
/** Longer answers are none of those that are asked for. */
const ANSWER_BYTES_MAX = 1024 * 1024

/** An answer of the provider; the body is null when it is no JSON. */
export interface SumsubAnswer {
  readonly status: number
  readonly body: unknown
}

/** The provider did not answer. */
export class SumsubSilent extends OperatingError {
  override readonly name = 'SumsubSilent'
}

export class SumsubClient {
  readonly #url: string

  /** @param url the address of the API, without a slash at its end */
  constructor(url: string = SUMSUB_URL) {
    this.#url = url
  }

  /**
   * Sends a request once, and follows no redirect.
   *
   * @throws SumsubSilent when no answer arrives within ten seconds
   */
  async send({ method, path, headers, body }: SumsubRequest): Promise<SumsubAnswer> {
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers,
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return { status: response.status, body: parsed(await textOf(response)) }
    } catch (cause) {
      throw new SumsubSilent('Sumsub did not answer.', { cause })
    }
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.byteLength
    if (length > ANSWER_BYTES_MAX) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An answer of something in between, such as a page of a proxy.
    return null
  }
}

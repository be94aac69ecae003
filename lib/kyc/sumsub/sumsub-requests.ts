/**
 * Requests to Sumsub's API. Each is signed: an HMAC-SHA256 in hexadecimal over the time in seconds, the method, the path
 * with its query and the body, with the secret key of the app token.
 */
import { createHmac } from 'node:crypto'
import { asObject } from '../../base/json.ts'

/** The keys of the API. */
export interface SumsubKeys {
  readonly appToken: string
  readonly secretKey: string
}

/** A request, ready to be sent to the host of the API. */
export interface SumsubRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

function signed(
  { appToken, secretKey }: SumsubKeys,
  now: number,
  { method, path, body }: Pick<SumsubRequest, 'method' | 'path' | 'body'>,
): SumsubRequest {
  const seconds = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', secretKey)
    .update(`${seconds}${method}${path}${body ?? ''}`)
    .digest('hex')
  return {
    method,
    path,
    body,
    headers: {
      'x-app-token': appToken,
      'x-app-access-sig': signature,
      'x-app-access-ts': seconds,
      'content-type': 'application/json',
      accept: 'application/json',
    },
  }
}

/** Asks for a token with which the provider's SDK lets one applicant in, for a number of seconds. */
export function tokenRequest(
  keys: SumsubKeys,
  now: number,
  { subjectId, level, seconds }: { readonly subjectId: string; readonly level: string; readonly seconds: number },
): SumsubRequest {
  const body = JSON.stringify({ userId: subjectId, levelName: level, ttlInSecs: seconds })
  return signed(keys, now, { method: 'POST', path: '/resources/accessTokens/sdk', body })
}

/** Reads the answer; null when it holds no token. Tokens are longer than ids. */
export function tokenIn(answer: unknown): string | null {
  const token = asObject(answer)?.['token']
  return typeof token === 'string' && token !== '' && token.length <= 4_096 ? token : null
}

/** Asks for the levels of the account, which shows whether the keys work. */
export const levelsRequest = (keys: SumsubKeys, now: number): SumsubRequest =>
  signed(keys, now, { method: 'GET', path: '/resources/applicants/-/levels', body: null })

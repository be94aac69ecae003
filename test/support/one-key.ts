/** What every operation with an Idempotency-Key promises, for tests. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Reply } from './client.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Sends a request twice at once under one key, then again, then with other content. Of the two one is carried out; the
 * other gets its answer or hears that it is running. A repeat gets its bytes, and other content is refused.
 *
 * @returns the answer of the request that was carried out
 */
export async function checkOneKey<Body>(
  t: Test,
  send: (headers: Headers) => Promise<Reply<Body>>,
  sendOther: (headers: Headers) => Promise<Reply<unknown>>,
): Promise<Reply<Body>> {
  const headers = { 'idempotency-key': randomUUID() }
  const pair = await Promise.all([send(headers), send(headers)])
  const carriedOut = pair.filter((reply) => reply.status !== 409 && reply.headers.get('idempotency-replayed') === null)
  t.equal(carriedOut.length, 1, `one of two is carried out: ${pair.map(({ text }) => text).join(' ')}`)
  const [first] = carriedOut as [Reply<Body>]
  const second = pair.find((reply) => reply !== first) as Reply<Body>
  if (second.status === 409) {
    t.match(second.problem, { code: 'idempotency-key-in-use', retryable: true })
    t.equal(second.headers.get('retry-after'), '1')
  } else t.equal(second.text, first.text)
  const again = await send(headers)
  t.strictSame(
    [again.status, again.text, again.headers.get('idempotency-replayed')],
    [first.status, first.text, 'true'],
    'a repeat has the same answer',
  )
  t.match((await sendOther(headers)).problem, { status: 422, code: 'idempotency-key-reused' })
  return first
}

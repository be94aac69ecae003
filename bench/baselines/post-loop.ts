/**
 * The *post loop* baseline: undici posting the same body with the same number of headers over as many connections, as
 * fast as it can, remembering nothing. What the wire and the receiver allow.
 */
import { Pool } from 'undici'
import { answerParent, tellMeasurement, type Tell } from '../process.ts'

export interface PostLoopPlan {
  readonly url: string
  readonly connections: number
  readonly warmupSeconds: number
  readonly seconds: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

async function run(
  { url, connections, warmupSeconds, seconds, headers, body }: PostLoopPlan,
  tell: Tell,
): Promise<number> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const from = performance.now() + warmupSeconds * 1_000
  const until = from + seconds * 1_000
  using _ = tellMeasurement(tell, { warmupSeconds, seconds })
  let posts = 0
  async function keepPosting(): Promise<void> {
    while (performance.now() < until) {
      const response = await pool.request({ path: pathname, method: 'POST', headers: { ...headers }, body })
      await response.body.dump()
      const now = performance.now()
      if (now >= from && now < until) posts += 1
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, keepPosting))
    return posts / seconds
  } finally {
    await pool.close()
  }
}

answerParent<PostLoopPlan, number>(run)

/** Files that never depend on the request: sent compressed where the client takes that, and revalidated by their tag. */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context, Middleware } from 'koa'
import type { AnswerBytes } from '../../lib/commands/answer.ts'
import { send } from './answer.ts'

/** A page is revalidated every time; the files that it loads change only with a release. */
export const PAGE_CACHE = 'no-cache'
export const FILE_CACHE = 'public, max-age=3600'

/** A file and how it is sent. */
export interface StaticFile {
  readonly contentType: string
  readonly cacheControl: string
  readonly read: () => Promise<Uint8Array>
}

interface Served {
  readonly plain: AnswerBytes
  readonly zipped: AnswerBytes
}

const compress = promisify(gzip)

/**
 * Serves files by their paths, which all begin with `prefix`; passes every other request on. `headers` are the security
 * headers of the answers, name and value in turn.
 */
export function staticFiles(
  prefix: string,
  files: ReadonlyMap<string, StaticFile>,
  headers: readonly string[],
): Middleware {
  // Each file is read at its first request, because most nodes never serve it.
  const served = new Map<string, Promise<Served>>()

  async function answer(context: Context, path: string, file: StaticFile): Promise<void> {
    let answers = served.get(path)
    if (answers === undefined) {
      answers = load(file)
      served.set(path, answers)
      // A file that could not be read is read again at the next request.
      answers.catch(() => served.delete(path))
    }
    const { plain, zipped } = await answers
    context.state['headers'] = headers
    send(context, context.state['requestId'] as string, context.acceptsEncodings('gzip') === 'gzip' ? zipped : plain)
  }

  return (context, next) => {
    const { path } = context
    const file =
      path.startsWith(prefix) && (context.method === 'GET' || context.method === 'HEAD') ? files.get(path) : undefined
    return file === undefined ? next() : answer(context, path, file)
  }
}

async function load({ contentType, cacheControl, read }: StaticFile): Promise<Served> {
  const body = await read()
  const etag = `"${hash('sha256', body, 'hex').slice(0, 24)}"`
  const shared = { status: 200, contentType, cacheControl }
  return {
    plain: { ...shared, body, etag, headers: ['Vary', 'Accept-Encoding'] },
    zipped: {
      ...shared,
      body: await compress(body),
      etag: etag.replace(/"$/, '-gzip"'),
      headers: ['Vary', 'Accept-Encoding', 'Content-Encoding', 'gzip'],
    },
  }
}

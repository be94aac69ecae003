/**
 * The interactive reference at `/docs`: Swagger UI from its package, for the contract that this service serves. Nothing
 * is loaded from another host, and only the files named here are served, with the pages of docs-pages.ts.
 *
 * Why swagger-ui-dist: it is released every few weeks, under Apache-2.0, with one dependency (telemetry of its
 * installation, switched off in package.json), and a page needs only three of its files. @scalar/api-reference brings
 * 27 dependencies and contacts its own hosts for fonts and proxies; redoc cannot send requests; rapidoc has had no
 * release in a year.
 */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context, Middleware } from 'koa'
import { send } from '../route/answer.ts'
import type { AnswerBytes } from '../../lib/commands/answer.ts'
import { DOCS_PAGES, docsPage } from './docs-pages.ts'
import { securityHeaders, type SecurityOptions } from '../access/security.ts'

const PREFIX = '/docs'

// Scripts of the page set styles on elements, which counts as inline. Scripts are loaded from this service only.
const CONTENT_POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'unsafe-inline'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/** A page is revalidated every time; the files that it loads change only with a release. */
const PAGE_CACHE = 'no-cache'
const FILE_CACHE = 'public, max-age=3600'

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Banking Platform API</title>
<link rel="icon" type="image/png" sizes="32x32" href="${PREFIX}/favicon-32x32.png">
<link rel="stylesheet" href="${PREFIX}/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="${PREFIX}/swagger-ui-bundle.js"></script>
<script src="${PREFIX}/start.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // A hundred operations at once take ten seconds to draw; a group opens at once.
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  displayRequestDuration: true,
  // The next user of the same browser must sign in again.
  persistAuthorization: false,
  // The document is not sent to the validator of Swagger, an outside service.
  validatorUrl: null,
})
`

interface File {
  readonly contentType: string
  readonly cacheControl: string
  readonly read: () => Promise<Uint8Array>
}

interface Served {
  readonly plain: AnswerBytes
  readonly zipped: AnswerBytes
}

const compress = promisify(gzip)

/** Serves the reference; passes every other request on. */
export function docs(options: SecurityOptions): Middleware {
  const headers = securityHeaders(options, CONTENT_POLICY)
  const files = allowed()
  // Each file is read at its first request, because most nodes never serve it.
  const served = new Map<string, Promise<Served>>()

  async function load({ contentType, cacheControl, read }: File): Promise<Served> {
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

  async function answer(context: Context, path: string, file: File): Promise<void> {
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
      path.startsWith(PREFIX) && (context.method === 'GET' || context.method === 'HEAD') ? files.get(path) : undefined
    return file === undefined ? next() : answer(context, path, file)
  }
}

function allowed(): ReadonlyMap<string, File> {
  const home = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const fromPackage = (name: string, contentType: string): [string, File] => [
    `${PREFIX}/${name}`,
    { contentType, cacheControl: FILE_CACHE, read: () => readFile(join(home, name)) },
  ]
  const ours = (path: string, contentType: string, text: () => string): [string, File] => [
    path,
    { contentType, cacheControl: PAGE_CACHE, read: async () => Buffer.from(text()) },
  ]
  return new Map([
    ours(PREFIX, 'text/html; charset=utf-8', () => PAGE),
    ours(`${PREFIX}/`, 'text/html; charset=utf-8', () => PAGE),
    ...DOCS_PAGES.map((page) => ours(`${PREFIX}/${page}`, 'text/html; charset=utf-8', () => docsPage(page))),
    ours(`${PREFIX}/start.js`, 'text/javascript; charset=utf-8', () => START),
    fromPackage('swagger-ui.css', 'text/css; charset=utf-8'),
    fromPackage('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
    fromPackage('favicon-32x32.png', 'image/png'),
  ])
}

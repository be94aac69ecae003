/**
 * The interactive reference at `/docs`: Swagger UI from its package, for the contract that this service serves. Nothing
 * is loaded from another host, and only the files named here are served, with the pages of docs-pages.ts.
 *
 * Why swagger-ui-dist: it is released every few weeks, under Apache-2.0, with one dependency (telemetry of its
 * installation, switched off in package.json), and a page needs only three of its files. @scalar/api-reference brings
 * 27 dependencies and contacts its own hosts for fonts and proxies; redoc cannot send requests; rapidoc has had no
 * release in a year.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Middleware } from 'koa'
import { securityHeaders, type SecurityOptions } from '../access/security.ts'
import { FILE_CACHE, PAGE_CACHE, type StaticFile, staticFiles } from '../route/static-files.ts'
import { DOCS_PAGES, docsPage } from './docs-pages.ts'

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

/** Serves the reference; passes every other request on. */
export function docs(options: SecurityOptions): Middleware {
  return staticFiles(PREFIX, allowed(), securityHeaders(options, CONTENT_POLICY))
}

function allowed(): ReadonlyMap<string, StaticFile> {
  const home = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const fromPackage = (name: string, contentType: string): [string, StaticFile] => [
    `${PREFIX}/${name}`,
    { contentType, cacheControl: FILE_CACHE, read: () => readFile(join(home, name)) },
  ]
  const ours = (path: string, contentType: string, text: () => string): [string, StaticFile] => [
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

/**
 * The pages beside the reference at `/docs`: how to begin, the rules of the sandbox, the banking partners, and the changelog of the contract.
 */
import { CHANGELOG } from '../../lib/contract/changelog.ts'
import { sandboxRules } from '../../lib/sandbox/catalogue.ts'
import { escaped } from './html-text.ts'
import { providersBody } from './provider-docs.ts'

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}' +
  'code,pre{background:#f2f2f2}pre{padding:1rem;overflow-x:auto}nav a{margin-right:1rem}'

/** The names of the pages, which are the last part of their addresses. */
export const DOCS_PAGES = ['getting-started', 'sandbox', 'providers', 'changelog'] as const
export type DocsPage = (typeof DOCS_PAGES)[number]

const TITLES: Readonly<Record<DocsPage, string>> = {
  'getting-started': 'Getting started',
  sandbox: 'The sandbox',
  providers: 'Banking partners',
  changelog: 'Changelog',
}

const PAYMENT = `curl -sS -i "$URL/v1/payments" \\
  -H "Authorization: Bearer $API_KEY" \\
  -H "X-Tenant-Id: $CUSTOMER_ID" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -H "Content-Type: application/json" \\
  -d '{"sourceBalanceId":"'$BALANCE'","recipientId":"'$RECIPIENT'","amount":{"amountMinor":"1250","currency":"EUR"},"reference":"Invoice 42"}'`

const BODIES: Readonly<Record<DocsPage, () => string>> = {
  'getting-started': () => `<ol>
<li>Ask an owner or administrator of the customer for an API key (<code>POST /v1/api-keys</code>). Send it as
<code>Authorization: Bearer svc_…</code>, and the id of the customer as <code>X-Tenant-Id</code>.</li>
<li>Read the balances (<code>GET /v1/balances</code>) and the recipients (<code>GET /v1/recipients</code>).</li>
<li>Make a payment. Repeat the request with the same <code>Idempotency-Key</code> after a timeout: it is paid once.
<pre>${escaped(PAYMENT)}</pre></li>
<li>Read it until it is <code>completed</code> (<code>GET /v1/payments/{paymentId}</code>), or register a webhook
(<code>POST /v1/integrator-webhooks</code>) and check the signature of each call.</li>
<li>Errors are problem documents. Decide by <code>code</code>; <code>retryable</code> tells whether the same request may be
sent again.</li>
</ol>`,
  sandbox: () => `<p>A sandbox decides by the objects themselves, so that a test needs no second call. Where there is no
sandbox these rules have no effect. <code>GET /v1/simulations</code> has them as data.</p>
${byTopic(sandboxRules())}`,
  providers: providersBody,
  changelog: () =>
    CHANGELOG.map(
      ({ version, changes, required }) =>
        `<h2>${escaped(version)}</h2>\n${listOf(changes)}\n<p>${
          required === null ? 'Integrators need not change anything.' : escaped(required)
        }</p>`,
    ).join('\n'),
}

/** Renders a page as HTML, without scripts and without files from other hosts. */
export function docsPage(name: DocsPage): string {
  const links = DOCS_PAGES.map((page) => `<a href="/docs/${page}">${TITLES[page]}</a>`).join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TITLES[name]} · Banking Platform API</title>
<link rel="icon" type="image/png" sizes="32x32" href="/docs/favicon-32x32.png">
<style>${STYLE}</style>
</head>
<body>
<nav>${links}
<a href="/docs">Reference</a></nav>
<h1>${TITLES[name]}</h1>
${BODIES[name]()}
</body>
</html>
`
}

function byTopic(rules: ReturnType<typeof sandboxRules>): string {
  const topics = Map.groupBy(rules, ({ topic }) => topic)
  return Array.from(topics, ([topic, of]) => `<h2>${escaped(topic)}</h2>\n${listOf(of.map(({ rule }) => rule))}`).join(
    '\n',
  )
}

const listOf = (texts: readonly string[]): string =>
  `<ul>\n${texts.map((text) => `<li>${escaped(text)}</li>`).join('\n')}\n</ul>`

/**
 * Deprecated operations: they work until their sunset, and every answer carries the deprecation (RFC 9745, RFC 8594). A
 * route declares it; the contract, the headers and the usage reports follow.
 */
import type { Middleware } from 'koa'
import type { IntegrationLinks } from '../../storage/integration/integration-queries.ts'
import type { DocsPage } from '../openapi/docs-pages.ts'
import type { Deprecated, Route } from '../route/route.ts'

/** Minimum notice promised to integrators, who need time for releases of their own. */
const NOTICE_MONTHS = 6

/**
 * Builds the headers of a deprecated operation, name and value in turn. `problemBase` is the documentation's address.
 */
export function deprecationHeaders(
  { operationId, callers }: Pick<Route, 'operationId' | 'callers'>,
  { since, sunset }: Deprecated,
  problemBase: string,
): readonly string[] {
  const entry = `${documentation('deprecations', problemBase)}#${operationId}`
  const headers = ['Deprecation', `@${startOf(since) / 1000}`, 'Link', `<${entry}>; rel="deprecation"`]
  if (sunset === undefined) return headers
  if (startOf(sunset) < startOf(since)) throw new Error(`${operationId} has its sunset before its deprecation.`)
  if (
    callers === 'key' &&
    Temporal.PlainDate.compare(sunset, Temporal.PlainDate.from(since).add({ months: NOTICE_MONTHS })) < 0
  ) {
    throw new Error(`${operationId} has its sunset less than ${NOTICE_MONTHS} months after its deprecation.`)
  }
  return [...headers, 'Link', `<${entry}>; rel="sunset"`, 'Sunset', new Date(startOf(sunset)).toUTCString()]
}

/** The address of a documentation page, next to the explanations of problems. */
export function documentation(page: string, problemBase: string): string {
  return new URL(page, problemBase).href
}

/** Returns the links of the documentation for an operator's developers: pages that this service serves. */
export function integrationLinks(baseUrl: string): IntegrationLinks {
  const page = (name: DocsPage) => `${baseUrl}/docs/${name}`
  return {
    portal: `${baseUrl}/docs`,
    reference: `${baseUrl}/docs`,
    gettingStarted: page('getting-started'),
    sandbox: page('sandbox'),
    changelog: page('changelog'),
    openapi: `${baseUrl}/v1/openapi.json`,
  }
}

/** Adds the headers to every answer of an endpoint, refusals included. */
export function deprecating(headers: readonly string[], endpoint: Middleware): Middleware {
  return (context, next) => {
    context.state['headers'] = [...((context.state['headers'] as readonly string[] | undefined) ?? []), ...headers]
    return endpoint(context, next)
  }
}

/** The ids of the deprecated operations of a route table. */
export function deprecatedOperations(routes: readonly Route[]): ReadonlySet<string> {
  return new Set(routes.filter(({ deprecated }) => deprecated !== undefined).map(({ operationId }) => operationId))
}

const startOf = (day: string): number => {
  const start = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(start)) throw new Error(`${day} is not a date.`)
  return start
}

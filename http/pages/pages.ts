/**
 * Answers requests for pages.
 *
 * Promises
 *  * Each page works without scripts: its forms are sent by POST, and what is wrong with them stands beside the field.
 *  * A page carries the token of a link in its address. So no cache keeps it, no other site is told its address, no log
 *    has the token, and nothing of the page comes from elsewhere.
 *  * A link that is unknown, used or out of time shows one page, the same for all of them.
 *  * A form that was refused has changed nothing; its entries are kept, passwords are not.
 */
import { hash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { type Problem, ProblemError, refuse } from '../../lib/base/problems.ts'
import type { Brand } from '../../lib/branding/brand.ts'
import { problemStatus } from '../../lib/base/problem-document.ts'
import { type BodyValidator, compileBody } from '../../lib/contract/validation.ts'
import { addressBlock } from '../access/address-block.ts'
import { type CommandPlaces, Place } from '../access/admission.ts'
import type { Arrivals } from '../access/arrivals.ts'
import { sourceOf } from '../access/client-address.ts'
import { createGate, type Gate } from '../access/gate.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import { securityHeaders, type SecurityOptions } from '../access/security.ts'
import { send } from '../route/answer.ts'
import { headersOf, problemOf } from '../route/failure.ts'
import { LINK_TOKEN } from '../route/route.ts'
import type { Services } from '../route/services.ts'
import { staticFiles } from '../route/static-files.ts'
import { ASSETS, assets } from './assets.ts'
import { styleOf } from './colours.ts'
import { entriesOf, faultsOf, isSameSite, missingOf, readForm } from './form.ts'
import { type Speech, speechOf } from './language.ts'
import { buttonLink, documentOf, ENDED, messageOf } from './layout.ts'
import type { FormDeclaration, FormFields, FormState, Page, PageContent, PageContext } from './page.ts'
import type { FailureTexts, Texts } from './texts.ts'
import { TRANSLATIONS } from './translations.ts'

const HTML_TYPE = 'text/html; charset=utf-8'

/**
 * The policy of a page: the only style in the page itself is that of the operator's colours, named by its hash, and the
 * only picture from elsewhere than this service is the operator's logo, which stands in the page.
 */
const contentPolicy = (style: string): string =>
  [
    `default-src 'none'`,
    `style-src 'self' 'sha256-${hash('sha256', style, 'base64')}'`,
    `script-src 'self'`,
    `img-src 'self' data:`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')

/** Beside the headers of every answer: no frames, no search engines, and no window that another site has opened. */
const PAGE_HEADERS = [
  ...['X-Frame-Options', 'DENY'],
  ...['X-Robots-Tag', 'noindex, nofollow'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
]

const NO_FORM: FormState = { entries: {}, faults: {}, tooLate: false }

/** The parts that all pages share. */
export interface PagesParts {
  readonly services: Services
  readonly rateLimits: RateLimits | null
  readonly admission: CommandPlaces | null
  readonly arrivals: Arrivals
  readonly security: SecurityOptions
  /**
   * Reads how the operator of a tenant appears; for null the one operator of the database. Null: there is none, or
   * there are several.
   */
  readonly brandOf: (tenantId: string | null) => Promise<Brand | null>
}

/** Serves the pages of a table and their files; passes every other request on. */
export function pages(table: readonly Page[], parts: PagesParts): Middleware {
  const known = new Map(table.map((page) => [keyOf(page.name, page.hasToken), new PageEndpoint(page, parts)] as const))
  const files = staticFiles(ASSETS, assets, securityHeaders(parts.security))
  return (context, next) => {
    const { path } = context
    // Nearly all requests are for the API, whose paths are not looked at any further.
    if (path.startsWith('/v1/')) return next()
    if (path.startsWith(ASSETS)) return files(context, next)
    const [, name = '', token, action = '', ...more] = path.split('/')
    const endpoint = known.get(keyOf(name, token !== undefined))
    if (endpoint === undefined || more.length > 0 || !endpoint.has(action)) return next()
    return endpoint.answer(context, token ?? '', action)
  }
}

const keyOf = (name: string, hasToken: boolean): string => (hasToken ? `${name}/` : name)

interface PreparedForm extends FormDeclaration<unknown> {
  readonly gate: Gate
  /** Null for a form without fields. */
  readonly validator: BodyValidator | null
}

/** One request for a page, and what is known of it so far. */
interface Visit extends Speech {
  readonly context: Context
  readonly token: string
  readonly path: string
  readonly texts: Texts
  /** Null until the link was read. */
  brand: Brand | null
}

interface PageAnswer {
  readonly status?: number
  readonly content: PageContent
  /** Whether a form was refused. */
  readonly refused?: boolean
  /** Whether the page shows what is meant for the receiver of the link alone. */
  readonly personal?: boolean
  readonly headers?: readonly string[]
}

/** A page with everything that depends on the page alone. */
class PageEndpoint {
  readonly #page: Page
  readonly #parts: PagesParts
  readonly #gate: Gate
  readonly #forms: ReadonlyMap<string, PreparedForm>
  readonly #signInUrl: string | null

  constructor(page: Page, parts: PagesParts) {
    this.#page = page
    this.#parts = parts
    this.#gate = createGate(page.operation, parts.rateLimits)
    this.#forms = new Map(
      Object.entries(page.forms).map(([action, form]) => {
        const { operation } = form
        const validator = operation.body === undefined ? null : compileBody(operation.body, operation.success.schema)
        return [action, { ...form, validator, gate: createGate(operation, parts.rateLimits) }]
      }),
    )
    const [console, ...others] = parts.security.consoleOrigins
    this.#signInUrl = others.length > 0 ? null : (console ?? null)
  }

  /** Whether the page has an address with this last segment. */
  has(action: string): boolean {
    return action === '' || this.#forms.has(action)
  }

  async answer(context: Context, token: string, action: string): Promise<void> {
    const speech = speechOf(context.req.headers['accept-language'])
    const { name, hasToken } = this.#page
    const path = hasToken ? `/${name}/${token}` : `/${name}`
    const visit: Visit = { ...speech, context, token, path, texts: TRANSLATIONS[speech.language], brand: null }
    // The limits add their headers.
    context.state['headers'] = []
    try {
      const reading = context.method === 'GET' || context.method === 'HEAD'
      const form = this.#forms.get(action)
      if (reading && action === '') await this.#showPage(visit)
      // The address of a form is opened when a browser repeats it; the page says how things stand.
      else if (reading) this.#sendTo(visit, path)
      else if (context.method === 'POST' && form !== undefined) await this.#submit(visit, form)
      else this.#refuseMethod(visit)
    } catch (error) {
      this.#fail(visit, problemOf(context, error, this.#parts.services.log))
    }
  }

  async #showPage(visit: Visit): Promise<void> {
    this.#gate.anonymous(visit.context)
    this.#show(visit, 200, await this.#open(visit), NO_FORM)
  }

  async #submit(visit: Visit, form: PreparedForm): Promise<void> {
    const { context } = visit
    const { admission, arrivals, security } = this.#parts
    if (!isSameSite(context, security.publicUrl)) {
      this.#sendFailure(visit, 403, 'refusedForm')
      return
    }
    form.gate.anonymous(context)
    const party = { group: 'public', member: addressBlock(context.ip) }
    const sent = await readForm(context, arrivals, party)
    const place = admission === null ? null : new Place(admission)
    try {
      place?.enter(party)
      await this.#carryOut(visit, form, sent)
    } finally {
      place?.leave()
    }
  }

  async #carryOut(visit: Visit, form: PreparedForm, sent: URLSearchParams): Promise<void> {
    const { context, token, texts } = visit
    // Read before the form is carried out, which uses up some links.
    const view = await this.#open(visit)
    const fields = form.fields(view)
    const entries = entriesOf(sent, fields)
    const { value = null, errors = [] } = form.validator?.validate({ ...entries }, true) ?? {}
    const wrong = [...missingOf(entries, fields), ...errors]
    try {
      if (wrong.length > 0) refuse('validation-error', 'Some fields of the form are not valid.', { errors: wrong })
      await form.submit({ token, body: value, caller: callerOf(context) }, this.#parts.services)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const { problem } = error
      const tooLate = problem.slug === 'invalid-transition'
      const named = form.fieldOf?.(problem) ?? null
      const faults =
        named === null ? faultsOf(problem.errors ?? [], fields, texts.forms) : { [named.field]: named.text(texts) }
      if (faults === null && !tooLate) throw error
      if (faults !== null) this.#show(visit, 422, view, { entries: withoutSecrets(entries, fields), faults, tooLate })
      else this.#show(visit, 409, await this.#open(visit), { ...NO_FORM, tooLate })
      return
    }
    if (form.done === undefined) this.#sendTo(visit, visit.path)
    else this.#send(visit, { content: form.done(view, this.#contextOf(visit, NO_FORM)) })
  }

  /** Reads what the link leads to. @throws ProblemError `not-found` */
  async #open(visit: Visit): Promise<unknown> {
    const { read, hasToken } = this.#page
    const { token } = visit
    const linked = hasToken && !LINK_TOKEN.test(token) ? null : await read(token, this.#parts.services)
    visit.brand = await this.#parts.brandOf(linked?.tenantId ?? null)
    if (linked === null) refuse('not-found', 'The link is not open.')
    return linked.view
  }

  #show(visit: Visit, status: number, view: unknown, form: FormState): void {
    const content = this.#page.show(view, this.#contextOf(visit, form))
    const refused = Object.keys(form.faults).length > 0
    this.#send(visit, { status, content, refused, personal: this.#page.hasToken })
  }

  #contextOf({ language, locale, texts, brand, path }: Visit, form: FormState): PageContext {
    return { language, locale, texts, brand, path, form, signInUrl: this.#signInUrl }
  }

  #fail(visit: Visit, problem: Problem): void {
    this.#parts.arrivals.linger(visit.context.req)
    const status = problemStatus(problem)
    const failure =
      problem.slug === 'not-found' || problem.slug === 'feature-disabled'
        ? 'unknownLink'
        : problem.slug === 'rate-limited'
          ? 'tooManyRequests'
          : status >= 500
            ? 'unavailable'
            : 'refusedForm'
    this.#sendFailure(visit, status, failure, headersOf(problem))
  }

  #refuseMethod(visit: Visit): void {
    const allowed = this.#forms.has('') ? 'GET, HEAD, POST' : 'GET, HEAD'
    this.#sendFailure(visit, 405, 'refusedForm', ['Allow', allowed])
  }

  #sendFailure(visit: Visit, status: number, failure: keyof FailureTexts, headers: readonly string[] = []): void {
    const { texts } = visit
    const next = failure === 'unknownLink' ? this.#page.instead?.(texts) : undefined
    const more = next === undefined ? null : buttonLink(next.address, next.text)
    this.#send(visit, { status, content: messageOf(texts.failures[failure], { mark: ENDED, more }), headers })
  }

  #send(
    { context, language, texts, brand }: Visit,
    { status = 200, content, refused = false, personal = false, headers = [] }: PageAnswer,
  ): void {
    const style = styleOf(brand)
    const body = documentOf(content, { language, texts, brand, style, refused, personal })
    this.#secure(context, style)
    send(context, context.state['requestId'] as string, {
      status,
      body,
      contentType: HTML_TYPE,
      cacheControl: 'no-store',
      headers: ['Content-Language', language, 'Vary', 'Accept-Language', ...headers],
    })
  }

  /** Puts the headers of pages before those of the limits. */
  #secure(context: Context, style: string): void {
    const limits = context.state['headers'] as readonly string[]
    const secured = securityHeaders(this.#parts.security, contentPolicy(style))
    context.state['headers'] = [...secured, ...PAGE_HEADERS, ...limits]
  }

  #sendTo({ context }: Visit, path: string): void {
    this.#secure(context, '')
    const answer = { status: 303, body: '', contentType: HTML_TYPE, headers: ['Location', path] }
    send(context, context.state['requestId'] as string, answer)
  }
}

const withoutSecrets = (entries: Readonly<Record<string, string>>, fields: FormFields): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).filter(([name]) => fields[name]?.secret !== true))

const callerOf = (context: Context) => ({
  tenant: null,
  principal: null,
  session: null,
  source: sourceOf(context),
  requestId: context.state['requestId'] as string,
})

/**
 * Checks query strings against a route's declaration. Every unknown parameter is refused: if a misspelt filter were
 * ignored, the answer would have rows that the client did not ask for.
 */
import { isUuid } from '../base/ids.ts'
import type { TSchema } from 'typebox'
import { DAY_MS, LAST_MS } from '../base/clock.ts'
import { type FieldErrorCode, refuse } from '../base/problems.ts'
import { compiled } from './compiled.ts'
import type { CursorBinding, Cursors } from './cursor.ts'
import { dayStart, instantOf } from './formats.ts'
import type { Filter, ListDeclaration, ListQuery } from './list.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from './page.ts'
import { CONTROL, oneOf } from './text.ts'
import type { Tenant } from '../commands/caller.ts'

/** Most values of one filter: bounds the OR list in SQL. */
const FILTER_VALUES_MAX = 100
const METADATA_FILTERS_MAX = 5
const METADATA_VALUE_MAX = 500
const Q_MIN = 2
const Q_MAX = 100

const METADATA_KEY = /^(?!__proto__$)[A-Za-z0-9_-]{1,40}$/
const FILTER_NAME = /^filter\[(.+)\]$/
const AMOUNT = /^(?:0|-?[1-9][0-9]{0,17})$/

/** Refuses a parameter of the query string by name. @throws ProblemError `malformed-request` */
export function refuseQuery(
  name: string,
  code: FieldErrorCode,
  message: string,
  params?: Record<string, string | number>,
): never {
  const field = `query.${name}`
  refuse('malformed-request', `The query parameter ${name} is not valid.`, {
    errors: [params === undefined ? { field, code, message } : { field, code, message, params }],
  })
}

function parseTime(name: string, text: string, end: boolean): string | { before: string } {
  const day = dayStart(text)
  const instant = Number.isNaN(day) ? instantOf(text.replace(' ', 'T')) : day
  if (Number.isNaN(instant)) refuseQuery(name, 'invalid_format', 'Must be a date or an RFC 3339 timestamp.')
  if (!end) return new Date(instant).toISOString()
  // The end is inclusive: a day is included as a whole, and a time with its whole last millisecond, because the API
  // shows milliseconds.
  return { before: new Date(Math.min(instant + (Number.isNaN(day) ? 1 : DAY_MS), LAST_MS)).toISOString() }
}

/** Whether a text has more than `max` code points, the unit in which bodies are measured, too. */
function isLonger(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max
}

function parseValues(name: string, text: string): string[] {
  const values = text.split(',')
  if (values.length > FILTER_VALUES_MAX) {
    refuse('too_many_filter_values', `A filter takes at most ${FILTER_VALUES_MAX} values.`, {
      extra: { filter: name, max: FILTER_VALUES_MAX },
    })
  }
  return values.map((value) => value.trim())
}

function parseFilter(field: string, name: string, filter: Filter, text: string, tenant: Tenant): unknown {
  if (text === '') refuseQuery(field, 'too_short', 'Must not be empty.', { min: 1 })
  switch (filter.kind) {
    case 'words': {
      const values = parseValues(name, text)
      if (!values.every((value) => filter.values.includes(value)))
        refuseQuery(field, 'invalid_value', oneOf(filter.values))
      return values
    }
    case 'ids': {
      if (filter.operatorOnly === true && tenant.kind !== 'operator')
        refuseQuery(field, 'unknown_field', 'This filter is for operators.')
      const values = parseValues(name, text)
      if (!values.every((value) => isUuid(value)))
        refuseQuery(field, 'invalid_format', 'Must be UUIDs separated by commas.')
      return values.map((value) => value.toLowerCase())
    }
    case 'text': {
      const values = parseValues(name, text)
      if (values.some((value) => value === '')) refuseQuery(field, 'too_short', 'Values must not be empty.', { min: 1 })
      if (values.some((value) => isLonger(value, filter.max)))
        refuseQuery(field, 'too_long', 'A value is too long.', { max: filter.max })
      return values
    }
    case 'boolean':
      if (text !== 'true' && text !== 'false') refuseQuery(field, 'invalid_type', 'Must be true or false.')
      return text === 'true'
    case 'integer':
      return parseInteger(field, text, filter.min, filter.max)
    case 'amountFrom':
    case 'amountTo':
      if (!AMOUNT.test(text)) refuseQuery(field, 'invalid_format', 'Must be an integer of minor units.')
      return BigInt(text)
    case 'dateFrom':
    case 'dateTo':
      if (Number.isNaN(dayStart(text))) refuseQuery(field, 'invalid_format', 'Must be a date.')
      return text
    case 'timeFrom':
      return parseTime(field, text, false)
    case 'timeTo':
      return parseTime(field, text, true)
    default:
      return filter satisfies never
  }
}

function isReversed(from: unknown, to: unknown): boolean {
  if (typeof from === 'bigint' && typeof to === 'bigint') return from > to
  if (typeof from !== 'string' || to === undefined) return false
  return typeof to === 'string' ? from > to : from >= (to as { before: string }).before
}

function checkRanges(declaration: ListDeclaration, filters: Readonly<Record<string, unknown>>): void {
  for (const name in filters) {
    if (name.endsWith('From') && isReversed(filters[name], filters[`${name.slice(0, -'From'.length)}To`])) {
      refuseQuery(`filter[${name}]`, 'invalid_value', 'Must not be after the end of the range.')
    }
    if (name === 'from' && isReversed(filters['from'], filters['to']))
      refuseQuery('filter[from]', 'invalid_value', 'Must not be after the end of the range.')
    const filter = declaration.filters[name]
    const oneCurrency = filter !== undefined && 'oneCurrency' in filter && filter.oneCurrency === true
    if (oneCurrency && (filters['currency'] as string[] | undefined)?.length !== 1) {
      refuseQuery(
        `filter[${name}]`,
        'invalid_value',
        'Amounts can only be compared together with one filter[currency].',
      )
    }
  }
}

function parseInteger(name: string, text: string, min: number, max: number): number {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value)) refuseQuery(name, 'invalid_type', 'Must be an integer.')
  if (value < min) refuseQuery(name, 'too_small', `Must be at least ${min}.`, { min })
  if (value > max) refuseQuery(name, 'too_large', `Must be at most ${max}.`, { max })
  return value
}

function parseQ(text: string): string {
  const words = text.trim()
  const { length } = Array.from(words)
  if (length < Q_MIN) refuseQuery('q', 'too_short', `Must have at least ${Q_MIN} characters.`, { min: Q_MIN })
  if (length > Q_MAX) refuseQuery('q', 'too_long', `Must have at most ${Q_MAX} characters.`, { max: Q_MAX })
  return words
}

/** Reads names and values of the parameters; a repeated name is refused, because one of its values would be ignored. */
function parameters(querystring: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(querystring)) {
    if (found.has(name)) refuseQuery(name, 'invalid_value', 'Must not appear twice.')
    // Postgres accepts no text with a NUL. An invalid cursor has a problem of its own.
    if (name !== 'cursor' && CONTROL.test(value))
      refuseQuery(name, 'invalid_characters', 'Control characters are not allowed.')
    // Storage keeps text in NFC.
    found.set(name, value.normalize('NFC'))
  }
  return found
}

/** The parser of one list operation. `scope` names the list and the resource that contains it. */
export type ListParser = (querystring: string, tenant: Tenant, scope: string) => ListQuery<ListDeclaration>

/** Prepares the parser of a list. */
export function compileList(declaration: ListDeclaration, cursors: Cursors): ListParser {
  const defaults: Record<string, unknown> = {}
  for (const [name, filter] of Object.entries(declaration.filters)) {
    if (filter.kind === 'words' && filter.default !== undefined) defaults[name] = filter.default
  }

  return (querystring, tenant, scope) => {
    const filters: Record<string, unknown> = { ...defaults }
    const metadata: [string, string][] = []
    let sort: string = declaration.sorts[0]
    let limit = PAGE_LIMIT_DEFAULT
    let cursor: string | null = null
    let withTotal = false
    let q: string | null = null

    if (querystring !== '') {
      for (const [name, text] of parameters(querystring)) {
        if (name === 'limit') limit = parseInteger('limit', text, 1, PAGE_LIMIT_MAX)
        else if (name === 'cursor') cursor = text
        else if (name === 'sort') {
          if (!declaration.sorts.includes(text)) refuseQuery('sort', 'invalid_value', oneOf(declaration.sorts))
          sort = text
        } else if (name === 'withTotal') {
          if (text !== 'true' && text !== 'false') refuseQuery('withTotal', 'invalid_type', 'Must be true or false.')
          withTotal = text === 'true'
        } else if (name === 'q' && declaration.q === true) q = parseQ(text)
        else {
          const filterName = FILTER_NAME.exec(name)?.[1]
          const filter =
            filterName !== undefined && Object.hasOwn(declaration.filters, filterName)
              ? declaration.filters[filterName]
              : undefined
          if (filterName !== undefined && filter !== undefined) {
            filters[filterName] = parseFilter(name, filterName, filter, text, tenant)
          } else if (declaration.metadata === true && filterName?.startsWith('metadata.') === true) {
            const key = filterName.slice('metadata.'.length)
            if (!METADATA_KEY.test(key))
              refuseQuery(name, 'invalid_format', 'The metadata key does not have the expected format.')
            if (isLonger(text, METADATA_VALUE_MAX))
              refuseQuery(name, 'too_long', 'Is too long.', { max: METADATA_VALUE_MAX })
            metadata.push([key, text])
          } else {
            refuseQuery(name, 'unknown_field', 'Is not a parameter of this operation.')
          }
        }
      }
      if (metadata.length > METADATA_FILTERS_MAX) {
        refuse('too_many_filter_values', `At most ${METADATA_FILTERS_MAX} metadata filters can be combined.`, {
          extra: { filter: 'metadata', max: METADATA_FILTERS_MAX },
        })
      }
      checkRanges(declaration, filters)
    }

    const binding = JSON.stringify(
      [scope, tenant.id, sort, q, Object.entries(filters).sort(byName), metadata.sort(byName)],
      bigintAsText,
    )
    const position = cursor === null ? null : cursors.decode(binding, cursor)
    const query: BoundListQuery<ListDeclaration> = {
      tenant,
      filters: filters as ListQuery<ListDeclaration>['filters'],
      metadata,
      sort,
      limit,
      position,
      withTotal: withTotal && position === null,
      q,
      cursors,
      binding,
    }
    return query
  }
}

function byName(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : 1
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** Prepares the parser of plain query parameters; a route without declared parameters refuses all. */
export function compileQuery(schema: TSchema | undefined): (querystring: string) => Record<string, string | number> {
  const known = (schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {}
  const required = (schema as { required?: string[] } | undefined)?.required ?? []
  const validators = new Map(Object.entries(known).map(([name, property]) => [name, compiled(property)] as const))

  return (querystring) => {
    const values: Record<string, string | number> = {}
    if (querystring !== '') {
      for (const [name, text] of parameters(querystring)) {
        const validator = validators.get(name)
        if (validator === undefined) refuseQuery(name, 'unknown_field', 'Is not a parameter of this operation.')
        const {
          type,
          minimum = 0,
          maximum = Number.MAX_SAFE_INTEGER,
          enum: words,
        } = known[name] as { type?: string; minimum?: number; maximum?: number; enum?: readonly string[] }
        if (type === 'integer') {
          values[name] = parseInteger(name, text, minimum, maximum)
          continue
        }
        if (!validator.Check(text))
          refuseQuery(name, 'invalid_value', words === undefined ? 'Is not valid.' : oneOf(words))
        values[name] = text
      }
    }
    for (const name of required) {
      if (values[name] === undefined) refuseQuery(name, 'required', 'Is required.')
    }
    return values
  }
}

/** A list query as the parser returns it: the cursors in the answer must be bound to the same query. */
export interface BoundListQuery<List> extends ListQuery<List> {
  readonly cursors: Cursors
  readonly binding: CursorBinding
}

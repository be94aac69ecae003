/**
 * Checks bodies against their schemas. A valid body costs one compiled check; only a body that fails it is examined
 * again to list its faults. TypeBox's `Decode` is never used, because it repairs invalid input.
 */
import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import type { TLocalizedValidationError } from 'typebox/error'
import type { FieldError, FieldErrorCode } from '../base/problems.ts'
import { compiled } from './compiled.ts'
import './formats.ts'
import { MONEY_PATTERN, POSITIVE_MONEY_PATTERN } from './primitives.ts'
import { normaliseText, oneOf, pointer } from './text.ts'

/**
 * Most errors of one body: as many as a person can work through at once, and a bound on the work that a hostile body
 * can cause.
 */
const ERRORS_MAX = 64
Settings.Set({ maxErrors: ERRORS_MAX })

const MONEY = new RegExp(MONEY_PATTERN)
const DIGITS = /^[1-9][0-9]*$/

interface Node {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, Node>>
  readonly anyOf?: readonly Node[]
  readonly items?: Node
}

/** A compiled body schema. */
export interface BodyValidator {
  /** Returns errors; if there are none, `value` is valid, with normalised text and ids in lower case. */
  validate(
    value: unknown,
    needsNormalising: boolean,
  ): { readonly value: unknown; readonly errors: readonly FieldError[] }
}

function valueAt(value: unknown, instancePath: string): unknown {
  let current = value
  for (const name of instancePath.split('/').slice(1)) {
    if (typeof current !== 'object' || current === null) return undefined
    current = (current as Record<string, unknown>)[name.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return current
}

function isRecord(schema: Node, instancePath: string): boolean {
  let node: Node | undefined = schema
  for (const name of instancePath.split('/').slice(1)) {
    node = node?.properties?.[name] ?? node?.items
    node = node?.anyOf?.find((branch) => branch.type !== 'null') ?? node
  }
  return node?.patternProperties !== undefined
}

function error(
  field: string,
  code: FieldErrorCode,
  message: string,
  params?: Record<string, string | number>,
): FieldError {
  return params === undefined ? { field, code, message } : { field, code, message, params }
}

/** The descriptions of the formats in error messages. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  email: 'an e-mail address',
  date: 'a date, YYYY-MM-DD',
  'date-time': 'a time with its offset, such as 2026-05-04T09:30:00Z',
  uri: 'an address',
  url: 'an address',
}

const counted = (count: number | bigint, unit: string): string => `${count} ${unit}${Number(count) === 1 ? '' : 's'}`
/** The unit that each keyword of length counts. */
const UNITS = {
  minLength: 'character',
  maxLength: 'character',
  minItems: 'item',
  maxItems: 'item',
  minProperties: 'member',
  maxProperties: 'member',
} as const

/**
 * Builds the error of a value that does not match its pattern. A zero, negative or too large amount is reported as such
 * and not as a wrong format.
 */
function patternError(field: string, value: unknown, pattern: unknown): FieldError {
  if (pattern === POSITIVE_MONEY_PATTERN && typeof value === 'string') {
    if (MONEY.test(value)) return error(field, 'too_small', 'Must be more than zero.', { min: 1 })
    if (DIGITS.test(value)) return error(field, 'too_large', 'Must fit a 64-bit integer.')
  }
  return error(field, 'invalid_format', 'Does not have the expected format.')
}

function fromTypeBox(
  schema: Node,
  readOnly: ReadonlySet<string>,
  body: unknown,
  found: TLocalizedValidationError,
): FieldError[] {
  const at = found.instancePath
  switch (found.keyword) {
    case 'required':
      return found.params.requiredProperties.map((name) => error(pointer(at, name), 'required', 'Is required.'))
    case 'additionalProperties':
      return found.params.additionalProperties.map((name) => {
        const field = pointer(at, name)
        if (isRecord(schema, at)) return error(field, 'invalid_format', 'The key does not have the expected format.')
        return at === '' && readOnly.has(name)
          ? error(field, 'read_only_field', 'Is set by the service and cannot be sent.')
          : error(field, 'unknown_field', 'Is not a field of this resource.')
      })
    case 'type':
      return [error(at, 'invalid_type', `Must be ${found.params.type}.`, { expected: String(found.params.type) })]
    case 'enum':
      return [error(at, 'invalid_value', oneOf(found.params.allowedValues))]
    case 'const':
      return [error(at, 'invalid_value', oneOf([found.params.allowedValue]))]
    case 'pattern':
      return [patternError(at, valueAt(body, at), found.params.pattern)]
    case 'format':
      return [
        error(at, 'invalid_format', `Must be ${FORMATS[found.params.format] ?? found.params.format}.`, {
          format: found.params.format,
        }),
      ]
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return [
        error(at, 'too_short', `Must have at least ${counted(found.params.limit, UNITS[found.keyword])}.`, {
          min: found.params.limit,
        }),
      ]
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return [
        error(at, 'too_long', `Must have at most ${counted(found.params.limit, UNITS[found.keyword])}.`, {
          max: found.params.limit,
        }),
      ]
    case 'minimum':
    case 'exclusiveMinimum':
      return [error(at, 'too_small', `Must be at least ${found.params.limit}.`, { min: Number(found.params.limit) })]
    case 'maximum':
    case 'exclusiveMaximum':
      return [error(at, 'too_large', `Must be at most ${found.params.limit}.`, { max: Number(found.params.limit) })]
    case 'uniqueItems':
      return [error(at, 'invalid_value', 'Must not have the same item twice.')]
    case '~refine':
      return [error(at, 'too_large', 'Is too large.')]
    // Each of these errors only reports that a nested value failed; that value has an error of its own.
    case 'anyOf':
    case 'boolean':
      return []
    default:
      return [error(at, 'invalid_value', 'Is not valid.')]
  }
}

/**
 * Removes type errors of alternatives that the client did not mean: the alternative with another error at the same
 * value or below it is the one that was meant, and null beside another type never was.
 */
function withoutOtherBranches(errors: readonly TLocalizedValidationError[]): TLocalizedValidationError[] {
  return errors.filter((candidate) => {
    if (candidate.keyword !== 'type') return true
    const { instancePath, params } = candidate
    return !errors.some(
      (other) =>
        other !== candidate &&
        other.keyword !== 'anyOf' &&
        (other.instancePath.startsWith(`${instancePath}/`) ||
          (other.instancePath === instancePath && (other.keyword !== 'type' || params.type === 'null'))),
    )
  })
}

/** Joins the type errors of one field: a value that fits none of several types has one error, not one for each type. */
function ofAnyType(errors: readonly FieldError[]): readonly FieldError[] {
  const types = Map.groupBy(
    errors.filter(({ code, params }) => code === 'invalid_type' && params !== undefined),
    ({ field }) => field,
  )
  return errors.flatMap((one) => {
    const alike = types.get(one.field)
    if (alike === undefined || alike.length === 1 || !alike.includes(one)) return [one]
    const expected = alike.map(({ params }) => params?.['expected']).join(' or ')
    return one === alike[0] ? [error(one.field, 'invalid_type', `Must be ${expected}.`, { expected })] : []
  })
}

/**
 * Converts the ids in a valid value to lower case, at any depth, and returns the value. Objects and lists are changed
 * in place.
 */
type Lowering = (value: unknown) => unknown

/**
 * Prepares the conversion of ids to lower case, because all code after validation compares ids in lower case. Null
 * where a schema has no ids: nothing needs to be searched then.
 */
function idLowering(node: Node | undefined): Lowering | null {
  if (node === undefined) return null
  if (node.format === 'uuid') return (value) => (typeof value === 'string' ? value.toLowerCase() : value)
  const steps = [...(node.anyOf ?? []).map(idLowering), inMembers(node), inItems(node)].filter((step) => step !== null)
  return steps.length === 0 ? null : (value) => steps.reduce((lowered, step) => step(lowered), value)
}

function inMembers({ properties = {} }: Node): Lowering | null {
  const members = Object.entries(properties).flatMap(([name, member]): [string, Lowering][] => {
    const lower = idLowering(member)
    return lower === null ? [] : [[name, lower]]
  })
  if (members.length === 0) return null
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const object = value as Record<string, unknown>
    for (const [name, lower] of members) if (object[name] !== undefined) object[name] = lower(object[name])
    return value
  }
}

function inItems({ items }: Node): Lowering | null {
  const lower = idLowering(items)
  if (lower === null) return null
  return (value) => {
    if (Array.isArray(value))
      value.forEach((item, at) => {
        value[at] = lower(item)
      })
    return value
  }
}

/**
 * Compiles a body schema. `resource` is the schema of the operation's answer; its members that the body lacks are
 * read-only.
 */
export function compileBody(schema: TSchema, resource: TSchema | undefined): BodyValidator {
  const node = schema as Node
  // At the first request: all at once they are a twentieth of a start.
  const validator = () => compiled(schema)
  const properties = node.properties ?? {}
  const readOnly = new Set(
    Object.keys((resource as Node | undefined)?.properties ?? {}).filter((name) => !(name in properties)),
  )
  const lowerIds = idLowering(node)

  return {
    validate(value, needsNormalising) {
      const errors: FieldError[] = []
      const body = needsNormalising ? normaliseText(node, value, '', errors) : value
      if (validator().Check(body)) {
        if (errors.length === 0) lowerIds?.(body)
        return { value: body, errors }
      }
      for (const found of withoutOtherBranches(validator().Errors(body)))
        errors.push(...fromTypeBox(node, readOnly, body, found))
      return { value: body, errors: ofAnyType(errors.slice(0, ERRORS_MAX)) }
    },
  }
}

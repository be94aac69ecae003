/**
 * Text from clients: trimmed, in Unicode NFC, without control characters.
 *
 * Only free text is changed. Strings with a format or a pattern (ids, codes, amounts, dates) stay as they were sent, so
 * that a stray space in one of them is reported as an error and not repaired silently.
 */
import type { FieldError } from '../base/problems.ts'

/** The members of JSON Schema that determine whether a string is free text. */
interface SchemaNode {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/** C0, DEL and C1. Line breaks are excluded, too: references and names are single lines on every rail. */
export const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Most allowed values that an error message lists; a longer list does not help its reader. */
const WORDS_SHOWN_MAX = 12

/** Writes the message for a value outside a closed list. */
export function oneOf(words: readonly unknown[]): string {
  return words.length <= WORDS_SHOWN_MAX ? `Must be one of ${words.join(', ')}.` : 'Is not one of the allowed values.'
}

function isFreeText(schema: SchemaNode): boolean {
  return schema.type === 'string' && schema.format === undefined && schema.pattern === undefined
}

/** Appends a name to a JSON Pointer. */
export function pointer(parent: string, name: string): string {
  return `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/**
 * Normalises the free text of a value in place and returns the result; adds an error for each text that is not allowed.
 * Called only for bodies in which some text is not plain ASCII.
 */
export function normaliseText(schema: SchemaNode, value: unknown, at: string, errors: FieldError[]): unknown {
  if (schema.anyOf !== undefined) {
    for (const branch of schema.anyOf) value = normaliseText(branch, value, at, errors)
    return value
  }
  if (typeof value === 'string') {
    if (!isFreeText(schema)) return value
    const text = value.trim().normalize('NFC')
    if (CONTROL.test(text) || !text.isWellFormed()) {
      errors.push({
        field: at,
        code: 'invalid_characters',
        message: 'Control characters and broken Unicode are not allowed.',
      })
    }
    return text
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    if (schema.items !== undefined) {
      for (let index = 0; index < value.length; index++)
        value[index] = normaliseText(schema.items, value[index], `${at}/${index}`, errors)
    }
    return value
  }
  const object = value as Record<string, unknown>
  for (const name of Object.keys(object)) {
    const member = schema.properties?.[name] ?? Object.values(schema.patternProperties ?? {})[0]
    // A member called __proto__ has no schema or fails the pattern of keys; an assignment to it would set a prototype.
    if (member !== undefined && name !== '__proto__')
      object[name] = normaliseText(member, object[name], pointer(at, name), errors)
  }
  return value
}

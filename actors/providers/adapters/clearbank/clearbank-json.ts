/** Reads members of what ClearBank writes as JSON: one that is missing or of another type is null. */
import { asObject, instantOf, type JsonObject } from '../../../../lib/base/json.ts'

/** The objects of a list; an object alone counts as a list of one, because the bank's examples show both. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return (Array.isArray(value) ? value : [value]).map(asObject).filter((each) => each !== null)
}

const TEXT_MAX = 255

/** A text that is not empty, cut at 255 characters; a text with NUL cannot be stored. */
export function textIn(object: JsonObject | null, member: string): string | null {
  const value = object?.[member]
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value.slice(0, TEXT_MAX) : null
}

/** The texts of a list, or a text alone. */
export function textsIn(object: JsonObject, member: string): readonly string[] {
  const value = object[member]
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
}

/** A time in RFC 3339, epoch milliseconds; null when it is none. */
export const timeIn = (object: JsonObject | null, member: string): number | null => instantOf(textIn(object, member))

/** Digits before the point that a double carries exactly together with two decimals. */
const POUND_DIGITS_MAX = 13

/**
 * An amount in pounds, as minor units; null when it has more than two decimals, a sign, or more digits than a JSON
 * number carries exactly.
 */
export function penceIn(object: JsonObject | null, member: string): bigint | null {
  const value = object?.[member]
  if (typeof value !== 'number') return null
  const [, pounds, pence = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(value)) ?? []
  if (pounds === undefined || pounds.length > POUND_DIGITS_MAX) return null
  return BigInt(pounds + pence.padEnd(2, '0'))
}

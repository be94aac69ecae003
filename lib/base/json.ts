/** Reads JSON that partners write: whatever it holds, members that are missing or of another type are null. */

import { LAST_MS } from './clock.ts'

/** Lengths of texts that are kept; providers send shorter ones. */
const ID_MAX = 100
const LABEL_MAX = 100
const LABELS_MAX = 50
const COMMENT_MAX = 500

/** An object of a body. */
export type JsonObject = Readonly<Record<string, unknown>>

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses a body; null when it is no JSON object in UTF-8. */
export function objectOf(bytes: Uint8Array): JsonObject | null {
  try {
    return asObject(JSON.parse(decoder.decode(bytes)))
  } catch {
    // Not UTF-8 or not JSON: there is nothing to read.
    return null
  }
}

export const asObject = (value: unknown): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null

const textOf = (value: unknown, max: number): string | null =>
  // A text with NUL cannot be stored.
  typeof value === 'string' && value !== '' && !value.includes('\0') ? value.slice(0, max) : null

/** A text that names something; null when it is too long to be a name. */
export function idIn(object: JsonObject, member: string): string | null {
  const text = textOf(object[member], ID_MAX + 1)
  return text === null || text.length > ID_MAX ? null : text
}

/** A sentence for people, cut where it is too long. */
export const commentIn = (object: JsonObject, member: string): string | null => textOf(object[member], COMMENT_MAX)

/** A list of labels. */
export function labelsIn(object: JsonObject, member: string): readonly string[] {
  const value = object[member]
  if (!Array.isArray(value)) return []
  return value
    .slice(0, LABELS_MAX)
    .map((label) => textOf(label, LABEL_MAX))
    .filter((label) => label !== null)
}

/** A time in RFC 3339, epoch milliseconds; null when it is none, or none of a message. */
export function instantOf(text: string | null): number | null {
  const at = text === null ? Number.NaN : Date.parse(text)
  return at >= 0 && at <= LAST_MS ? at : null
}

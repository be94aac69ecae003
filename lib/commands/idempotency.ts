/**
 * The identity of a command: the key under which it was sent, and a fingerprint of its content.
 *
 * The domain stores both with the outcome of the command, in the same transaction. This file only computes them.
 */
import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { type FieldError, refuse } from '../base/problems.ts'
import type { Command, Idempotency } from './command.ts'

const KEY_CHARACTERS_MAX = 255
const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_VISIBLE = 0x21
const LAST_VISIBLE = 0x7e

/** Whether the text is a key: visible ASCII without double quotes, 1 to 255 characters. */
function isKey(text: string): boolean {
  if (text.length === 0 || text.length > KEY_CHARACTERS_MAX) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < FIRST_VISIBLE || code > LAST_VISIBLE || code === QUOTE) return false
  }
  return true
}

/** Returns the content of a structured-field string; any other text is returned unchanged. */
function unquote(text: string): string {
  if (text.length < 2 || text.charCodeAt(0) !== QUOTE || text.charCodeAt(text.length - 1) !== QUOTE) return text
  const inner = text.slice(1, -1)
  if (!inner.includes('\\')) return inner
  let plain = ''
  for (let index = 0; index < inner.length; index++) {
    if (inner.charCodeAt(index) === BACKSLASH) index++
    plain += inner[index] ?? '"'
  }
  return plain
}

function refuseKey(error: Omit<FieldError, 'field'>): never {
  refuse('malformed-request', error.message, { errors: [{ field: 'header.Idempotency-Key', ...error }] })
}

/** Reads the key of a request; null when an operation with an optional key received none. */
export function parseIdempotencyKey(header: string | undefined, need: 'required' | 'optional'): string | null {
  if (header === undefined) {
    if (need === 'optional') return null
    refuseKey({ code: 'required', message: 'This operation needs an Idempotency-Key header.' })
  }
  const key = unquote(header)
  if (!isKey(key)) {
    refuseKey({
      code: 'invalid_format',
      message: 'The Idempotency-Key must be 1 to 255 visible ASCII characters without spaces or quotes.',
      params: { max: KEY_CHARACTERS_MAX },
    })
  }
  return key
}

/** Hashes all parts that a key is scoped to into an id that fits a uuid column. */
export function idempotencyId(scope: {
  readonly principalId: string
  readonly tenantId: string
  readonly method: string
  readonly path: string
  readonly key: string
}): string {
  // No part contains a space, so the parts cannot run into each other.
  return digest(`${scope.principalId} ${scope.tenantId} ${scope.method} ${scope.key} ${scope.path}`)
}

/**
 * Returns the first 128 bits of the SHA-256 as the text of a UUID: a row stores it, and a collision is out of reach.
 */
function digest(text: string): string {
  const hex = hash('sha256', text, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** Writes the parameters of the query in sorted order, so that their order in the request does not matter. */
function sortedQuery(querystring: string): string {
  if (querystring === '') return ''
  const parameters = new URLSearchParams(querystring)
  parameters.sort()
  return parameters.toString()
}

/**
 * Computes the fingerprint of a request, SHA-256 cut to the text of a UUID. Member order and number spelling of the
 * JSON do not matter; values do.
 */
export function fingerprintOf(method: string, path: string, querystring: string, body: unknown): string {
  let canonical: string | undefined
  try {
    canonical = canonicalize(body)
  } catch {
    // Only a lone surrogate or a number beyond a double has no canonical form, and neither could be stored.
    refuse('malformed-request', 'The JSON contains a lone surrogate or a number that is out of range.')
  }
  return digest(`${method} ${path}\n${sortedQuery(querystring)}\n${canonical}`)
}

/** Computes both parts of a command's identity. */
export function idempotencyOf(
  request: {
    readonly principalId: string
    readonly tenantId: string
    readonly method: string
    readonly path: string
    readonly querystring: string
    readonly body: unknown
  },
  key: string,
): Pick<Idempotency, 'id' | 'fingerprint'> {
  const { principalId, tenantId, method, path, querystring, body } = request
  return {
    id: idempotencyId({ principalId, tenantId, method, path, key }),
    fingerprint: fingerprintOf(method, path, querystring, body),
  }
}

/**
 * Gives a command that uploads a file the fingerprint of its form: the fields and the content of the file, whatever parts
 * the form has and in whatever order they came.
 */
export function withUpload<Uploading extends Pick<Command<unknown>, 'idempotency' | 'instance'>>(
  command: Uploading,
  { fields, file }: { readonly fields: Readonly<Record<string, string>>; readonly file: { readonly sha256: string } },
): Uploading {
  const { idempotency, instance } = command
  if (idempotency === null) return command
  return {
    ...command,
    idempotency: { ...idempotency, fingerprint: fingerprintOf('POST', instance, '', { fields, file: file.sha256 }) },
  }
}

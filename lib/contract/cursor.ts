/**
 * Cursors: the position at which a page of a list begins, in a form that clients can pass on but cannot read or change.
 *
 * A cursor is base64url of a MAC followed by the position. The MAC also covers the list, the tenant, the sort and the
 * filters, so a cursor fits only the query that produced it. Cursors do not expire: they hold positions, not data.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { refuse } from '../base/problems.ts'
import type { CursorKey, Position } from './list.ts'

/** Half of a SHA-256: 128 bits cannot be guessed online, and cursors stay short. */
const MAC_BYTES = 16
/** Longer than any cursor that the service makes (the longest sort key is a name of 140 code points). */
const CURSOR_CHARACTERS_MAX = 2048

/** The query that a cursor belongs to: list, tenant, sort and filters as one text. */
export type CursorBinding = string

export interface Cursors {
  encode(binding: CursorBinding, position: Position): string
  /** Reads a cursor. @throws ProblemError `invalid-cursor` for any text that `encode` did not make for this binding */
  decode(binding: CursorBinding, cursor: string): Position
}

function invalid(): never {
  refuse('invalid-cursor', 'The cursor does not belong to this list with this sort and these filters.')
}

function isKey(value: unknown): value is CursorKey {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

/**
 * Creates the maker and reader of cursors under one secret. All nodes must share the secret, or a client's next page
 * fails on another node.
 */
export function createCursors(secret: Uint8Array): Cursors {
  const key = createSecretKey(secret)

  function mac(binding: CursorBinding, payload: string): Buffer {
    // The length separates binding and payload, whatever characters they contain.
    return createHmac('sha256', key).update(`${binding.length}:${binding}${payload}`).digest().subarray(0, MAC_BYTES)
  }

  return {
    encode(binding, { direction, keys }) {
      const payload = JSON.stringify([direction === 'after' ? 0 : 1, ...keys])
      return Buffer.concat([mac(binding, payload), Buffer.from(payload)]).toString('base64url')
    },

    decode(binding, cursor) {
      if (cursor.length > CURSOR_CHARACTERS_MAX || !/^[A-Za-z0-9_-]+$/.test(cursor)) invalid()
      const bytes = Buffer.from(cursor, 'base64url')
      if (bytes.length <= MAC_BYTES) invalid()
      const payload = bytes.toString('utf8', MAC_BYTES)
      if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(binding, payload))) invalid()
      const record: unknown = JSON.parse(payload)
      if (!Array.isArray(record)) invalid()
      const [direction, ...keys] = record as unknown[]
      if (!keys.every(isKey)) invalid()
      return { direction: direction === 0 ? 'after' : 'before', keys }
    },
  }
}

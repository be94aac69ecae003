/**
 * Identifiers: UUIDs made by the server (RFC 9562, version 7) and the human order numbers printed on documents.
 *
 * Ids of one source ascend strictly as text, also within a millisecond and when the clock steps back.
 * On input any UUID version is accepted, and comparison is lower-case.
 */
import { randomFillSync } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Makes new ids. One per process or worker is enough. */
export interface IdSource {
  /** A new UUIDv7, lower-case, later in order than every id this source made before. */
  next(): string
}

// A block of 4 KiB serves about 500 ids, which makes the cost of calling the random generator negligible.
const RANDOM_BLOCK_BYTES = 4096
const RANDOM_DRAW_BYTES = 8

// The twelve bits after the version are the counter. Each millisecond starts it at a random value in the lower half, so
// that two nodes seldom share a value and at least 2 048 ids remain before it overflows.
const COUNTER_MAX = 0xfff
const COUNTER_SEED_MASK = 0x7ff

const HEX_CODES = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
const HYPHEN = 0x2d

/**
 * Creates a source of UUIDv7. The timestamp is the clock's; a counter keeps the order within the millisecond; 62 random
 * bits follow. When the counter overflows, the timestamp runs one millisecond ahead of the clock, as RFC 9562 allows.
 * `fillRandom` is replaced only by simulations that must be repeatable.
 */
export function createIdSource(clock: Clock, fillRandom: (block: Uint8Array) => unknown = randomFillSync): IdSource {
  const random = new Uint8Array(RANDOM_BLOCK_BYTES)
  let randomAt = RANDOM_BLOCK_BYTES
  const text = Buffer.alloc(36, HYPHEN)
  let ms = -1
  let counter = 0

  // The first thirteen characters change once a millisecond, so they are written once a millisecond.
  function writeTime(): void {
    let rest = ms
    for (const at of TIME_DIGITS) {
      text[at] = HEX_CODES[rest % 16]!
      rest = Math.floor(rest / 16)
    }
    text[14] = 0x37 // the version digit, "7"
  }

  // Returns the offset of the next eight random bytes. No byte is used twice: counter seed and tail use different
  // bytes.
  function draw(): number {
    if (randomAt === RANDOM_BLOCK_BYTES) {
      fillRandom(random)
      randomAt = 0
    }
    const at = randomAt
    randomAt += RANDOM_DRAW_BYTES
    return at
  }

  function next(): string {
    const now = clock.now()
    if (now > ms) {
      ms = now
      const at = draw()
      counter = ((random[at]! << 8) | random[at + 1]!) & COUNTER_SEED_MASK
      writeTime()
    } else if (counter === COUNTER_MAX) {
      ms += 1
      counter = 0
      writeTime()
    } else {
      counter += 1
    }
    text[15] = HEX_CODES[counter >> 8]!
    text[16] = HEX_CODES[(counter >> 4) & 15]!
    text[17] = HEX_CODES[counter & 15]!
    const tail = draw()
    const variant = random[tail]!
    text[19] = HEX_CODES[8 | ((variant >> 4) & 3)]! // the variant of RFC 9562 is the two bits 10
    text[20] = HEX_CODES[variant & 15]!
    let byte = random[tail + 1]!
    text[21] = HEX_CODES[byte >> 4]!
    text[22] = HEX_CODES[byte & 15]!
    for (let index = 2, at = 24; index < RANDOM_DRAW_BYTES; index += 1, at += 2) {
      byte = random[tail + index]!
      text[at] = HEX_CODES[byte >> 4]!
      text[at + 1] = HEX_CODES[byte & 15]!
    }
    return text.toString('latin1')
  }

  return { next }
}

const DERIVED_MAX = 0xfff

/**
 * Derives the ids of a decision's rows from the seed of its command, so that the same command gives the same ids. They
 * ascend, and lie in order where the seed lies: time and counter are the seed's, its first twelve random bits give way
 * to the number of the id, and fifty random bits remain, which keep the ids of different seeds apart.
 *
 * @param seed an id of `createIdSource` that was drawn for this one command, and is itself the id of no row. A derived
 *   id is no seed: it would give the ids of its own seed again
 */
export function idsFrom(seed: string): IdSource {
  let number = 0
  const head = seed.slice(0, 20)
  const tail = seed.slice(23)
  return {
    next() {
      number += 1
      if (number > DERIVED_MAX) throw new RangeError(`The decision of ${seed} makes more than ${DERIVED_MAX} ids.`)
      return `${head}${number.toString(16).padStart(3, '0')}${tail}`
    },
  }
}

// Positions of the twelve timestamp digits, least significant first.
const TIME_DIGITS = [12, 11, 10, 9, 7, 6, 5, 4, 3, 2, 1, 0] as const

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID of any version, in either case. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text)
}

/** The form in which UUIDs are stored and compared: lower-case. Null when the text is no UUID. */
export function normaliseUuid(text: string): string | null {
  return isUuid(text) ? text.toLowerCase() : null
}

/**
 * Reads the creation time of a UUIDv7, epoch milliseconds (its first 48 bits). Null for other versions and other texts.
 */
export function uuidTime(id: string): number | null {
  if (id[14] !== '7' || !isUuid(id)) return null
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/**
 * The objects that have order numbers: payment, transfer, exchange, drawdown, collection, funds request, schedule, bulk
 * upload.
 */
export type OrderPrefix = 'PAY' | 'TRF' | 'EXC' | 'DRW' | 'COL' | 'FRQ' | 'SCH' | 'BLK'

const PREFIXES: ReadonlySet<string> = new Set<OrderPrefix>(['PAY', 'TRF', 'EXC', 'DRW', 'COL', 'FRQ', 'SCH', 'BLK'])

// Crockford's alphabet has no I, L, O or U, so a number is not misheard when it is read out over the telephone.
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ORDER_DIGITS = 10
const ORDER_VALUES = 1n << 50n

/**
 * Formats a counter value (0 to 2^50 - 1) as an order number: the prefix and ten Crockford base32 characters, high
 * digits first.
 */
export function orderNumber(prefix: OrderPrefix, value: bigint): string {
  if (value < 0n || value >= ORDER_VALUES) throw new RangeError(`order counter ${value} does not fit 50 bits`)
  // 50 bits are exact in a double, and plain numbers are several times faster than bigints here.
  let rest = Number(value)
  let digits = ''
  for (let count = 0; count < ORDER_DIGITS; count += 1) {
    digits = CROCKFORD[rest % 32] + digits
    rest = Math.floor(rest / 32)
  }
  return prefix + digits
}

/**
 * Reads an order number as a person may type it: either case, I and L for 1, O for 0. Returns prefix and counter value;
 * null when the text is no order number.
 */
export function parseOrderNumber(text: string): { readonly prefix: OrderPrefix; readonly value: bigint } | null {
  const upper = text.toUpperCase()
  const prefix = upper.slice(0, 3)
  if (upper.length !== 3 + ORDER_DIGITS || !isOrderPrefix(prefix)) return null
  let value = 0
  for (const digit of upper.slice(3).replace(/[IL]/g, '1').replaceAll('O', '0')) {
    const worth = CROCKFORD.indexOf(digit)
    if (worth < 0) return null
    value = value * 32 + worth
  }
  return { prefix, value: BigInt(value) }
}

function isOrderPrefix(text: string): text is OrderPrefix {
  return PREFIXES.has(text)
}

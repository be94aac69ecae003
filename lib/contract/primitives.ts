/**
 * The basic types that the schemas of all resources use. A `title` makes a schema a named component of the OpenAPI
 * document.
 */
import { RAIL_NAMES } from '../rails/rails.ts'
import Type, { type Static, type TSchema, type TSchemaOptions } from 'typebox'

/** The pattern of attribute keys. `__proto__` consists of allowed characters but must never become a property name. */
const METADATA_KEY = '^(?!__proto__$)[A-Za-z0-9_-]{1,40}$'
const METADATA_KEYS_MAX = 50
const METADATA_VALUE_MAX = 500
const METADATA_BYTES_MAX = 16 * 1024

/** The pattern of any amount, and the pattern of an amount that can be moved, which is above zero. */
export const MONEY_PATTERN = '^(0|-?[1-9][0-9]{0,18})$'
export const POSITIVE_MONEY_PATTERN = '^[1-9][0-9]{0,18}$'
const NINETEEN_DIGITS = /^-?[0-9]{19}$/

/** Builds the schema that also accepts null. */
export function Nullable<Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options)
}

/** Builds the schema of a closed list of text values. */
export function Words<const Values extends readonly string[]>(title: string, values: Values, description = '') {
  return Type.Enum<[...Values]>(
    values as unknown as [...Values],
    description === '' ? { title } : { title, description },
  )
}

/** Builds the schema of text, its length in code points. Input is trimmed and in NFC before its length is checked. */
export function Text(minLength: number, maxLength: number, options: TSchemaOptions = {}) {
  return minLength === 0 ? Type.String({ maxLength, ...options }) : Type.String({ minLength, maxLength, ...options })
}

export const Uuid = Type.String({
  format: 'uuid',
  title: 'Uuid',
  description: 'UUID; compared in lower case.',
  examples: ['01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'],
})

export const Timestamp = Type.String({
  format: 'date-time',
  title: 'Timestamp',
  description: 'RFC 3339 in UTC with milliseconds.',
  examples: ['2026-05-04T09:30:00.000Z'],
})

export const CalendarDate = Type.String({
  format: 'date',
  title: 'Date',
  description: 'ISO 8601 date without a zone.',
  examples: ['2026-05-04'],
})

export const CurrencyCode = Type.String({
  pattern: '^[A-Z]{3}$',
  title: 'CurrencyCode',
  description: 'ISO 4217 code.',
  examples: ['EUR'],
})

export const CountryCode = Type.String({
  pattern: '^[A-Z]{2}$',
  title: 'CountryCode',
  description: 'ISO 3166 alpha-2 code.',
  examples: ['NL'],
})

export const Email = Type.String({ format: 'email', title: 'Email', maxLength: 254 })

/** Whether a number of nineteen digits fits an int64. The pattern alone judges every other text. */
function fitsInt64(text: unknown): boolean {
  return typeof text !== 'string' || !NINETEEN_DIGITS.test(text) || BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

export const Money = Type.Object(
  {
    amountMinor: Type.Refine(
      Type.String({ pattern: MONEY_PATTERN, description: 'Minor units of the currency as text (int64).' }),
      fitsInt64,
      () => 'too_large',
    ),
    currency: CurrencyCode,
  },
  { title: 'Money', additionalProperties: false, examples: [{ amountMinor: '12500', currency: 'EUR' }] },
)
export type Money = Static<typeof Money>

export const PositiveMoney = Type.Object(
  {
    amountMinor: Type.Refine(
      Type.String({
        pattern: POSITIVE_MONEY_PATTERN,
        description: 'Minor units of the currency as text (int64), more than zero.',
      }),
      fitsInt64,
      () => 'too_large',
    ),
    currency: CurrencyCode,
  },
  { title: 'PositiveMoney', additionalProperties: false, examples: [{ amountMinor: '12500', currency: 'EUR' }] },
)
export type PositiveMoney = Static<typeof PositiveMoney>

function metadataBytes(metadata: Readonly<Record<string, string>>): number {
  let bytes = 0
  for (const key in metadata) {
    const value: unknown = metadata[key]
    bytes += key.length + (typeof value === 'string' ? Buffer.byteLength(value) : 0)
  }
  return bytes
}

export const Metadata = Type.Refine(
  Type.Record(Type.String({ pattern: METADATA_KEY }), Type.String({ maxLength: METADATA_VALUE_MAX }), {
    title: 'Metadata',
    description: 'Attributes of the client: at most 50 keys, values of up to 500 characters, 16 KiB in all.',
    additionalProperties: false,
    maxProperties: METADATA_KEYS_MAX,
    examples: [{ costCentre: '4711' }],
  }),
  (metadata: Record<string, string>) =>
    typeof metadata !== 'object' || metadata === null || metadataBytes(metadata) <= METADATA_BYTES_MAX,
  () => 'too_large',
)

/** A change of attributes: a null value removes an attribute, an absent key keeps it. */
export const MetadataPatch = Type.Record(
  Type.String({ pattern: METADATA_KEY }),
  Nullable(Type.String({ maxLength: METADATA_VALUE_MAX })),
  {
    title: 'MetadataPatch',
    description: 'Merged key by key; null removes a key.',
    additionalProperties: false,
    maxProperties: METADATA_KEYS_MAX,
    examples: [{ costCentre: null }],
  },
)

/** Whether attributes merged from two sources are within the limits for one set of attributes. */
export function fitsMetadata(metadata: Readonly<Record<string, string>>): boolean {
  return Object.keys(metadata).length <= METADATA_KEYS_MAX && metadataBytes(metadata) <= METADATA_BYTES_MAX
}

export const ExternalId = Text(1, 64, {
  description: 'Reference of the client, unique per customer and resource type.',
  examples: ['INV-2026-0042'],
})

/** A decimal: units of the buy currency for one unit of the sell currency. */
export const Rate = Type.String({
  pattern: '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,10})?$',
  title: 'Rate',
  examples: ['1.0842'],
})

export const Rail = Words('Rail', RAIL_NAMES, 'The payment system that carries money between banks.')

export const CREATED_VIA = ['api_key', 'web', 'mobile', 'bulk', 'schedule', 'system', 'operator'] as const

export const CreatedVia = Words('CreatedVia', CREATED_VIA)

export const RecallStatus = Words('RecallStatus', ['requested', 'accepted', 'rejected', 'expired'])

export const Failure = Type.Object(
  {
    code: Words('FailureCode', [
      'insufficient_funds',
      'account_not_found',
      'account_closed',
      'account_blocked',
      'account_not_eligible',
      'invalid_account_details',
      'name_mismatch',
      'bank_unreachable',
      'unsupported_currency',
      'amount_limit_exceeded',
      'duplicate',
      'refused_by_recipient_bank',
      'refused_by_recipient',
      'regulatory_information_missing',
      'reference_invalid',
      'cutoff_missed',
      'declined',
      'approval_expired',
      'rate_moved',
      'recalled',
      'recipient_deceased',
      'technical_error',
      'unknown',
    ]),
    message: Type.String(),
    scheme: Nullable(Type.String()),
    schemeCode: Nullable(Type.String()),
    retryable: Type.Boolean({ description: 'Whether a new payment may succeed unchanged.' }),
    at: Timestamp,
  },
  { title: 'Failure' },
)

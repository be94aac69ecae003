/**
 * Examples of bodies, made from their schemas, so that none is missing or out of date. An example in the schema itself
 * is used if there is one. The test of the document checks every example against its schema.
 */

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
}

/** Texts by format, and by names that mean the same in every schema. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
  'date-time': '2026-05-04T09:30:00.000Z',
  date: '2026-05-04',
  email: 'ann@example.com',
  uri: 'https://example.com/',
}
const NAMES: Readonly<Record<string, string>> = {
  email: 'ann@example.com',
  password: 'four words that nobody has',
  currentPassword: 'four words that nobody has',
  newPassword: 'another four words of mine',
  token: 'ses_Zm91ciB3b3JkcyB0aGF0IG5vYm9keSBoYXMgeWV0ISE',
  csrfToken: 'c3BlYWsgZnJpZW5kIGFuZCBlbnRlciwgc2FpZCBoZQ',
  nextCursor: 'eyJhIjoxfQ',
  prevCursor: 'eyJhIjowfQ',
  name: 'Example',
  reference: 'Invoice 2026-0042',
  instance: '/v1/payments',
  route: '/payments',
  secret: 'svc_test_4fT9aZx0Q1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6J7k8L9',
  address: '192.0.2.7',
  otpauthUri: 'otpauth://totp/vostro:ann%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  locale: 'en',
  phone: '+31201234567',
  country: 'NL',
  totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  maskedIdentifier: 'NL77****0001',
  version: '0.1.0',
  commit: '0123abc',
}

/** Sample codes, numbers and addresses, for patterns. */
const PIECES = ['12500', 'EUR', 'NL', '123456', 'example', 'EXAMPLE', '2026-05-04', 'https://example.com/hook', '1']

function textOf(schema: Schema, name: string): string {
  const { format, pattern, minLength = 0, maxLength = Infinity } = schema
  if (format !== undefined) return FORMATS[format] ?? 'text'
  const known = NAMES[name] ?? name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  const text = (known === '' ? 'text' : known).slice(0, maxLength).padEnd(minLength, '.')
  if (pattern === undefined) return text
  const fits = new RegExp(pattern, 'u')
  // A pattern that matches none of these needs an example in its schema.
  return (
    [text, ...PIECES].find((piece) => fits.test(piece) && piece.length >= minLength && piece.length <= maxLength) ?? ''
  )
}

/** Makes an example of a schema, with all members or only the required ones. */
export function exampleOf(schema: unknown, members: 'all' | 'required', name = ''): unknown {
  const node = schema as Schema
  const { examples, anyOf, items, properties } = node
  if (examples !== undefined && examples.length > 0) return examples[0]
  if (node.const !== undefined) return node.const
  if (anyOf !== undefined) return exampleOf(anyOf.find(({ type }) => type !== 'null') ?? anyOf[0], members, name)
  if (node.enum !== undefined) return node.enum[0]
  if (node.default !== undefined) return node.default
  switch (node.type) {
    case 'string':
      return textOf(node, name)
    case 'integer':
    case 'number':
      return Math.min(node.maximum ?? Infinity, Math.max(node.minimum ?? 0, 1))
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return items === undefined
        ? []
        : Array.from({ length: Math.max(node.minItems ?? 1, 1) }, () =>
            exampleOf(items, members, name.replace(/s$/, '')),
          )
    case 'object': {
      const wanted = Object.entries(properties ?? {}).filter(
        ([property]) => members === 'all' || node.required?.includes(property) === true,
      )
      return Object.fromEntries(wanted.map(([property, member]) => [property, exampleOf(member, members, property)]))
    }
    default:
      return {}
  }
}

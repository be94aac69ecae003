/** Schemas of an operator's branding. */
import Type, { type Static } from 'typebox'
import { Email, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { LOGO_BYTES_MAX, LOGO_PIXELS_MAX, LOGO_TYPES } from './logo.ts'

const NAME_MAX = 60
const FOOTER_MAX = 300
const URL_MAX = 500
/** Four characters of base64 carry three bytes. */
const BASE64_MAX = Math.ceil(LOGO_BYTES_MAX / 3) * 4

const Color = (description: string) =>
  Nullable(Type.String({ pattern: '^#[0-9a-fA-F]{6}$', examples: ['#1f3a5f'] }), { description })

const fields = {
  displayName: Nullable(Text(1, NAME_MAX), {
    description: 'The name that mails and pages show. Null: the name of the operator.',
  }),
  primaryColor: Color('The colour of bars and buttons. Null: a dark blue.'),
  linkColor: Color('The colour of links, readable on white (a contrast of 4.5). Null: a blue.'),
  logo: Nullable(
    Type.Object(
      {
        contentType: Words('LogoType', LOGO_TYPES),
        data: Type.String({
          pattern: '^[A-Za-z0-9+/]+={0,2}$',
          maxLength: BASE64_MAX,
          description: 'Base64.',
        }),
      },
      { title: 'Logo', additionalProperties: false },
    ),
    {
      description:
        `A PNG of at most ${LOGO_PIXELS_MAX} by ${LOGO_PIXELS_MAX} pixels, which mails show too, or an SVG of ` +
        `drawing elements alone, which pages show; at most ${LOGO_BYTES_MAX / 1024} KiB.`,
    },
  ),
  supportEmail: Nullable(Email, { description: 'The address to which mails and pages send people with questions.' }),
  supportPhone: Nullable(Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$', examples: ['+31201234567'] }), {
    description: 'E.164.',
  }),
  supportUrl: Nullable(
    Type.String({
      pattern: '^https://[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?(/[!#-;=?-~]*)?$',
      maxLength: URL_MAX,
      examples: ['https://bank.example/help'],
    }),
    { description: 'A page of help; https.' },
  ),
  footer: Nullable(Text(1, FOOTER_MAX), {
    description: 'Details of the company that end every mail and page.',
    examples: ['Example Bank B.V., Amsterdam, registered under 12345678'],
  }),
}

const BrandingFields = Type.Object(fields)
/** The branding that an operator sets. */
export type BrandingFields = Static<typeof BrandingFields>

export const Branding = Type.Object(
  { ...fields, updatedBy: Nullable(Uuid), updatedAt: Nullable(Timestamp) },
  { title: 'Branding' },
)
export type Branding = Static<typeof Branding>

export const BrandingUpdate = Type.Partial(BrandingFields, {
  title: 'BrandingUpdate',
  additionalProperties: false,
  examples: [{ displayName: 'Example Bank', primaryColor: '#1f3a5f', supportEmail: 'help@bank.example' }],
})
export type BrandingUpdate = Static<typeof BrandingUpdate>

/** Schemas of people: profile, password and second factors. */
import Type, { type Static } from 'typebox'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { Password } from './session-schema.ts'
import { WebAuthnCreationOptions } from './webauthn-schema.ts'

const Name = Text(1, 140)
const Phone = Nullable(Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$', description: 'E.164.' }))
const Locale = Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$', examples: ['en'] })

export const User = Type.Object(
  {
    id: Uuid,
    email: Type.String(),
    name: Name,
    phone: Phone,
    locale: Locale,
    mfaEnabled: Type.Boolean(),
    passwordChangedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'User' },
)
export type User = Static<typeof User>

export const UserUpdate = Type.Object(
  {
    name: Type.Optional(Name),
    phone: Type.Optional(Phone),
    locale: Type.Optional(Locale),
  },
  { title: 'UserUpdate', additionalProperties: false },
)
export type UserUpdate = Static<typeof UserUpdate>

export const PasswordChange = Type.Object(
  {
    currentPassword: Password,
    newPassword: Password,
  },
  { title: 'PasswordChange', additionalProperties: false },
)

export const PasswordResetRequest = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254, pattern: '@' }),
  },
  { title: 'PasswordResetRequest', additionalProperties: false },
)

export const PasswordResetComplete = Type.Object(
  { password: Password },
  { title: 'PasswordResetComplete', additionalProperties: false },
)

const FactorKind = Words(
  'MfaFactorKind',
  ['totp', 'webauthn'],
  'An authenticator app with codes, or an authenticator of WebAuthn: a security key or a passkey.',
)

const FactorName = Text(1, 80)
const factor = {
  id: Uuid,
  kind: FactorKind,
  name: FactorName,
  status: Words('MfaFactorStatus', ['pending', 'active']),
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
  waitsUntil: Nullable(Timestamp, {
    description:
      'Until then the factor signs in and opens the settings, and proves nothing with which money moves, because it was ' +
      'added with a recovery code. Null: it proves everything.',
  }),
}
export const MfaFactor = Type.Object(factor, { title: 'MfaFactor' })
export type MfaFactor = Static<typeof MfaFactor>

export const NewMfaFactor = Type.Object(
  {
    ...factor,
    secret: Nullable(Type.String(), { description: 'Base32, shown once; null for an authenticator of WebAuthn.' }),
    otpauthUri: Nullable(Type.String(), {
      description: 'An otpauth address for a QR code; it contains the secret. Null where there is none.',
    }),
    publicKey: Nullable(WebAuthnCreationOptions),
  },
  { title: 'NewMfaFactor' },
)
export type NewMfaFactor = Static<typeof NewMfaFactor>

export const FactorCreate = Type.Object(
  {
    kind: FactorKind,
    name: Type.Optional(FactorName),
  },
  { title: 'MfaFactorCreate', additionalProperties: false },
)
export type FactorCreate = Static<typeof FactorCreate>

export const FactorUpdate = Type.Object({ name: FactorName }, { title: 'MfaFactorUpdate', additionalProperties: false })
export type FactorUpdate = Static<typeof FactorUpdate>

const recoveryCodes = {
  left: Type.Integer({ description: 'The codes that were not used yet.' }),
  createdAt: Nullable(Timestamp, { description: 'When the codes were made; null: none were made yet.' }),
}
export const RecoveryCodes = Type.Object(recoveryCodes, { title: 'RecoveryCodes' })
export type RecoveryCodes = Static<typeof RecoveryCodes>

export const NewRecoveryCodes = Type.Object(
  {
    ...recoveryCodes,
    codes: Type.Array(Type.String(), { description: 'Each works once. Shown once, in this answer alone.' }),
  },
  { title: 'NewRecoveryCodes' },
)
export type NewRecoveryCodes = Static<typeof NewRecoveryCodes>

/** WebAuthn in JSON: the options for the browser, and the answers of its authenticator. */
import Type, { type Static } from 'typebox'
import { Nullable } from '../contract/primitives.ts'

/** Bytes in base64url without padding; the maximum is of characters. */
const Bytes = (maxLength: number, description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]+$',
    minLength: 1,
    maxLength,
    description,
    examples: ['AZgNbn86fCGfWAobLD1OXw'],
  })

/** The id of a credential has at most 1 023 bytes. */
const CREDENTIAL_ID_CHARACTERS_MAX = 1_364
/** The id of a person has at most 64 bytes. */
const USER_HANDLE_CHARACTERS_MAX = 86
/** Client data are a few hundred bytes, with an origin of at most a kilobyte and room for members to come. */
const CLIENT_DATA_CHARACTERS_MAX = 8_192
/** The largest answers have an id and an RSA key of their full length, and stay below 4 KiB. */
const AUTHENTICATOR_DATA_CHARACTERS_MAX = 5_500
const SIGNATURE_CHARACTERS_MAX = 1_024

const CredentialId = Bytes(CREDENTIAL_ID_CHARACTERS_MAX, 'The id of the credential, base64url.')
const ClientData = Bytes(CLIENT_DATA_CHARACTERS_MAX, 'base64url.')
const AuthenticatorData = Bytes(AUTHENTICATOR_DATA_CHARACTERS_MAX, 'base64url.')
const PublicKeyType = Type.Enum(['public-key'])

// A browser's `toJSON` has further members, and later versions will have more, so unknown members are ignored.
const credential = { id: CredentialId, rawId: CredentialId, type: PublicKeyType }

export const WebAuthnAttestation = Type.Object(
  {
    ...credential,
    response: Type.Object(
      {
        clientDataJSON: ClientData,
        attestationObject: AuthenticatorData,
        transports: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 32 }), { maxItems: 16 })),
      },
      { title: 'WebAuthnAttestationResponse' },
    ),
  },
  {
    title: 'WebAuthnAttestation',
    description: 'The `toJSON()` of the credential that `navigator.credentials.create` has made.',
  },
)
export type WebAuthnAttestation = Static<typeof WebAuthnAttestation>

export const WebAuthnAssertion = Type.Object(
  {
    ...credential,
    response: Type.Object(
      {
        clientDataJSON: ClientData,
        authenticatorData: AuthenticatorData,
        signature: Bytes(SIGNATURE_CHARACTERS_MAX, 'base64url.'),
        userHandle: Type.Optional(Nullable(Bytes(USER_HANDLE_CHARACTERS_MAX, 'base64url.'))),
      },
      { title: 'WebAuthnAssertionResponse' },
    ),
  },
  {
    title: 'WebAuthnAssertion',
    description: 'The `toJSON()` of the credential that `navigator.credentials.get` has returned.',
  },
)
export type WebAuthnAssertion = Static<typeof WebAuthnAssertion>

const Descriptor = Type.Object(
  { type: PublicKeyType, id: CredentialId, transports: Type.Array(Type.String()) },
  { title: 'WebAuthnCredential' },
)

export const WebAuthnRequestOptions = Type.Object(
  {
    challenge: Type.String({ description: 'base64url.' }),
    timeout: Type.Integer({ description: 'Milliseconds.' }),
    rpId: Type.String(),
    allowCredentials: Type.Array(Descriptor),
    userVerification: Type.Enum(['required']),
  },
  {
    title: 'WebAuthnRequestOptions',
    description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON`, then `navigator.credentials.get`.',
  },
)
export type WebAuthnRequestOptions = Static<typeof WebAuthnRequestOptions>

export const WebAuthnCreationOptions = Type.Object(
  {
    challenge: Type.String({ description: 'base64url.' }),
    timeout: Type.Integer({ description: 'Milliseconds.' }),
    rp: Type.Object({ id: Type.String(), name: Type.String() }, { title: 'WebAuthnRelyingParty' }),
    user: Type.Object(
      { id: Type.String({ description: 'base64url.' }), name: Type.String(), displayName: Type.String() },
      { title: 'WebAuthnUser' },
    ),
    pubKeyCredParams: Type.Array(
      Type.Object({ type: PublicKeyType, alg: Type.Integer() }, { title: 'WebAuthnAlgorithm' }),
    ),
    excludeCredentials: Type.Array(Descriptor),
    authenticatorSelection: Type.Object(
      { residentKey: Type.Enum(['discouraged']), userVerification: Type.Enum(['required']) },
      { title: 'WebAuthnAuthenticatorSelection' },
    ),
    attestation: Type.Enum(['none']),
  },
  {
    title: 'WebAuthnCreationOptions',
    description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON`, then `navigator.credentials.create`.',
  },
)
export type WebAuthnCreationOptions = Static<typeof WebAuthnCreationOptions>

/**
 * Second factors of kind `webauthn`: the options for the browser, and the checks of an authenticator's answers
 * (WebAuthn Level 3, sections 7.1 and 7.2). @simplewebauthn/server reads CBOR and COSE, compares challenge, origin and
 * relying party, and verifies signatures; the checks that it leaves to its callers are here.
 *
 * A proof stands for the person's consent to a payment, so the authenticator has to verify the person (a PIN or
 * biometrics), beyond the mere touch of a key. The make of the authenticator does not matter, so attestation is `none`:
 * no certificate is read, and nothing is fetched from the network.
 */
import type { Config } from '../config/config.ts'
import { isWithinDomain } from '../security/origins.ts'
import type { SecretBox } from '../security/secret-box.ts'
import { CHALLENGE_MS } from './step-up.ts'
import type {
  WebAuthnAssertion,
  WebAuthnAttestation,
  WebAuthnCreationOptions,
  WebAuthnRequestOptions,
} from './webauthn-schema.ts'

const NAME = 'vostro'
/** EdDSA, ES256 and RS256 (IANA COSE algorithms), in the order of preference; every authenticator has one of them. */
const ALGORITHMS = [-8, -7, -257]
const CHALLENGE_BYTES = 32

// Loading the library takes 0.2 s and 28 MB, which a node without such factors does not spend.
const library = () => import('@simplewebauthn/server')
const decoders = () => import('@simplewebauthn/server/helpers')

/** The party that credentials are made for, and the origins whose pages may use them. */
export interface RelyingParty {
  readonly id: string
  readonly origins: readonly string[]
}

/** Hosts of the machine itself. Browsers have no credentials for addresses, so pages use `localhost`. */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\])$/

/** Derives the relying party from the settings. `address` is where clients reach the service, without a path. */
export function relyingPartyOf(
  { webauthnRpId, consoleOrigins }: Pick<Config, 'webauthnRpId' | 'consoleOrigins'>,
  address: string,
): RelyingParty {
  const home = new URL(address)
  if (LOOPBACK.test(home.hostname)) home.hostname = 'localhost'
  const id = webauthnRpId ?? home.hostname
  return { id, origins: [home.origin, ...consoleOrigins].filter((origin) => isWithinDomain(id, origin)) }
}

/** A registered credential. */
export interface WebAuthnCredential {
  /** base64url. */
  readonly id: string
  /** COSE. */
  readonly publicKey: Uint8Array
  /** The authenticator's count of signatures; 0 where it counts none. */
  readonly signCount: number
  readonly transports: readonly string[]
}

/** One registration or proof: the relying party, and the challenge that the answer has to repeat (base64url). */
export interface Ceremony {
  readonly relyingParty: RelyingParty
  readonly challenge: string
}

/** The fault of an answer: a pointer into it, and a sentence. */
export interface WebAuthnFault {
  readonly pointer: string
  readonly message: string
}

/**
 * Computes the random value of a challenge: it can be read again on any node while the challenge lives, and be computed
 * only with the service's key.
 */
export function webauthnChallenge(secrets: SecretBox, challengeId: string): string {
  return secrets.derive(`webauthn challenge ${challengeId}`, CHALLENGE_BYTES).toString('base64url')
}

/** The id of a person for authenticators; it tells nothing about the person. */
const userHandle = (userId: string): string => Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url')

const descriptor = ({ id, transports }: Pick<WebAuthnCredential, 'id' | 'transports'>) => ({
  type: 'public-key' as const,
  id,
  transports: [...transports],
})

/** Builds the options with which a browser makes a credential; it refuses authenticators that have one of `known`. */
export function creationOptions(
  { relyingParty, challenge }: Ceremony,
  person: { readonly userId: string; readonly email: string; readonly name: string },
  known: readonly Pick<WebAuthnCredential, 'id' | 'transports'>[],
): WebAuthnCreationOptions {
  return {
    challenge,
    timeout: CHALLENGE_MS,
    rp: { id: relyingParty.id, name: NAME },
    user: {
      id: userHandle(person.userId),
      name: person.email,
      displayName: person.name,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
    attestation: 'none',
  }
}

/** Builds the options with which a browser proves one of the person's credentials. */
export function requestOptions(
  { relyingParty, challenge }: Ceremony,
  credentials: readonly Pick<WebAuthnCredential, 'id' | 'transports'>[],
): WebAuthnRequestOptions {
  return {
    challenge,
    timeout: CHALLENGE_MS,
    rpId: relyingParty.id,
    allowCredentials: credentials.map(descriptor),
    userVerification: 'required',
  }
}

/**
 * Checks a new credential.
 *
 * @returns the credential, or the fault of the answer
 */
export async function verifyAttestation(
  attestation: WebAuthnAttestation,
  { relyingParty, challenge }: Ceremony,
): Promise<{ readonly credential: WebAuthnCredential } | { readonly fault: WebAuthnFault }> {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([library(), decoders()])
  const { id, response } = attestation
  try {
    const statement = decodeAttestationObject(Buffer.from(response.attestationObject, 'base64url'))
    const format = statement.get('fmt')
    // A statement with certificates would be checked against lists at addresses that the certificates name themselves.
    // Without them `packed` is signed by the new key itself, which browsers leave as it is.
    if (format !== 'none' && !(format === 'packed' && statement.get('attStmt').get('x5c') === undefined))
      return { fault: { pointer: '/response/attestationObject', message: 'The attestation must be none.' } }
    if (await isFramed(response.clientDataJSON)) return { fault: FRAMED }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...attestation,
        response: { clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: [...relyingParty.origins],
      expectedRPID: relyingParty.id,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) return { fault: UNSIGNED }
    const { credential } = registrationInfo
    if (credential.id !== id) return { fault: { pointer: '/id', message: 'Is not the id of the new credential.' } }
    return {
      credential: {
        id,
        publicKey: credential.publicKey,
        signCount: credential.counter,
        transports: response.transports ?? [],
      },
    }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

/**
 * Checks a proof with a credential.
 *
 * @returns the authenticator's new count of signatures; `isRegress` when it is not above the last count, as
 *   it always is for an authenticator that counts: then there are two of them. Or the fault of the answer
 */
export async function verifyAssertion(
  assertion: WebAuthnAssertion,
  { relyingParty, challenge }: Ceremony,
  { id, publicKey, signCount }: WebAuthnCredential,
  userId: string,
): Promise<{ readonly signCount: number; readonly isRegress: boolean } | { readonly fault: WebAuthnFault }> {
  const { verifyAuthenticationResponse } = await library()
  const { clientDataJSON, authenticatorData, signature, userHandle: handle = null } = assertion.response
  if (handle !== null && handle !== userHandle(userId))
    return { fault: { pointer: '/response/userHandle', message: 'Is of another person.' } }
  try {
    if (await isFramed(clientDataJSON)) return { fault: FRAMED }
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...assertion,
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: [...relyingParty.origins],
      expectedRPID: relyingParty.id,
      // The library compares the counts before the signature. A regress raises an alarm, so only a signed one counts.
      credential: { id, publicKey: Uint8Array.from(publicKey), counter: -1 },
    })
    if (!verified) return { fault: UNSIGNED }
    const { newCounter } = authenticationInfo
    return { signCount: newCounter, isRegress: (newCounter > 0 || signCount > 0) && newCounter <= signCount }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

const UNSIGNED: WebAuthnFault = { pointer: '/response/signature', message: 'The signature does not match.' }
const FRAMED: WebAuthnFault = {
  pointer: '/response/clientDataJSON',
  message: 'It was made in a frame within a page of another origin.',
}

/** Whether the page that used the authenticator was a frame of another origin's page. */
async function isFramed(clientDataJSON: string): Promise<boolean> {
  return (await decoders()).decodeClientDataJSON(clientDataJSON).crossOrigin === true
}

/**
 * The meanings of the library's errors. They quote the client, so only their first words are compared. An error in no
 * row is an answer that cannot be read.
 */
const FAULTS: readonly (readonly [RegExp, string, string])[] = [
  [/^Unexpected \w+ response challenge /, '/response/clientDataJSON', 'It answers another challenge.'],
  [/^Unexpected \w+ response origin /, '/response/clientDataJSON', 'It was made by a page of another origin.'],
  [/^Unexpected \w+ response type/, '/response/clientDataJSON', 'It is of the wrong type.'],
  [/^Unexpected RP ID hash$/, '', 'It was made for another relying party.'],
  [/^User (?:verification|presence|not present)/, '', 'The authenticator has not verified the person.'],
  [/^Unexpected public key alg /, '/response/attestationObject', 'The algorithm of the key is none of the options.'],
  [/^Credential ID was not base64url-encoded$/, '/rawId', 'Is not the same as id.'],
]

function faultOf(error: unknown): WebAuthnFault {
  const text = error instanceof Error ? error.message : ''
  const [, pointer, message] = FAULTS.find(([words]) => words.test(text)) ?? [null, '', 'It cannot be read.']
  return { pointer, message }
}

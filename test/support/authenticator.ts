/**
 * An authenticator of WebAuthn with the browser around it, in software: makes ES256 credentials and signs with them.
 * Each part of an answer can be made wrong.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import type {
  WebAuthnAssertion,
  WebAuthnAttestation,
  WebAuthnCreationOptions,
  WebAuthnRequestOptions,
} from '../../lib/identity/webauthn-schema.ts'

const PRESENT = 0x01
const VERIFIED = 0x04
const ATTESTED = 0x40
/** The difference between two counts of an authenticator that counts. */
const COUNT_STEP = 1

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor> | readonly Cbor[]

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 0x100) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
}

/** Encodes a value as CBOR (RFC 8949), as far as attestations need it. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  const entries = [...(value as ReadonlyMap<number | string, Cbor>)]
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([name, each]) => [cbor(name), cbor(each)])])
}

/** The parts of an answer that a test makes wrong. */
export interface Deviation {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  /** False: the person was not verified. */
  readonly verified?: boolean
  /** The count of signatures that is shown, and kept. */
  readonly count?: number
  readonly format?: string
  readonly statement?: ReadonlyMap<string, Cbor>
  readonly id?: string
  readonly userHandle?: string
}

export class Authenticator {
  readonly id = base64url(randomBytes(32))
  /** The count of signatures; an authenticator that does not count stays at 0. */
  count = 0
  readonly #counts: boolean
  readonly #origin: string
  readonly #privateKey: KeyObject
  readonly #coseKey: Buffer

  constructor({ origin, counts = true }: { readonly origin: string; readonly counts?: boolean }) {
    this.#origin = origin
    this.#counts = counts
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    const { x, y } = publicKey.export({ format: 'jwk' })
    this.#coseKey = cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x as string, 'base64url')],
        [-3, Buffer.from(y as string, 'base64url')],
      ]),
    )
  }

  #clientData(type: string, challenge: string, wrong: Deviation): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? this.#origin,
        crossOrigin: wrong.crossOrigin ?? false,
      }),
    )
  }

  #data(rpId: string, flags: number, wrong: Deviation): Buffer {
    this.count = wrong.count ?? this.count + (this.#counts ? COUNT_STEP : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(this.count)
    const verified = wrong.verified === false ? 0 : VERIFIED
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.from([flags | PRESENT | verified]), count])
  }

  /** Makes a credential for these options. */
  create({ rp, challenge }: WebAuthnCreationOptions, wrong: Deviation = {}): WebAuthnAttestation {
    const clientData = this.#clientData('webauthn.create', challenge, wrong)
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.from([id.length >> 8, id.length & 0xff])
    const data = Buffer.concat([this.#data(rp.id, ATTESTED, wrong), Buffer.alloc(16), length, id, this.#coseKey])
    const attestation = cbor(
      new Map<string, Cbor>([
        ['fmt', wrong.format ?? 'none'],
        ['attStmt', wrong.statement ?? new Map()],
        ['authData', data],
      ]),
    )
    return {
      id: wrong.id ?? this.id,
      rawId: wrong.id ?? this.id,
      type: 'public-key',
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(attestation),
        transports: ['usb'],
      },
    }
  }

  /** Signs these options. */
  get({ rpId, challenge }: WebAuthnRequestOptions, wrong: Deviation = {}): WebAuthnAssertion {
    const clientData = this.#clientData('webauthn.get', challenge, wrong)
    const data = this.#data(rpId, 0, wrong)
    return {
      id: wrong.id ?? this.id,
      rawId: wrong.id ?? this.id,
      type: 'public-key',
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(data),
        signature: base64url(sign('sha256', Buffer.concat([data, sha256(clientData)]), this.#privateKey)),
        ...(wrong.userHandle === undefined ? {} : { userHandle: wrong.userHandle }),
      },
    }
  }
}

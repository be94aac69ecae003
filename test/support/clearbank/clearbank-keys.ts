/** The keys of the false ClearBank and of its customer. */
import { generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'

export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** PKCS #8. */
  readonly privatePem: string
  readonly publicPem: string
}

export function makeKeys(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return {
    privateKey,
    publicKey,
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** RSA with PKCS #1 v1.5 over SHA-256, in base64: the bank's `DigitalSignature`. */
export const signatureOver = (key: KeyObject, body: string | Uint8Array): string =>
  sign('sha256', Buffer.from(body), key).toString('base64')

export const signatureFits = (key: KeyObject, body: Uint8Array, signature: string): boolean =>
  verify('sha256', body, key, Buffer.from(signature, 'base64'))

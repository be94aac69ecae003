/**
 * The signatures of ClearBank: RSA (PKCS #1 v1.5) over the SHA-256 of a body exactly as it is sent, in base64, in the
 * header `DigitalSignature`. We sign requests and the answers to webhooks; the bank signs webhooks. The bank's key is a
 * public one, so no comparison here has to hide how far two texts agree.
 */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

const HASH = 'sha256'
/** Shorter RSA keys are not safe. */
const KEY_BITS_MIN = 2_048
/** The signature of a key of 8192 bits. */
const SIGNATURE_BYTES_MAX = 1_024

const signInBackground = promisify<string, Uint8Array, KeyObject, Buffer>(sign)

/**
 * Reads our private key.
 *
 * @throws Error in words for staff, which hold nothing of the key
 */
export function privateKeyOf(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new Error('The private key cannot be read.')
  }
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < KEY_BITS_MIN)
    throw new Error(`The private key must be an RSA key of at least ${KEY_BITS_MIN} bits.`)
  return key
}

/** Signs the body of a request, off the main thread. */
export async function signatureOf(key: KeyObject, body: Uint8Array): Promise<string> {
  return (await signInBackground(HASH, body, key)).toString('base64')
}

/** Signs the short answer to a webhook, at once. */
export function answerSignature(key: KeyObject, body: string): string {
  return sign(HASH, Buffer.from(body), key).toString('base64')
}

/** Whether a signature in base64 fits a body; false also for a key or a signature that cannot be read. */
export function isSigned(publicKeyPem: string, body: Uint8Array, signature: string): boolean {
  if (signature === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) return false
  const bytes = Buffer.from(signature, 'base64')
  if (bytes.byteLength > SIGNATURE_BYTES_MAX) return false
  try {
    return verify(HASH, body, createPublicKey(publicKeyPem), bytes)
  } catch {
    // No public key, or one of another kind.
    return false
  }
}

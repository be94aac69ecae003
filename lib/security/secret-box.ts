/**
 * Secrets that must be read again (of second factors, webhooks, partners), encrypted for storage with AES-256-GCM. The
 * context is authenticated with them, so a sealed secret that is moved to another row cannot be opened.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

export interface SecretBox {
  /** Encrypts a text. `context` names its place, for example `mfa_factor <id>`. */
  seal(text: string, context: string): Buffer
  /** Decrypts a sealed secret; null when it was sealed under another key or for another place. */
  open(sealed: Uint8Array, context: string): string | null
  /** Derives bytes from the key for a purpose; the same purpose always gives the same bytes. */
  derive(purpose: string, bytes: number): Buffer
}

/** Makes a box from a master secret (the text of the setting, or of the file that replaces it). */
export function createSecretBox(masterSecret: string): SecretBox {
  const derive = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', masterSecret, '', `vostro ${purpose}`, bytes))
  const key = derive('secrets at rest', 32)
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, context) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return null
      const end = sealed.length - TAG_BYTES
      const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(context))
      decipher.setAuthTag(sealed.subarray(end))
      try {
        return decipher.update(sealed.subarray(NONCE_BYTES, end), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        // The authentication tag does not fit; decryption fails in no other way.
        return null
      }
    },
    derive,
  }
}

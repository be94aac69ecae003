/**
 * Signatures of callbacks: in the service's own header, and in the headers of Standard Webhooks, so that standard
 * libraries can verify them. While a secret is being replaced, both the new and the old secret sign.
 */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Makes a new secret: `whsec_` and 32 random bytes in base64. */
export function generateSecret(random: (bytes: number) => Uint8Array = randomBytes): string {
  return `${PREFIX}${Buffer.from(random(SECRET_BYTES)).toString('base64')}`
}

/** One callback to sign; `secrets` newest first. */
export interface Signable {
  readonly eventId: string
  /** Unix seconds. */
  readonly timestamp: number
  /** Exactly the text that is sent. */
  readonly body: string
  readonly secrets: readonly string[]
}

export interface Signatures {
  /** The value of `Service-Signature`: `v1=<hex>`, one for each secret. */
  readonly service: string
  /** The value of `webhook-signature`: `v1,<base64>`, one for each secret. */
  readonly standard: string
}

/** Signs one callback. */
export function sign({ eventId, timestamp, body, secrets }: Signable): Signatures {
  const service: string[] = []
  const standard: string[] = []
  for (const secret of secrets) {
    // The service's own signature uses the bytes of the whole secret text; the standard one decodes the base64 after
    // the prefix.
    service.push(`v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`)
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    standard.push(`v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`)
  }
  return { service: service.join(','), standard: standard.join(' ') }
}

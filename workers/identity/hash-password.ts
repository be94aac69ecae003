/**
 * Hashes passwords with argon2id, in the text form that names its own parameters
 * (`$argon2id$v=19$m=…,t=…,p=…$salt$hash`), so that old hashes stay valid when the parameters are raised. Runs in a
 * worker: one hash costs about 40 ms of CPU.
 */
import { argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

export type PasswordTask =
  | { readonly kind: 'hash'; readonly password: string }
  | { readonly kind: 'verify'; readonly password: string; readonly hash: string }

/**
 * OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. Each hash that runs at the same time takes this
 * memory.
 */
const MEMORY_KIB = 19_456
const PASSES = 2
const LANES = 1
const SALT_BYTES = 16
const HASH_BYTES = 32
const VERSION = 19

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

interface Parameters {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly nonce: Buffer
  readonly tagLength: number
}

function digest(password: string, parameters: Parameters): Buffer {
  // Normalised, so that one character has the same bytes from every keyboard.
  return argon2Sync('argon2id', { message: password.normalize('NFC'), ...parameters })
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/** Hashes a password with a new salt. */
export function hashPassword(password: string): string {
  const nonce = randomBytes(SALT_BYTES)
  const hash = digest(password, {
    memory: MEMORY_KIB,
    passes: PASSES,
    parallelism: LANES,
    nonce,
    tagLength: HASH_BYTES,
  })
  return `$argon2id$v=${VERSION}$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${unpadded(nonce)}$${unpadded(hash)}`
}

/**
 * Tells whether a password has this hash; compares in constant time.
 * @throws Error when the hash has an unknown form
 */
export function verifyPassword(password: string, hash: string): boolean {
  const found = PHC.exec(hash)
  if (found === null) throw new Error('A stored password hash has an unknown form.')
  const [, memory, passes, parallelism, salt, wanted] = found as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const expected = Buffer.from(wanted, 'base64')
  const parameters = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(salt, 'base64'),
    tagLength: expected.length,
  }
  return timingSafeEqual(digest(password, parameters), expected)
}

/** The task of the pool. */
export default function run(task: PasswordTask): string | boolean {
  return task.kind === 'hash' ? hashPassword(task.password) : verifyPassword(task.password, task.hash)
}

/**
 * Proves a person by address and password. Failures are counted for each address, and lock it for a while.
 *
 * An unknown address, a wrong password, a locked address and a disabled person get the same result after the same work:
 * the password is always compared with some hash, and every failure writes the same row.
 */
import { hash } from 'node:crypto'
import { emailKey, LOGIN_FAILURES_MAX, LOGIN_LOCK_MS } from '../../lib/identity/password-rules.ts'
import { findCredentials, type Credentials, lockedUntil, noteFailure } from '../../storage/identity/identity-people.ts'
import type { IdentityDeps } from './identity-deps.ts'

/**
 * The hash to compare with when there is no person, so that the answer takes equally long: the hash of 32 random bytes
 * that were not kept.
 */
const HASH_OF_NO_PERSON =
  '$argon2id$v=19$m=19456,t=2,p=1$3907MoSz19TC76/uNfMh5g$zKrDYg5bUBtZaJ2irPJ1zLCpWXToZ7aHjO4PmTbh7iA'

/** The key under which failures of an address are counted. */
export function attemptKey(email: string): string {
  return hash('sha256', emailKey(email), 'hex')
}

/** The person that a password has proven, or null; and whether the address is locked now. */
export interface PasswordProof {
  readonly person: Credentials | null
  readonly locked: boolean
}

/** Finds the active person with this address and this password. A wrong password counts as a failed sign-in. */
export async function provePassword(
  { database, passwords }: Pick<IdentityDeps, 'database' | 'passwords'>,
  email: string,
  password: string,
  now: number,
): Promise<PasswordProof> {
  const attempt = attemptKey(email)
  const [person, lockedUntilMs] = await Promise.all([
    findCredentials(database, emailKey(email)),
    lockedUntil(database, attempt, now),
  ])
  const fits = await passwords.verify(password, person?.passwordHash ?? HASH_OF_NO_PERSON)
  if (fits && person !== null && person.passwordHash !== null && person.status === 'active' && lockedUntilMs === null)
    return { person, locked: false }
  const rule = { now, failuresMax: LOGIN_FAILURES_MAX, lockMs: LOGIN_LOCK_MS }
  return { person: null, locked: await noteFailure(database, attempt, rule) }
}

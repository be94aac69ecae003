/**
 * The users of a sandbox: members of its customer and staff of its operator, each with a password and a second factor.
 *
 * Both are derived from the service's own secret and the address, so nodes with the same secret derive the same ones,
 * and a lost sandbox.json can be restored. A sandbox without users, or with users made under another secret, is
 * completed.
 */
import type pg from 'pg'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { MemberRole, StaffRole } from '../../lib/identity/capabilities.ts'
import { emailKey } from '../../lib/identity/password-rules.ts'
import { totpSecret } from '../../lib/identity/totp.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { Database } from '../db/database.ts'
import { lockFactors } from '../identity/mfa-factors.ts'
import { inTransaction } from '../db/transaction.ts'

/** The credentials of one user. */
export interface SandboxPerson {
  readonly email: string
  readonly password: string
  /** Base32, for an authenticator app. */
  readonly totpSecret: string
  readonly role: MemberRole | StaffRole
}

export interface SandboxPeople {
  readonly staff: readonly SandboxPerson[]
  readonly members: {
    readonly owner: SandboxPerson
    readonly approver: SandboxPerson
    readonly preparer: SandboxPerson
  }
}

export interface SeedPeopleDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: SecretBox
  readonly hashPassword: (password: string) => Promise<string>
}

/** Bytes of a password before base64: too many to guess. */
const PASSWORD_BYTES = 18
/** The advisory lock of nodes that start at the same time; spells "folk". */
const PEOPLE_LOCK = '0x666f6c6b'

const MEMBERS = ['owner', 'approver', 'preparer'] as const
/** Two-person rules need two staff members. */
const STAFF = ['operator_admin', 'compliance', 'operations', 'treasury', 'support', 'integration'] as const

interface Wanted {
  readonly person: SandboxPerson
  readonly name: string
  readonly level: 'customer' | 'operator'
}

/**
 * Makes the users of a sandbox, or finds them.
 *
 * @throws the driver's errors; then nothing was written
 */
export async function seedPeople(
  deps: SeedPeopleDeps,
  sandbox: { readonly operatorId: string; readonly customerId: string },
): Promise<SandboxPeople> {
  const { database } = deps
  const [owner, approver, preparer] = MEMBERS.map((role) => wanted(deps, role, 'customer')) as [Wanted, Wanted, Wanted]
  const staff = STAFF.map((role) => wanted(deps, role, 'operator'))
  const all = [owner, approver, preparer, ...staff]

  // Hashing is slow on purpose, so it is done before the lock, and only for missing users.
  const missing = await inTransaction(database, async (client) => {
    const found: Wanted[] = []
    for (const one of all) if (!(await isThere(client, deps, one))) found.push(one)
    return found
  })
  if (missing.length > 0) {
    const hashes = await Promise.all(missing.map(({ person }) => deps.hashPassword(person.password)))
    await inTransaction(database, async (client) => {
      await client.query(`select pg_advisory_xact_lock(${PEOPLE_LOCK})`)
      for (const [index, one] of missing.entries()) {
        // Another node may have made the user meanwhile.
        if (!(await isThere(client, deps, one)))
          await make(client, deps, one, { ...sandbox, passwordHash: hashes[index] as string })
      }
    })
  }
  return {
    staff: staff.map(({ person }) => person),
    members: { owner: owner.person, approver: approver.person, preparer: preparer.person },
  }
}

function wanted({ secrets }: SeedPeopleDeps, role: MemberRole | StaffRole, level: Wanted['level']): Wanted {
  const word = role === 'operator_admin' ? 'admin' : role
  const email = level === 'customer' ? `${word}@example.com` : `${word}@operator.example.com`
  return {
    level,
    name: `Sandbox ${word[0]?.toUpperCase()}${word.slice(1)}`,
    person: {
      email,
      role,
      password: secrets.derive(`sandbox password of ${email}`, PASSWORD_BYTES).toString('base64url'),
      totpSecret: totpSecret((bytes) => secrets.derive(`sandbox totp of ${email}`, bytes)),
    },
  }
}

/**
 * Whether the user exists with the second factor that belongs to this secret; the password may have been changed since.
 */
async function isThere(client: pg.ClientBase, { secrets }: SeedPeopleDeps, { person }: Wanted): Promise<boolean> {
  const {
    rows: [user],
  } = await client.query<{ id: string }>('select id from platform_user where email_key = $1', [emailKey(person.email)])
  if (user === undefined) return false
  const factors = await lockFactors(client, user.id)
  return factors.some(
    (factor) => factor.kind === 'totp' && secrets.open(factor.secret, `mfa_factor ${factor.id}`) !== null,
  )
}

async function make(
  client: pg.ClientBase,
  { clock, ids, secrets }: SeedPeopleDeps,
  { person, name, level }: Wanted,
  {
    operatorId,
    customerId,
    passwordHash,
  }: { readonly operatorId: string; readonly customerId: string; readonly passwordHash: string },
): Promise<void> {
  const at = timestamp(clock.now())
  const {
    rows: [user],
  } = await client.query<{ id: string }>(
    `insert into platform_user (id, email, email_key, name, password_hash, password_changed_at, status, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 'active', $6, $6)
     on conflict (email_key) do update set password_hash = excluded.password_hash, password_changed_at = excluded.password_changed_at, updated_at = excluded.updated_at
     returning id`,
    [ids.next(), person.email, emailKey(person.email), name, passwordHash, at],
  )
  const userId = user!.id
  await client.query('delete from mfa_factor where user_id = $1', [userId])
  const factorId = ids.next()
  await client.query(
    `insert into mfa_factor (id, user_id, kind, name, status, secret, created_at) values ($1, $2, 'totp', 'Sandbox authenticator', 'active', $3, $4)`,
    [factorId, userId, secrets.seal(person.totpSecret, `mfa_factor ${factorId}`), at],
  )
  await client.query(
    `insert into membership (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at, is_primary_owner)
     values ($1, $2, $3, $4, $5, $6, 'active', $7, $7, $6 = 'owner') on conflict (tenant_id, user_id) do update set role = excluded.role, status = 'active'`,
    [ids.next(), userId, level, level === 'customer' ? customerId : operatorId, operatorId, person.role, at],
  )
}

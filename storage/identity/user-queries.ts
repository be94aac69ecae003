/** Users: their profile and second factors, as they see them. */
import { timestamp } from '../../lib/base/clock.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { MfaFactor as MfaFactorView } from '../../lib/identity/user-schema.ts'
import type { Queries } from '../db/transaction.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import { MfaFactor } from './mfa-factor-entity.ts'
import { PlatformUser } from './platform-user-entity.ts'

const USER = select({
  ...pick(from(PlatformUser, 'u'), ['id', 'email', 'name', 'phone', 'locale', 'version']),
  ...pick(from(PlatformUser, 'u'), ['passwordChangedAt', 'createdAt', 'updatedAt']),
  mfaEnabled: expression<boolean>(`exists (select from mfa_factor f where f.user_id = u.id and f.status = 'active')`),
})

/** Reads a user's profile with its version; null when the user does not exist. */
export async function getUser(database: Queries, id: string) {
  const [row] = await database.query({
    name: 'get_user',
    text: `select ${USER.sql} from platform_user u where u.id = $1`,
    values: [id],
  })
  if (row === undefined) return null
  const { version, passwordChangedAt, createdAt, updatedAt, mfaEnabled, ...profile } = USER.read(row)
  return {
    version: BigInt(version),
    view: {
      ...profile,
      mfaEnabled,
      passwordChangedAt: passwordChangedAt === null ? null : timestamp(passwordChangedAt),
      createdAt: timestamp(createdAt),
      updatedAt: timestamp(updatedAt),
    },
  }
}

const FACTOR = select(
  pick(from(MfaFactor, ''), ['id', 'kind', 'name', 'status', 'version', 'createdAt', 'lastUsedAt', 'waitsUntil']),
)

/** Lists a user's second factors with their versions, oldest first; never their secrets. */
export async function listFactors(database: Queries, userId: string): Promise<Versioned<MfaFactorView>[]> {
  const rows = await database.query({
    name: 'list_factors',
    text: `select ${FACTOR.sql} from mfa_factor where user_id = $1 order by id`,
    values: [userId],
  })
  return rows.map((row) => {
    const { createdAt, lastUsedAt, waitsUntil, version, ...factor } = FACTOR.read(row)
    return {
      version: BigInt(version),
      view: {
        ...factor,
        createdAt: timestamp(createdAt),
        lastUsedAt: lastUsedAt === null ? null : timestamp(lastUsedAt),
        waitsUntil: waitsUntil === null ? null : timestamp(waitsUntil),
      },
    }
  })
}

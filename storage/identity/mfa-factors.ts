/** Rows of second factors. Statements only; rules are elsewhere. */
import { HOUR_MS, timestamp } from '../../lib/base/clock.ts'
import { takesRecovered, type UsableFactors } from '../../lib/identity/step-up.ts'
import type { WebAuthnCredential } from '../../lib/identity/webauthn.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'

/** A second factor: an authenticator app with its sealed secret, or the credential of an authenticator. */
export type FactorRecord = {
  readonly id: string
  readonly name: string
  readonly status: 'pending' | 'active'
  /** Counts the changes by the person, which are its name and its confirmation. */
  readonly version: bigint
  /** Until then it proves no more than a recovery code, epoch milliseconds; null: it proves everything. */
  readonly waitsUntil: number | null
} & (
  | {
      readonly kind: 'totp'
      readonly secret: Buffer
      /** The newest time step whose code was taken. */
      readonly lastStep: number
    }
  | {
      readonly kind: 'webauthn'
      /** Null until the factor is confirmed. */
      readonly credential: WebAuthnCredential | null
    }
)

interface FactorRow {
  readonly id: string
  readonly name: string
  readonly status: 'pending' | 'active'
  readonly version: string
  readonly waits_ms: number | null
  readonly kind: 'totp' | 'webauthn'
  readonly secret: Buffer | null
  readonly last_step: string
  readonly credential_id: Buffer | null
  readonly public_key: Buffer | null
  readonly sign_count: string
  readonly transports: string[]
}

/** Locks a user's second factors, so that a code, or a count of signatures, can be used once. */
export async function lockFactors(client: TransactionClient, userId: string): Promise<FactorRecord[]> {
  const { rows } = await client.query<FactorRow>({
    name: 'lock_factors',
    text: `select id, name, status, version, kind, secret, last_step, credential_id, public_key, sign_count, transports,
        (extract(epoch from waits_until) * 1000)::float8 as waits_ms
      from mfa_factor where user_id = $1 order by id for update`,
    values: [userId],
  })
  return rows.map(factorOf)
}

function factorOf({ id, name, status, version, waits_ms, ...row }: FactorRow): FactorRecord {
  const factor = { id, name, status, version: BigInt(version), waitsUntil: waits_ms }
  if (row.kind === 'totp') {
    if (row.secret === null) throw new Error(`The second factor ${id} has no secret.`)
    return { ...factor, kind: row.kind, secret: row.secret, lastStep: Number(row.last_step) }
  }
  const { credential_id: credentialId, public_key: publicKey } = row
  return {
    ...factor,
    kind: row.kind,
    credential:
      credentialId === null || publicKey === null
        ? null
        : {
            id: credentialId.toString('base64url'),
            publicKey,
            signCount: Number(row.sign_count),
            transports: row.transports,
          },
  }
}

/** The action for which a factor is asked, and the time, epoch milliseconds. */
export interface FactorUse {
  readonly action: string
  readonly now: number
}

/** Reads the factors with which a user can prove themselves for an action now: those that wait only where that is allowed. */
export async function usableFactors(
  database: Queries,
  userId: string,
  { action, now }: FactorUse,
): Promise<UsableFactors> {
  const [row] = await database.query<[boolean, { id: string; transports: string[] }[], number]>({
    name: 'usable_factors',
    text: `select coalesce(bool_or(kind = 'totp'), false),
        coalesce(json_agg(json_build_object('id', encode(credential_id, 'base64'), 'transports', transports) order by id)
          filter (where kind = 'webauthn'), '[]'),
        (select count(*)::int from recovery_code where user_id = $1 and used_at is null)
      from mfa_factor where user_id = $1 and status = 'active' and ($2 or waits_until is null or waits_until <= $3::timestamptz)`,
    values: [userId, takesRecovered(action), timestamp(now)],
  })
  const [totp, credentials, recoveryCodes] = row!
  return {
    totp,
    credentials: credentials.map(({ id, transports }) => ({
      id: Buffer.from(id, 'base64').toString('base64url'),
      transports,
    })),
    recoveryCodes,
  }
}

/** Records that the code of a time step was used; makes a pending factor active. */
export async function useFactor(client: TransactionClient, factorId: string, step: number, now: number): Promise<void> {
  await client.query({
    name: 'use_factor',
    text: `update mfa_factor set last_step = greatest(last_step, $2), last_used_at = $3,
        version = version + case status when 'active' then 0 else 1 end, status = 'active' where id = $1`,
    values: [factorId, step, timestamp(now)],
  })
}

/** Records that a credential was used, with the authenticator's new count of signatures. */
export async function useCredential(
  client: TransactionClient,
  factorId: string,
  signCount: number,
  now: number,
): Promise<void> {
  await client.query({
    name: 'use_credential',
    text: 'update mfa_factor set sign_count = $2, last_used_at = $3 where id = $1',
    values: [factorId, signCount, timestamp(now)],
  })
}

/** Gives a pending factor its credential and makes it active. @throws a unique violation when a factor has it */
export async function confirmCredential(
  client: TransactionClient,
  factorId: string,
  { id, publicKey, signCount, transports }: WebAuthnCredential,
): Promise<void> {
  await client.query({
    name: 'confirm_credential',
    text: `update mfa_factor set status = 'active', version = version + 1, credential_id = $2, public_key = $3,
        sign_count = $4, transports = $5 where id = $1`,
    values: [factorId, Buffer.from(id, 'base64url'), Buffer.from(publicKey), signCount, transports],
  })
}

/** Writes a second factor with the status `pending`, which does not count yet. `secret` is null for `webauthn`. */
export async function insertFactor(
  client: TransactionClient,
  factor: {
    readonly id: string
    readonly userId: string
    readonly kind: 'totp' | 'webauthn'
    readonly name: string
    readonly secret: Uint8Array | null
    readonly waitsUntil: number | null
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'insert_factor',
    text: `insert into mfa_factor (id, user_id, kind, name, status, secret, created_at, waits_until) values ($1, $2, $3, $4, 'pending', $5, $6, $7)`,
    values: [
      factor.id,
      factor.userId,
      factor.kind,
      factor.name,
      factor.secret,
      timestamp(factor.now),
      factor.waitsUntil === null ? null : timestamp(factor.waitsUntil),
    ],
  })
}

export async function renameFactor(client: TransactionClient, factorId: string, name: string): Promise<void> {
  await client.query({
    name: 'rename_factor',
    text: 'update mfa_factor set name = $2, version = version + 1 where id = $1',
    values: [factorId, name],
  })
}

/** Makes a factor wait: until then (epoch milliseconds) it proves no more than a recovery code. Null: it does not wait. */
export async function holdFactor(
  client: TransactionClient,
  factorId: string,
  waitsUntil: number | null,
): Promise<void> {
  await client.query({
    name: 'hold_factor',
    text: 'update mfa_factor set waits_until = $2 where id = $1',
    values: [factorId, waitsUntil === null ? null : timestamp(waitsUntil)],
  })
}

/**
 * Reads how long a factor waits that a user adds with a recovery code, milliseconds: the longest of the operators whose
 * tenants the user belongs to.
 */
export async function recoveredFactorWait(client: TransactionClient, userId: string): Promise<number> {
  const { rows } = await client.query<{ hours: number }>({
    name: 'recovered_factor_wait',
    text: `select coalesce(max(o.recovered_factor_wait_hours), 0)::int as hours
      from membership m join operator o on o.id = m.operator_id where m.user_id = $1 and m.status = 'active'`,
    values: [userId],
  })
  return rows[0]!.hours * HOUR_MS
}

export async function deleteFactor(client: TransactionClient, factorId: string): Promise<void> {
  await client.query({ name: 'delete_factor', text: 'delete from mfa_factor where id = $1', values: [factorId] })
}

/** Connections of operators to KYC providers, as rows. */
import type { InferEntity } from '@mikro-orm/core'
import type { KycConnection } from '../../lib/kyc/connection.ts'
import type { KycProviderId } from '../../lib/onboarding/case-words.ts'
import { entitiesOf, entitiesOfEveryTenant } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { KycConnectionRow } from './kyc-connection-entity.ts'

const recordOf = (row: InferEntity<typeof KycConnectionRow>): KycConnection => ({
  ...row,
  levels: { person: row.levels.person ?? null, company: row.levels.company ?? null },
  credentials: row.credentials ?? null,
  credentialsUpdatedAt: row.credentialsUpdatedAt ?? null,
  webhookSecret: row.webhookSecret ?? null,
  webhookSecretUpdatedAt: row.webhookSecretUpdatedAt ?? null,
  probe: row.probe ?? null,
  verifiedAt: row.verifiedAt ?? null,
  activatedAt: row.activatedAt ?? null,
  updatedBy: row.updatedBy ?? null,
})

/** Lists the connections of an operator, oldest first. */
export async function listKycConnections(
  client: StatementRunner,
  operatorId: string,
): Promise<readonly KycConnection[]> {
  return (await entitiesOf(client, { operatorId }).find(KycConnectionRow, {}, { id: 'asc' })).map(recordOf)
}

/** Reads a connection of an operator; null when the operator has no such connection. */
export async function readKycConnection(
  client: StatementRunner,
  operatorId: string,
  id: string,
): Promise<KycConnection | null> {
  const row = await entitiesOf(client, { operatorId }).findOne(KycConnectionRow, { id })
  return row === null ? null : recordOf(row)
}

/** Reads the connection that a webhook names; null when there is none. */
export async function findKycConnection(client: StatementRunner, id: string): Promise<KycConnection | null> {
  const row = await entitiesOfEveryTenant(client, 'the connection of a webhook').findOne(KycConnectionRow, { id })
  return row === null ? null : recordOf(row)
}

/** Reads the connection that reviews the customers of an operator; null when its staff review by themselves. */
export async function activeKycConnection(client: StatementRunner, operatorId: string): Promise<KycConnection | null> {
  const row = await entitiesOf(client, { operatorId }).findOne(KycConnectionRow, { status: 'active' })
  return row === null ? null : recordOf(row)
}

/** Reads the first connection of an operator to a provider; null when it has none. */
export async function kycConnectionTo(
  client: StatementRunner,
  operatorId: string,
  provider: KycProviderId,
): Promise<KycConnection | null> {
  const [row] = await entitiesOf(client, { operatorId }).find(KycConnectionRow, { provider }, { id: 'asc' })
  return row === undefined ? null : recordOf(row)
}

/** Locks the connections of an operator until the transaction ends, those not yet made included. */
export async function lockKycConnections(
  client: TransactionClient,
  operatorId: string,
): Promise<readonly KycConnection[]> {
  await client.query({
    name: 'lock_kyc_connections',
    text: `select pg_advisory_xact_lock(hashtextextended('kyc connections of ' || $1::text, 0))`,
    values: [operatorId],
  })
  return await listKycConnections(client, operatorId)
}

/** Adds a connection. */
export async function insertKycConnection(
  client: TransactionClient,
  { version: _, ...record }: KycConnection,
): Promise<void> {
  const { operatorId } = record
  await entitiesOf(client, { operatorId }).insert(KycConnectionRow, record)
}

/** Writes members of a connection as its next version. @returns the connection as it is now */
export async function changeKycConnection(
  client: TransactionClient,
  { id, operatorId }: Pick<KycConnection, 'id' | 'operatorId'>,
  change: Partial<Omit<KycConnection, 'id' | 'operatorId' | 'provider' | 'version' | 'createdAt'>>,
): Promise<KycConnection> {
  const rows = entitiesOf(client, { operatorId })
  const row = await rows.get(KycConnectionRow, id)
  Object.assign(row, change)
  await rows.save()
  return recordOf(row)
}

/** Connections of operators to banking partners, as rows. */
import type { InferEntity } from '@mikro-orm/core'
import type { ProviderConnectionRecord } from '../../lib/providers/connection.ts'
import { entitiesOf, entitiesOfEveryTenant } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { ProviderConnection } from './provider-connection-entity.ts'

function recordOf({ operator, ...row }: InferEntity<typeof ProviderConnection>): ProviderConnectionRecord {
  const { config: _, ...members } = row
  return {
    ...members,
    operatorId: operator.id,
    customerId: row.customerId ?? null,
    contractModel: row.contractModel ?? null,
    credentials: row.credentials ?? null,
    credentialsKid: row.credentialsKid ?? null,
    credentialsFingerprint: row.credentialsFingerprint ?? null,
    credentialsUpdatedAt: row.credentialsUpdatedAt ?? null,
    webhookSecret: row.webhookSecret ?? null,
    webhookSecretUpdatedAt: row.webhookSecretUpdatedAt ?? null,
    verifiedAt: row.verifiedAt ?? null,
    activatedAt: row.activatedAt ?? null,
    drainingAt: row.drainingAt ?? null,
    retiredAt: row.retiredAt ?? null,
    migration: row.migration ?? null,
    updatedBy: row.updatedBy ?? null,
    updatedAt: row.updatedAt ?? null,
  }
}

/**
 * Reads the provider of a connection, within a transaction; null when there is no such connection.
 *
 * @throws what the driver throws
 */
export async function providerOfConnection(client: TransactionClient, connectionId: string): Promise<string | null> {
  const rows = entitiesOfEveryTenant(client, 'the connection of a balance that was checked')
  return (await rows.findOne(ProviderConnection, { id: connectionId }))?.provider ?? null
}

/**
 * SQL of the connection for new work of a customer `c`: its own primary, or else that of the operator for all customers.
 * Null while the operator has none.
 */
export const CONNECTION_FOR_NEW_WORK = `(select k.id from provider_connection k where k.operator_id = c.operator_id and k.status = 'active' and k.role = 'primary'
    and (k.customer_id is null or k.customer_id = c.id) order by k.customer_id nulls last, k.id limit 1)`

/** Reads a connection for work of the service itself, its sealed secrets included; null when there is none. */
export async function findConnection(client: StatementRunner, id: string): Promise<ProviderConnectionRecord | null> {
  const row = await entitiesOfEveryTenant(client, 'the connection of orders and webhooks').findOne(ProviderConnection, {
    id,
  })
  return row === null ? null : recordOf(row)
}

/** Reads the connections that work or finish their work, of all operators, for work of the service itself. */
export async function findOpenConnections(client: StatementRunner): Promise<readonly ProviderConnectionRecord[]> {
  const rows = entitiesOfEveryTenant(client, 'the probes of connections')
  return (await rows.find(ProviderConnection, { status: { $in: ['active', 'draining'] } }, { id: 'asc' })).map(recordOf)
}

/** Reads a connection of an operator; null when the operator has no such connection. */
export async function readConnection(
  client: StatementRunner,
  operatorId: string,
  id: string,
): Promise<ProviderConnectionRecord | null> {
  const row = await entitiesOf(client, { operatorId }).findOne(ProviderConnection, { id })
  return row === null ? null : recordOf(row)
}

/** Reads some of an operator's connections, in the order of the ids. */
export async function readConnections(
  client: StatementRunner,
  operatorId: string,
  ids: readonly string[],
): Promise<readonly ProviderConnectionRecord[]> {
  const rows = await entitiesOf(client, { operatorId }).find(ProviderConnection, { id: { $in: [...ids] } })
  const byId = new Map(rows.map((row) => [row.id, recordOf(row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Locks the connections of an operator until the transaction ends, those not yet made included; oldest first. */
export async function lockConnections(
  client: TransactionClient,
  operatorId: string,
): Promise<readonly ProviderConnectionRecord[]> {
  await client.query({
    name: 'lock_provider_connections',
    text: `select pg_advisory_xact_lock(hashtextextended('provider connections of ' || $1::text, 0))`,
    values: [operatorId],
  })
  // Weaker than the lock of an entity manager: balances of the connections are opened meanwhile.
  await client.query({
    name: 'lock_provider_connection_rows',
    text: 'select from provider_connection where operator_id = $1 order by id for no key update',
    values: [operatorId],
  })
  return (await entitiesOf(client, { operatorId }).find(ProviderConnection, {}, { id: 'asc' })).map(recordOf)
}

/** Adds a connection. `exchanges`: whether the partner exchanges currencies; otherwise the operator itself does. */
export async function insertConnection(
  client: TransactionClient,
  { version: _, operatorId, ...record }: ProviderConnectionRecord,
  { exchanges }: { readonly exchanges: boolean },
): Promise<void> {
  await entitiesOf(client, { operatorId }).insert(ProviderConnection, {
    ...record,
    operator: operatorId,
    config: exchanges ? {} : { capabilities: { fx: false } },
  })
}

/** The members of a connection that change. */
export type ConnectionChange = Partial<
  Omit<
    ProviderConnectionRecord,
    'id' | 'operatorId' | 'customerId' | 'provider' | 'environment' | 'health' | 'version' | 'createdAt'
  >
>

/** Writes members of a connection as its next version. @returns the connection as it is now */
export async function changeConnection(
  client: TransactionClient,
  { id, operatorId }: Pick<ProviderConnectionRecord, 'id' | 'operatorId'>,
  change: ConnectionChange,
): Promise<ProviderConnectionRecord> {
  const rows = entitiesOf(client, { operatorId })
  const row = await rows.get(ProviderConnection, id)
  Object.assign(row, change)
  await rows.save()
  return recordOf(row)
}

/**
 * Notes what a webhook has shown of its registration, unless a valid one has come before. The version stays: it is no
 * change by a person.
 */
export async function noteWebhookRegistration(
  client: StatementRunner,
  id: string,
  state: 'registered' | 'failed',
): Promise<void> {
  await client.query({
    name: 'note_webhook_registration',
    values: [id, state],
    text: `update provider_connection set webhook_registration = $2 where id = $1 and webhook_registration not in ('registered', $2)`,
  })
}

/** The API keys of a sandbox. Only their hashes are stored. */
import { CUSTOMER_SCOPES, generateApiKey, OPERATOR_SCOPES } from '../../lib/identity/api-key.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { insertRows, type SeedTransaction } from './seed-transaction.ts'

export const KEY_NAME = 'Sandbox key'

export const keyText = ({ keyBytes }: SeedTransaction, tenantId: string): string =>
  generateApiKey('test', keyBytes(tenantId)).secret

export async function insertKey(
  tx: SeedTransaction,
  owner: { readonly level: 'customer' | 'operator'; readonly tenantId: string; readonly operatorId: string },
): Promise<string> {
  const { secret, row } = newKey(tx, owner)
  await insertRows(tx.client, 'api_key', [row])
  return secret
}

export function newKey(
  tx: SeedTransaction,
  owner: { readonly level: 'customer' | 'operator'; readonly tenantId: string; readonly operatorId: string },
) {
  const { secret, prefix, sha256 } = generateApiKey('test', tx.keyBytes(owner.tenantId))
  const id = tx.ids.next()
  const row = {
    id,
    level: owner.level,
    tenant_id: owner.tenantId,
    operator_id: owner.operatorId,
    name: KEY_NAME,
    environment: 'test',
    prefix,
    sha256: `\\x${sha256}`,
    scopes: `{${(owner.level === 'operator' ? OPERATOR_SCOPES : CUSTOMER_SCOPES).join(',')}}`,
    status: 'active',
    // A key has no other requester: it is its own.
    created_by: id,
    created_at: timestamp(tx.now),
  }
  return { id, secret, row }
}

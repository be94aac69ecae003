/** The parts that tests of API keys share. */
import type { ApiKeyView } from '../../../lib/identity/api-key-schema.ts'
import { Client } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import type { World } from '../../support/world.ts'

export type Made = ApiKeyView & { readonly secret: string }

export const BODY = { name: 'ERP', environment: 'test', scopes: ['payments:read', 'balances:read'] }

/** An owner who has proved themselves for making keys. */
export async function keyMaker(world: World): Promise<Person> {
  const owner = await world.person('owner').signIn()
  await owner.stepUp('api_key.create')
  return owner
}

/** The status that a key gets for reading balances. */
export async function statusOf(world: World, secret: string, tenantId: string, url = () => world.url): Promise<number> {
  return (await new Client({ url, apiKey: secret, tenantId }).get('/balances')).status
}

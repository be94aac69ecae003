/** Every Location that an answer can have is the address of an operation that reads. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { routes } from '../../../http/server/routes.ts'
import { locationOf, RESOURCE_TYPES } from '../../../lib/base/resource-types.ts'

const HTTP = join(import.meta.dirname, '../../../http')
const READ = new Set(
  routes.filter(({ method }) => method === 'get').map(({ path }) => `/v1${path.replaceAll(/\{[^}]+\}/g, '{}')}`),
)

t.test('a resource that a command makes is read at its Location', async (t) => {
  const located = RESOURCE_TYPES.flatMap((type) => locationOf({ type, id: '{}' }).location ?? [])
  t.ok(located.length > 10, 'they have one')
  for (const location of located) t.ok(READ.has(location), location)
})

t.test('a Location that a route writes is read', async (t) => {
  const written = readdirSync(HTTP, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(join(HTTP, name), 'utf8').matchAll(/(?:created\(|location:)[^`;]*`(\/v1\/[^`]*)`/g),
    ])
    .map(([, location]) => location!.replaceAll(/\$\{[^}]+\}/g, '{}'))
  t.ok(written.length > 10, 'they are found')
  for (const location of written) t.ok(READ.has(location), location)
})

/** The migration of balances to another connection, in tests. */
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { ConnectionMigrationView, ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { Person } from '../../support/person.ts'

export const PATH = '/provider-connections'

export async function proven(staff: Person, path: string, body?: object) {
  await staff.stepUp('provider_connection.change')
  return await staff.post<ProviderConnectionView>(path, body)
}

/** Puts another connection to the sandbox bank to work, so that the one before drains. */
export async function replace(admin: Person): Promise<string> {
  const { id } = (await proven(admin, PATH, { provider: 'sandbox', name: 'Next bank' })).body
  await admin.post(`${PATH}/${id}/verify`)
  const active = await proven(admin, `${PATH}/${id}/activate`)
  if (active.status !== 200) throw new Error(active.text)
  return id
}

/** Has two people ask for a migration. @returns the id of its job */
export async function migrate(people: readonly Person[], id: string): Promise<string> {
  let job: Job | null = null
  for (const person of people) job = (await person.post<ConnectionMigrationView>(`${PATH}/${id}/migrate`, {})).body.job
  return job!.id
}

export const jobOf = async (staff: Person, id: string) => (await staff.get<Job>(`/jobs/${id}`)).body

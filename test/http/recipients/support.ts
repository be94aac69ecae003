/** The parts that tests of recipients share. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Recipient, RecipientCreate } from '../../../lib/recipients/recipient-schema.ts'
import { ibanOf } from '../../../lib/recipients/iban.ts'
import type { Client, Reply } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import type { World } from '../../support/world.ts'

let made = 100

/** An account of the sandbox bank that nobody has yet; `ending` are its last digits. */
export function newIban(ending = ''): string {
  made += 1
  const account = `${String(made).padStart(10 - ending.length, '0')}${ending}`
  return ibanOf('NL', `SBOX${account}`) as string
}

/** A recipient that can be made, in euro unless said otherwise. */
export function recipientBody(change: Partial<RecipientCreate> = {}): RecipientCreate {
  return {
    type: 'business',
    name: 'Test Supplies BV',
    currency: 'EUR',
    bank: { iban: newIban() },
    ...change,
  } as RecipientCreate
}

/** Makes one by key. */
export const createByKey = (
  client: Client,
  change: Partial<RecipientCreate> = {},
  key?: string,
): Promise<Reply<Recipient>> => client.post<Recipient>('/recipients', recipientBody(change), key)

/** Makes one as a person who has proven themselves. */
export async function createAs(person: Person, change: Partial<RecipientCreate> = {}): Promise<Reply<Recipient>> {
  await person.stepUp('recipient.create')
  return await person.post<Recipient>('/recipients', recipientBody(change), { 'idempotency-key': randomUUID() })
}

/** Changes one as a person who has proven themselves; whatever it is now. */
export async function patchAs(person: Person, id: string, change: object, tag = '*'): Promise<Reply<Recipient>> {
  await person.stepUp('recipient.update', { type: 'recipient', id })
  return await person.send<Recipient>('PATCH', `/recipients/${id}`, change, { 'if-match': tag })
}

/** Sets how the operator of the sandbox wants recipients looked at. */
export async function setMode(world: World, mode: string): Promise<void> {
  await world.query('update operator set recipient_approval_mode = $1', [mode])
}

/** The status changes of a recipient as its events tell them: `before after`. */
export async function statusEvents(world: World, id: string): Promise<string[]> {
  const rows = await world.query<{ previous_status: string | null; status: string }>(
    `select previous_status, status from outbox where object_id = $1 and type = 'recipient.status_changed' order by created_at, id`,
    [id],
  )
  return rows.map(({ previous_status, status }) => `${previous_status ?? 'none'} ${status}`)
}

/** Decides the approval that a recipient waits for. */
export async function decideAs(
  t: Test,
  person: Person,
  approvalId: string,
  decision: 'approved' | 'rejected',
): Promise<void> {
  await person.stepUp('approval.decide', { type: 'approval', id: approvalId })
  const reply = await person.post(`/approvals/${approvalId}/decisions`, {
    decision,
    ...(decision === 'rejected' ? { comment: 'Not our supplier.' } : {}),
  })
  t.equal(reply.status, 200, reply.text.slice(0, 200))
}

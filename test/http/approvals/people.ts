/** People and policies for tests of approvals. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { ApprovalPolicy, ApprovalPolicyWrite } from '../../../lib/approvals/approval-policy-schema.ts'
import type { MemberRole } from '../../../lib/identity/capabilities.ts'
import type { PolicyKind } from '../../../lib/approvals/policy.ts'
import type { Reply } from '../../support/client.ts'
import { Person } from '../../support/person.ts'
import type { World } from '../../support/world.ts'

type Tier = ApprovalPolicyWrite['tiers'][number]

/** A tier in euro, minor units. */
export function tier(number: number, from: number, to: number | null, overrides: Partial<Tier> = {}): Tier {
  const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })
  return {
    tier: number,
    minAmount: eur(from),
    maxAmount: to === null ? null : eur(to),
    requiredApprovals: 1,
    ...overrides,
  }
}

export const policyPath = (person: Person, kind: PolicyKind): string =>
  `/customers/${person.tenantId}/settings/approval-policies/${kind}`

/** Sends a policy on the version that is there. */
export async function putPolicy(
  person: Person,
  kind: PolicyKind,
  policy: Partial<ApprovalPolicyWrite>,
  ifMatch?: string,
): Promise<Reply<ApprovalPolicy>> {
  const read = await person.get(policyPath(person, kind))
  return await person.send<ApprovalPolicy>(
    'PUT',
    policyPath(person, kind),
    { enabled: true, currency: 'EUR', tiers: [], ...policy },
    { 'if-match': ifMatch ?? read.headers.get('etag')! },
  )
}

/** Sets a policy that is effective at once. */
export async function setPolicy(
  t: Test,
  person: Person,
  kind: PolicyKind,
  policy: Partial<ApprovalPolicyWrite>,
): Promise<ApprovalPolicy> {
  await person.stepUp('settings.change')
  const reply = await putPolicy(person, kind, policy)
  t.equal(reply.status, 200, reply.text)
  return reply.body
}

/** Proves themselves for the approval, and decides. */
export async function decide(person: Person, approvalId: string, body: object): Promise<Reply<Approval>> {
  await person.stepUp('approval.decide', { type: 'approval', id: approvalId })
  return await person.post<Approval>(`/approvals/${approvalId}/decisions`, body)
}

/**
 * Another member of the sandbox customer, signed in. They have the password and the second factor of its approver,
 * whose secret is sealed for one factor; so their factor is the same row under another person.
 */
export async function addMember(world: World, role: MemberRole): Promise<Person> {
  const { approver } = world.service.sandbox!.customer.members
  const email = `${randomUUID()}@example.com`
  const userId = randomUUID()
  await world.query(
    `insert into platform_user (id, email, email_key, name, password_hash, password_changed_at, status, created_at, updated_at)
     select $1, $2, $2, 'Another ' || $3, password_hash, now(), 'active', now(), now() from platform_user where email_key = $4`,
    [userId, email, role, approver.email],
  )
  await world.query(
    `insert into membership (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at)
     select $1, $2, 'customer', tenant_id, operator_id, $3, 'active', now(), now() from membership m join platform_user u on u.id = m.user_id
     where u.email_key = $4 and m.tenant_id = $5`,
    [randomUUID(), userId, role, approver.email, world.seeded.client.tenantId],
  )
  const person = new Person({
    url: () => world.url,
    login: { ...approver, email },
    tenantId: world.seeded.client.tenantId,
    now: world.now,
  })
  await person.signIn()
  const { id, secret } = (await person.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' }))
    .body
  const owned = new Person({
    url: () => world.url,
    login: { ...approver, email, totpSecret: secret },
    tenantId: world.seeded.client.tenantId,
    now: world.now,
  })
  owned.token = person.token
  const confirmed = await owned.post(`/users/me/mfa-factors/${id}/verify`, { code: owned.code() })
  if (confirmed.status !== 200) throw new Error(confirmed.text)
  return owned
}

/** The same person, with the session they hold, at another node. */
export function atNode(person: Person, node: World): Person {
  const there = new Person({ url: () => node.url, login: person.login, tenantId: person.tenantId, now: node.now })
  there.token = person.token
  return there
}

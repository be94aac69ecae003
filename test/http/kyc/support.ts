/** Connections to KYC providers, and what the providers send. */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KycConnectionView } from '../../../lib/kyc/kyc-connection-schema.ts'
import { sign } from '../../../lib/webhooks/signature.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export const SUMSUB_SECRET = 'a secret of the console'
export const SANDBOX_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Changes a connection as it is now. */
export async function change(staff: Person, id: string, body: object) {
  const etag = (await staff.get(`/kyc-connections/${id}`)).headers.get('etag') as string
  return await staff.send<KycConnectionView>('PATCH', `/kyc-connections/${id}`, body, { 'if-match': etag })
}

/** The connection to the sandbox's provider, which the first start makes, with a secret. */
export async function sandboxConnection(staff: Person): Promise<string> {
  const { data } = (await staff.get<{ data: KycConnectionView[] }>('/kyc-connections')).body
  const { id } = data.find(({ provider }) => provider === 'sandbox')!
  const changed = await change(staff, id, { webhookSecret: SANDBOX_SECRET })
  if (changed.status !== 200) throw new Error(changed.text)
  return id
}

/** Makes a connection to Sumsub with a secret for its webhooks. */
export async function sumsubConnection(staff: Person, more: object = {}): Promise<string> {
  const body = { provider: 'sumsub', name: 'Sumsub', webhookSecret: SUMSUB_SECRET, ...more }
  return (await staff.post<KycConnectionView>('/kyc-connections', body)).body.id
}

/** Sends bytes to the address of a connection. */
export const deliver = (
  world: Pick<World, 'url'>,
  connectionId: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${world.url}/v1/kyc-webhooks/${connectionId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as string,
  })

/** The headers with which Sumsub signs a body. */
export function bySumsub(
  body: string | Uint8Array,
  { secret = SUMSUB_SECRET, hash = 'sha256' }: { readonly secret?: string; readonly hash?: string } = {},
) {
  return {
    'x-payload-digest-alg': `HMAC_${hash.toUpperCase()}_HEX`,
    'x-payload-digest': createHmac(hash, secret).update(body).digest('hex'),
  }
}

/** The headers with which the sandbox's provider signs a body. */
export function bySandbox(
  body: string,
  { at, secret = SANDBOX_SECRET }: { readonly at: number; readonly secret?: string },
) {
  const timestamp = Math.floor(at / 1_000)
  const eventId = `msg_${randomUUID()}`
  const { standard } = sign({ eventId, timestamp, body, secrets: [secret] })
  return { 'webhook-id': eventId, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': standard }
}

/** An event that was kept. */
export interface KeptEvent {
  readonly type: string
  readonly status: string
  readonly reason: string | null
}

/** The events that were kept, in order, when all of them were used. */
export async function eventsOf(world: World, connectionId: string): Promise<readonly KeptEvent[]> {
  return await until('all events were used', async () => {
    const rows = await world.query<KeptEvent>(
      'select type, status, reason from kyc_event where connection_id = $1 order by id',
      [connectionId],
    )
    return rows.every(({ status }) => status !== 'received') && rows
  })
}

/** The case of the seeded customer as it is stored, with its customer. */
export interface StoredCase {
  readonly id: string
  readonly status: string
  readonly customer: string
  readonly applicantId: string | null
  readonly result: { readonly reviewAnswer: string; readonly rejectType: string | null } | null
  readonly questions: readonly { readonly code: string; readonly message: string; readonly resolvedAt: number | null }[]
}

/** Reads the case of a customer. */
export async function caseOf(world: World, customerId: string): Promise<StoredCase> {
  const [row] = await world.query<StoredCase>(
    `select k.id, k.status, c.status as customer, k.applicant_id as "applicantId", k.result, k.info_requested as questions
     from kyb_case k join customer c on c.id = k.customer_id where c.id = $1`,
    [customerId],
  )
  return row!
}

/** Puts a case and its customer into statuses, as after their submission. */
export async function putCase(world: World, customerId: string, status: string, customer: string): Promise<void> {
  await world.query('update customer set status = $2, version = version + 1 where id = $1', [customerId, customer])
  await world.query('update balance set customer_status = $2, version = version + 1 where customer_id = $1', [
    customerId,
    customer,
  ])
  await world.query('update kyb_case set status = $2, version = version + 1 where customer_id = $1', [
    customerId,
    status,
  ])
}

/** Adds a director to the case of a customer. @returns the id */
export async function addPerson(world: World, customerId: string, lastName: string): Promise<string> {
  const [row] = await world.query<{ id: string }>(
    `insert into kyb_person (id, customer_id, kind, roles, details, created_at, updated_at)
     values (gen_random_uuid(), $1, 'person', '{director}', $2, now(), now()) returning id`,
    [customerId, JSON.stringify({ firstName: 'Anna', lastName })],
  )
  return row!.id
}

/** Reads what the provider has told of a person. */
export async function personOf(world: World, id: string) {
  const [row] = await world.query<{ status: string; applicantId: string | null; labels: readonly string[] }>(
    `select status, applicant_id as "applicantId", reject_labels as labels from kyb_person where id = $1`,
    [id],
  )
  return row!
}

/** A provider's API, which gives tokens. */
export async function sumsubApi() {
  const answer = { status: 200, body: '{"token":"_act-1","userId":"x"}' }
  const asked: { path: string; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      asked.push({ path: request.url ?? '', body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, answer, asked, [Symbol.asyncDispose]: async () => void server.close() }
}

/** Makes Sumsub the provider that reviews the customers. @returns the id of the connection */
export async function reviewBySumsub(staff: Person): Promise<string> {
  const id = await sumsubConnection(staff, {
    credentials: { appToken: 'sbx:token', secretKey: 'key' },
    levels: { person: 'id-and-liveness', company: 'company' },
  })
  await staff.post(`/kyc-connections/${id}/verify`)
  const changed = await change(staff, id, { active: true })
  if (changed.status !== 200) throw new Error(changed.text)
  return id
}

/**
 * The first day of an operator: from an empty database to a customer that has received money and paid. Every step is a
 * command or a request.
 */
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { KycConnectionView } from '../../../lib/kyc/kyc-connection-schema.ts'
import type { KybCaseItem, KybCaseReview } from '../../../lib/onboarding/case-review-schema.ts'
import type { KybCase } from '../../../lib/onboarding/kyb-case-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { fillIn, patchCase, readCase, scansDone, uploadKyb } from '../../support/applicant.ts'
import { Client, type PageBody } from '../../support/client.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { createDataDir, runCommand } from '../../support/node-process.ts'
import { Person } from '../../support/person.ts'
import { createEmptyDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { decide } from '../approvals/people.ts'
import { createAs } from '../recipients/support.ts'

const PASSWORD = 'correct horse battery'
/** An authenticator shows a code for half a minute, and a code is taken once. */
const CODE_MS = 30_000

t.test('from an empty database to a customer that is paid and pays', async (t) => {
  await using mailServer = await startMailServer()
  await using database = await createEmptyDatabase()
  await using dataDir = await createDataDir()
  const made = await runCommand(
    dataDir.path,
    ['init', '--operator', 'Acme Bank', '--email', 'ann@acme.example', '--name', 'Ann Admin', '--json'],
    { DATABASE_URL: database.url },
  )
  t.match(made, { code: 0, stderr: '' })
  const { operatorId, link } = JSON.parse(made.stdout) as { operatorId: string; link: string }
  await using world = await createWorld({
    databaseUrl: database.url,
    settings: { SMTP_URL: mailServer.url, SMTP_TLS: 'off', MAIL_FROM: 'no-reply@acme.example' },
  })

  const tokenIn = (text: string) => /inv_[\w-]{43}/.exec(text.replaceAll('=\r\n', '').replaceAll('=\n', ''))?.[0]
  /** Accepts an invitation, adds a second factor, and signs in with both. */
  const join = async (email: string, tenantId: string, token: string) => {
    const personWith = (totpSecret: string) =>
      new Person({ url: () => world.url, login: { email, password: PASSWORD, totpSecret }, tenantId, now: world.now })
    const guest = personWith('')
    const accepted = await guest.send(
      'POST',
      `/invitations/${token}/accept`,
      { password: PASSWORD, name: 'A Person' },
      {},
      null,
    )
    t.equal(accepted.status, 200, accepted.text)
    await guest.signIn()
    const factor = (await guest.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' })).body
    const person = personWith(factor.secret)
    t.equal((await guest.post(`/users/me/mfa-factors/${factor.id}/verify`, { code: person.code() })).status, 200)
    world.advance(CODE_MS)
    return await person.signIn()
  }
  const mailedTo = (email: string) =>
    until(`the invitation of ${email}`, async () =>
      (await mailServer.mails())
        .filter((mail) => mail.includes(email))
        .map(tokenIn)
        .find((found) => found !== undefined),
    )
  const proven = async (person: Person, action: string) => {
    world.advance(CODE_MS)
    await person.stepUp(action)
  }

  const ann = await join('ann@acme.example', operatorId, tokenIn(link)!)
  await proven(ann, 'membership.change')
  const invited = await ann.post('/operator/staff-invitations', {
    email: 'ben@acme.example',
    role: 'compliance',
    name: 'Ben',
  })
  t.equal(invited.status, 201, invited.text)
  const ben = await join('ben@acme.example', operatorId, await mailedTo('ben@acme.example'))

  await proven(ann, 'provider_connection.change')
  const bank = await ann.post<ProviderConnectionView>('/provider-connections', { provider: 'sandbox', name: 'Bank' })
  t.equal(bank.status, 201, bank.text)
  const bankPath = `/provider-connections/${bank.body.id}`
  t.match((await ann.post(`${bankPath}/verify`)).body, { status: 'verified' })
  t.match((await ann.post(`${bankPath}/activate`)).body, { status: 'active', role: 'primary' })

  const connection = await ann.post<KycConnectionView>('/kyc-connections', { provider: 'sandbox', name: 'Sandbox' })
  t.equal(connection.status, 201, connection.text)
  const { id: connectionId } = connection.body
  t.equal((await ann.post(`/kyc-connections/${connectionId}/verify`)).status, 200)
  const etag = (await ann.get(`/kyc-connections/${connectionId}`)).headers.get('etag') as string
  const active = await ann.send('PATCH', `/kyc-connections/${connectionId}`, { active: true }, { 'if-match': etag })
  t.match(active.body, { status: 'active' }, active.text)

  const customer = await ben.post<Customer>('/customers', {
    legalName: 'Molen Handel BV',
    incorporationCountry: 'NL',
    primaryOwner: { email: 'noor@molen.example', firstName: 'Noor', lastName: 'de Wit' },
  })
  t.match(customer.body, { status: 'draft' }, customer.text)
  const { id } = customer.body
  const owner = await join('noor@molen.example', id, await mailedTo('noor@molen.example'))
  const applicant = { id, owner, staff: ben }
  t.match((await owner.get('/balances')).body, { data: [] })

  const director = await fillIn(world, applicant)
  const submitted = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
  t.equal(submitted.status, 200, submitted.text)
  const [waiting] = (await ben.get<PageBody<KybCaseItem>>('/kyb-cases')).body.data
  t.match(waiting, { customerId: id, status: 'in_review' })
  const path = `/kyb-cases/${waiting!.id}`
  t.equal((await ben.post(`/customers/${id}/risk`, { risk: 'high', reason: 'Much trade abroad.' })).status, 200)
  t.equal(
    (await ben.post(`${path}/request-info`, { message: 'Where do you buy?', requirements: ['/company/website'] }))
      .status,
    200,
  )
  t.match((await readCase(applicant, owner)).body, { status: 'info_requested' })
  t.equal((await patchCase(applicant, owner, { company: { website: 'https://molen.example' } })).status, 200)
  const missing = await owner.post(`/customers/${id}/kyb/submit`)
  t.match(missing.problem, { status: 422 }, 'a customer of high risk shows more')
  for (const fields of [
    { type: 'kyb_address' },
    { type: 'kyb_source_of_funds' },
    { type: 'kyb_proof_of_address', personId: director.id },
  ])
    t.equal((await uploadKyb(world, applicant, owner, fields)).status, 201)
  await scansDone(world, applicant)
  const resubmitted = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
  t.equal(resubmitted.status, 200, resubmitted.text)
  const approve = (by: Person) => by.post<KybCaseReview>(`${path}/approve`, { note: 'All is there.' })
  const first = await until('all persons are verified', async () => {
    world.advance(1_000)
    const reply = await approve(ben)
    return reply.status === 409 ? null : reply
  })
  t.match([first.status, first.body.customerStatus], [202, 'in_review'], first.text)
  const last = await approve(ann)
  t.match([last.status, last.body.customerStatus], [200, 'active'], last.text)

  const balances = (await owner.get<PageBody<Balance>>('/balances')).body.data
  t.strictSame(balances.map(({ currency }) => currency).sort(), ['EUR', 'USD'])
  const balanceId = balances.find(({ currency }) => currency === 'EUR')!.id
  await proven(owner, 'api_key.create')
  const key = await owner.post<{ secret: string }>('/api-keys', {
    name: 'Treasury',
    environment: 'test',
    scopes: ['payments:write', 'payments:read', 'balances:read', 'recipients:read'],
  })
  t.equal(key.status, 201, key.text)
  const client = new Client({ url: () => world.url, apiKey: key.body.secret, tenantId: id })
  const arriving = await client.post('/simulations/incoming-payments', {
    balanceId,
    amount: { amountMinor: '100000', currency: 'EUR' },
    payerName: 'Bakkerij Jansen',
  })
  t.equal(arriving.status, 202, arriving.text)
  const available = async () => (await client.balance(balanceId)).availableBalance.amountMinor
  await until('the money has arrived', async () => (await available()) === '100000')

  await proven(owner, 'settings.change')
  const domains = await owner.send(
    'PUT',
    `/customers/${id}/settings/approved-domains`,
    { domains: ['molen.example'] },
    { 'if-match': '*' },
  )
  t.equal(domains.status, 200, domains.text)
  await proven(owner, 'membership.change')
  const second = await owner.post(`/customers/${id}/invitations`, {
    email: 'pim@molen.example',
    role: 'approver',
  })
  t.equal(second.status, 201, second.text)
  const pim = await join('pim@molen.example', id, await mailedTo('pim@molen.example'))
  world.advance(CODE_MS)
  const recipient = await createAs(owner)
  t.match(recipient.body, { status: 'pending_approval' }, recipient.text)
  world.advance(CODE_MS)
  const decided = await decide(pim, recipient.body.approval!.approvalId!, { decision: 'approved' })
  t.equal(decided.status, 200, decided.text)
  t.match((await client.get<Recipient>(`/recipients/${recipient.body.id}`)).body, { status: 'active' })
  const payment = await client.post<Payment>('/payments', paymentBody(balanceId, recipient.body.id, 25_000))
  t.equal(payment.status, 201, payment.text)
  await until('the payment is completed', async () => {
    const { status } = (await client.get<Payment>(`/payments/${payment.body.id}`)).body
    return status === 'completed'
  })
  t.equal(await available(), '75000')
  await world.audit()
})

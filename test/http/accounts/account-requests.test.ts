/** The accounts behind balances, from their request to their end, over HTTP. */
import t from 'tap'
import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import type { Person } from '../../support/person.ts'

const world: World = await createWorld()
const { client, balances } = world.seeded
const owner: Person = await world.person('owner').signIn()
t.teardown(() => world[Symbol.asyncDispose]())

const ask = (id: string, rails: readonly string[]) => owner.post<AccountDetails>(`/balances/${id}/details`, { rails })
const detailsOf = async (id: string): Promise<readonly AccountDetails[]> =>
  (await client.list<AccountDetails>(`/balances/${id}/details`)).body.data
const reaching = (id: string, detailsId: string, status: AccountDetails['status']): Promise<AccountDetails> =>
  until(`details ${detailsId} are ${status}`, async () => {
    const details = (await detailsOf(id)).find((one) => one.id === detailsId)
    return details?.status === status ? details : null
  })
const eventsOf = async (id: string) =>
  (
    await world.query<{ type: string; status: string }>(
      `select type, status from outbox where object_id = $1 and not sandbox order by id`,
      [id],
    )
  ).map(({ type, status }) => `${type} ${status}`)

/** The bank takes five seconds from when it was asked. */
async function bankIsDone(...ids: readonly string[]): Promise<void> {
  await until(
    'the bank was asked',
    async () =>
      (
        await world.query('select 1 from sandbox_account where reference = any($1) having count(*) = $2', [
          ids,
          ids.length,
        ])
      )[0] ?? null,
  )
  world.advance(5_000)
}

t.test('details are pending until the bank has opened the account', async (t) => {
  const { id } = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'Collections' })).body
  const reply = await ask(id, ['sepa', 'sepa_instant'])
  t.equal(reply.status, 202)
  t.match(reply.body, {
    balanceId: id,
    currency: 'EUR',
    scope: 'local',
    rails: ['sepa', 'sepa_instant'],
    status: 'pending',
    iban: null,
    bic: null,
    bankName: null,
    country: null,
    validFrom: null,
  })
  t.equal(reply.headers.get('location'), `/v1/balances/${id}/details`)
  t.equal((await client.balance(id)).detailsStatus, 'pending')
  t.match((await ask(id, ['sepa'])).problem, { code: 'invalid-transition', currentStatus: 'pending' })
  await bankIsDone(reply.body.id)
  const active = await reaching(id, reply.body.id, 'active')
  t.match(active, {
    iban: /^NL\d\dSBOX020/,
    bic: 'SBOXNL2A',
    country: 'NL',
    rails: ['sepa', 'sepa_instant'],
    validFrom: String,
    replacedById: null,
  })
  t.equal((await client.balance(id)).detailsStatus, 'active')
  t.strictSame(await eventsOf(id), [], 'nobody used others before')
})

t.test('newer details replace those of the same scope', async (t) => {
  const [local, abroad] = await detailsOf(balances.GBP)
  const reissued = (await ask(balances.GBP, ['faster_payments'])).body
  t.equal((await client.balance(balances.GBP)).detailsStatus, 'active', 'there are others meanwhile')
  await bankIsDone(reissued.id)
  const active = await reaching(balances.GBP, reissued.id, 'active')
  const replaced = await reaching(balances.GBP, local!.id, 'replaced')
  t.match(replaced, { replacedById: reissued.id, sortCode: local!.sortCode })
  t.equal(Date.parse(replaced.validUntil!) - Date.parse(active.validFrom!), 90 * 86_400_000)
  t.not(active.accountNumber, local!.accountNumber)
  t.match(
    (await detailsOf(balances.GBP)).find(({ id }) => id === abroad!.id),
    { status: 'active', scope: 'international' },
  )
  t.strictSame(await eventsOf(balances.GBP), ['balance.details_changed reissue'])
  await world.query('update account_details set due_at = now() where id = $1', [local!.id])
  await world.query('insert into sandbox_account (reference, closes_at) values ($1, now())', [local!.id])
  t.match(await reaching(balances.GBP, local!.id, 'closed'), { replacedById: reissued.id })
  t.equal((await client.balance(balances.GBP)).detailsStatus, 'active')
})

t.test('what a bank does not open is said', async (t) => {
  const fields = async (id: string, rails: readonly string[]) =>
    (await ask(id, rails)).problem.errors?.map(({ field, code }) => `${field} ${code}`)
  t.strictSame(await fields(balances.EUR, ['sepa', 'ach']), ['/rails/1 not_applicable'])
  t.strictSame(await fields(balances.EUR, ['sepa', 'swift']), ['/rails invalid_value'])
  t.strictSame(await fields(balances.EUR, []), ['/rails too_short'])
  t.equal((await ask(owner.tenantId, ['sepa'])).problem.code, 'not-found')
  t.equal(
    (await client.post(`/balances/${balances.EUR}/details`, { rails: ['sepa'] })).problem.code,
    'insufficient-scope',
  )
})

t.test('a balance is closing until the accounts behind it are closed', async (t) => {
  const before = await detailsOf(balances.JPY)
  const closing = (await owner.post<Balance>(`/balances/${balances.JPY}/close`)).body
  t.match(closing, { status: 'closing', detailsStatus: 'closing', isDefault: false, closedAt: null })
  t.match((await ask(balances.JPY, ['jp_zengin'])).problem, { code: 'invalid-transition', currentStatus: 'closing' })
  const paid = await client.post('/simulations/incoming-payments', {
    balanceId: balances.JPY,
    amount: { amountMinor: '500', currency: 'JPY' },
  })
  t.equal(paid.status, 202)
  await until(
    'the money has nobody',
    async () =>
      (
        await world.query('select 1 from incoming_payment where currency = $1 and suspense_reason = $2', [
          'JPY',
          'balance_closed',
        ])
      )[0] ?? null,
  )
  await bankIsDone(...before.map(({ id }) => id))
  const closed = await until('the balance is closed', async () => {
    const balance = await client.balance(balances.JPY)
    return balance.status === 'closed' ? balance : null
  })
  t.match(closed, { detailsStatus: 'closed', closedAt: String })
  t.strictSame(
    (await detailsOf(balances.JPY)).map(({ status }) => status),
    ['closed', 'closed'],
  )
  t.strictSame(await eventsOf(balances.JPY), ['balance.details_changed closing'])
})

/** A world whose bank takes direct debits by files, in a directory, with mandates and collections of its customer. */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS, MINUTE_MS } from '../../lib/base/clock.ts'
import type { Collection } from '../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../lib/direct-debits/mandate-schema.ts'
import type { FilesConfig } from '../../lib/providers/files/files-config.ts'
import { openDayFrom } from '../../lib/rails/calendar-days.ts'
import type { StaffRole } from '../../lib/identity/capabilities.ts'
import type { ReceivedOrder } from './bank-answers.ts'
import type { Person } from './person.ts'
import { until } from './until.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export const CREDITOR_ID = 'DE98ZZZ09999999999'
export const SERVICE_USER = '123456'

export const DEBIT_BANK_CONFIG: FilesConfig = {
  transport: 'directory',
  paths: { outgoing: 'out', incoming: 'in' },
  settlementAccounts: [
    { currency: 'EUR', accountRef: 'NL02ABNA0123456789', bic: 'ABNANL2A', creditorId: CREDITOR_ID },
    { currency: 'GBP', accountRef: '20-00-00 55779911', creditorId: SERVICE_USER },
  ],
  initiatingParty: { name: 'Norden Bank' },
}

/** Shorter than an idle session, and than the proof of a sign-in. */
const SESSION_MS = 4 * MINUTE_MS

/** The account that the bank credits. */
export const ACCOUNT = { iban: 'NL02ABNA0123456789', currency: 'EUR' }

export const euros = (amountMinor: number) => ({ amountMinor: String(amountMinor), currency: 'EUR' })

export interface DebitBank extends AsyncDisposable {
  readonly world: World
  readonly client: World['seeded']['client']
  /** The directory in which `out` and `in` are. */
  readonly directory: string
  /** A person of the staff, who signs in again when time has passed, because sessions end. */
  staff(role?: StaffRole): Promise<Person>
  /** Makes a mandate of SEPA that is signed, or another one. */
  mandate(change?: object): Promise<Mandate>
  collect(mandateId: string, change?: object): Promise<Collection>
  collection(id: string): Promise<Collection>
  /** Reports a status of a mandate or a collection, by its path. */
  report(path: string, status: string, change?: object): Promise<void>
  /** Lets time pass until the file of a collection is due. */
  toCutOff(collection: Pick<Collection, 'submissionDeadline'>): void
  /** The bytes of the file of a collection. */
  fileOf(collection: Pick<Collection, 'id'>): Promise<string>
}

/** The names under which the file of a collection tells of it. */
export function orderIn(xml: string, { endToEndId }: Pick<Collection, 'endToEndId'>): ReceivedOrder {
  const named = (name: string, text: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? ''
  const [block = ''] = xml.split('<DrctDbtTxInf>').filter((text) => text.includes(`<EndToEndId>${endToEndId}<`))
  return {
    messageId: named('MsgId', xml),
    blockId: named('PmtInfId', xml),
    instructionId: named('InstrId', block),
    endToEndId,
    amount: '25.00',
    currency: 'EUR',
  }
}

/** Opens a world with such a bank. */
export async function openDebitBank(options: WorldOptions = {}): Promise<DebitBank> {
  await using made = new AsyncDisposableStack()
  const root = await mkdtemp(join(tmpdir(), 'vostro-debits-'))
  made.defer(() => rm(root, { recursive: true, force: true }))
  const settings = { PROVIDER_FILES_ROOT: root, ...options.settings }
  const world = made.use(await createWorld({ ...options, settings }))
  const [connection] = await world.query<{ id: string }>(
    `update provider_connection set provider = 'files', settings = $1 returning id`,
    [JSON.stringify(DEBIT_BANK_CONFIG)],
  )
  const directory = join(root, connection!.id)
  for (const name of ['out', 'in']) await mkdir(join(directory, name), { recursive: true })
  const { client, balances } = world.seeded
  const sessions = new Map<string, { readonly at: number; readonly person: Promise<Person> }>()
  const staff: DebitBank['staff'] = (role = 'operations') => {
    const known = sessions.get(role)
    if (known !== undefined && world.now() - known.at < SESSION_MS) return known.person
    const person = world.person(role).signIn()
    sessions.set(role, { at: world.now(), person })
    return person
  }
  const post = async <Body>(path: string, body: object): Promise<Body> => {
    const reply = await client.post<Body>(path, body, randomUUID())
    if (reply.status !== 201) throw new Error(reply.text)
    return reply.body
  }
  const running = made.move()
  return {
    world,
    client,
    directory,
    staff,
    mandate: (change = {}) =>
      post<Mandate>('/mandates', {
        direction: 'collect',
        scheme: 'sepa_dd_core',
        reference: '',
        balanceId: balances.EUR,
        counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
        signedAt: new Date(world.now() - DAY_MS).toISOString().slice(0, 10),
        ...change,
      }),
    collect: (mandateId, change = {}) =>
      post<Collection>('/collections', { mandateId, amount: euros(2_500), reference: 'Invoice 42', ...change }),
    collection: async (id) => (await client.get<Collection>(`/collections/${id}`)).body,
    async report(path, status, change = {}) {
      const reportedAt = new Date(world.now()).toISOString()
      const reply = await (await staff()).post(`${path}/status-reports`, { status, reportedAt, ...change })
      if (reply.status !== 200) throw new Error(reply.text)
    },
    toCutOff({ submissionDeadline }) {
      const moment = Date.parse(submissionDeadline) - 20 * MINUTE_MS
      if (moment > world.now()) world.advanceTo(moment)
    },
    async fileOf({ id }) {
      const [file] = await world.query<{ id: string }>('select file_id as id from collection where id = $1', [id])
      // A collection is submitted before its file is written.
      const link = await until('the file to be written', async () => {
        const reply = await (await staff()).get<{ url: string }>(`/collection-files/${file?.id}/download`)
        return reply.status === 200 && reply
      })
      return await (await fetch(link.body.url)).text()
    },
    async [Symbol.asyncDispose]() {
      await running.disposeAsync()
    },
  }
}

/** The settlement day of a calendar after a day. */
export const nextOpenDay = (isOpen: (date: string) => boolean, date: string): string =>
  openDayFrom(new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10), 1, isOpen, 'the scheme')

/** Customers that are being onboarded, for tests: made by staff, with an owner who has signed in. */
import { randomUUID } from 'node:crypto'
import type { Customer, CustomerCreate } from '../../lib/customers/customer-schema.ts'
import type { KybCase } from '../../lib/onboarding/kyb-case-schema.ts'
import type { KybDocument } from '../../lib/onboarding/kyb-document-schema.ts'
import type { KybPerson } from '../../lib/onboarding/kyb-person-schema.ts'
import { PDF, upload } from '../http/documents/upload.ts'
import type { Reply } from './client.ts'
import { mailsOf } from './mails.ts'
import { Person } from './person.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

const PASSWORD = 'correct horse battery'

export interface Applicant {
  readonly id: string
  readonly owner: Person
  /** A person of the operator's compliance staff. */
  readonly staff: Person
}

export const ADDRESS = { line1: 'Damrak', buildingNumber: '1', city: 'Amsterdam', postalCode: '1012 LG', country: 'NL' }

/** Makes a draft customer, whose owner accepts the invitation and signs in. */
export async function newApplicant(world: World, body: Partial<CustomerCreate> = {}): Promise<Applicant> {
  const staff = await world.person('compliance').signIn()
  const email = `noor-${randomUUID().slice(0, 8)}@molen.example`
  const primaryOwner = { email, firstName: 'Noor', lastName: 'de Wit' }
  const made = await staff.post<Customer>('/customers', {
    legalName: 'Molen Handel BV',
    incorporationCountry: 'NL',
    primaryOwner,
    ...body,
  })
  const { id } = made.body
  const token = await until(`the invitation of ${email}`, async () =>
    (await mailsOf(world))
      .filter((mail) => mail.includes(`To: ${email}`))
      .map((mail) => /\/invitations\/([\w-]+)/.exec(mail)?.[1])
      .find((found) => found !== undefined),
  )
  const owner = new Person({
    url: () => world.url,
    login: { email, password: PASSWORD, totpSecret: '' },
    tenantId: id,
    now: world.now,
  })
  await owner.send('POST', `/invitations/${token}/accept`, { password: PASSWORD }, {}, null)
  return { id, owner: await owner.signIn(), staff }
}

export const readCase = async ({ id }: Pick<Applicant, 'id'>, by: Person): Promise<Reply<KybCase>> =>
  await by.get<KybCase>(`/customers/${id}/kyb`)

/** Changes the case as it is now. */
export async function patchCase({ id }: Pick<Applicant, 'id'>, by: Person, body: object): Promise<Reply<KybCase>> {
  const etag = (await readCase({ id }, by)).headers.get('etag') as string
  return await by.send<KybCase>('PATCH', `/customers/${id}/kyb`, body, { 'if-match': etag })
}

export const addPerson = async ({ id }: Pick<Applicant, 'id'>, by: Person, body: object): Promise<Reply<KybPerson>> =>
  await by.post<KybPerson>(`/customers/${id}/kyb/persons`, body)

/** Uploads a document of the case. */
export const uploadKyb = async (
  world: World,
  { id }: Pick<Applicant, 'id'>,
  by: Person,
  fields: Readonly<Record<string, string>>,
  file: { readonly bytes?: Uint8Array; readonly fileName?: string } = {},
): Promise<Reply<KybDocument>> =>
  await upload<KybDocument>(world, { token: by.token, tenantId: by.tenantId }, `/customers/${id}/kyb/documents`, {
    bytes: PDF,
    fileName: 'scan.pdf',
    ...file,
    fields,
  })

/** Waits until no document of the case waits for its scan. */
export async function scansDone(world: World, { id, owner }: Pick<Applicant, 'id' | 'owner'>): Promise<void> {
  await until('the scans of the case', async () => {
    world.advance(1_000)
    const { body } = await owner.get<{ data: readonly KybDocument[] }>(`/customers/${id}/kyb/documents`)
    return body.data.every(({ status }) => status !== 'pending_scan') ? true : null
  })
}

/** A person who is told completely. */
export const NOOR = {
  firstName: 'Noor',
  lastName: 'de Wit',
  dateOfBirth: '1980-02-01',
  nationality: 'NL',
  address: ADDRESS,
  roles: ['director'],
  ownershipPercent: '100',
}

/** Everything that the case of a Dutch business needs, but for its persons, documents and address. */
export const COMPLETE_CASE = {
  company: {
    registrationNumber: '12345678',
    incorporationDate: '2019-01-01',
    legalForm: 'BV',
    industryCode: '46.90',
  },
  expectedActivity: {
    monthlyVolume: { amountMinor: '10000000', currency: 'EUR' },
    monthlyTransactions: 120,
    currencies: ['EUR', 'USD'],
    countries: ['NL', 'US'],
    purpose: 'Trade in flour.',
    sourceOfFunds: 'Sales.',
  },
  attestations: { allDirectors: true, allOwners: true },
  terms: { version: '2026-01' },
}

/** Fills in the case of a Dutch business until nothing is missing; the documents are clean. @returns the director */
export async function fillIn(
  world: World,
  applicant: Applicant,
  { lastName = NOOR.lastName, ...facts }: { readonly lastName?: string; readonly company?: object } = {},
): Promise<KybPerson> {
  const { id, owner } = applicant
  const company = { ...COMPLETE_CASE.company, ...facts.company }
  await patchCase(applicant, owner, { ...COMPLETE_CASE, company })
  await owner.post(`/customers/${id}/settings/addresses`, { kind: 'registered', address: ADDRESS })
  const { body: director } = await addPerson(applicant, owner, { ...NOOR, lastName })
  for (const fields of [
    { type: 'kyb_register_extract' },
    { type: 'kyb_articles' },
    { type: 'kyb_person_id', personId: director.id },
  ])
    await uploadKyb(world, applicant, owner, fields)
  await scansDone(world, applicant)
  return director
}

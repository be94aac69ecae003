/** Changes what a case declares of the customer: the company, the person, the activity, statements and capabilities. */
import { isCurrencyCode } from '../../lib/base/currency.ts'
import { ProblemError, refuse, type FieldError } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import { completeAddress } from '../../lib/contract/address.ts'
import { typesOf } from '../../lib/customers/customer.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { caseLocked } from '../../lib/onboarding/case-moves.ts'
import { ATTESTATIONS } from '../../lib/onboarding/case-words.ts'
import { identityDiffers } from '../../lib/onboarding/identity-facts.ts'
import { NO_ACTIVITY, NO_PERSON, type Attestations, type KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import type { KybCase, KybCaseUpdate } from '../../lib/onboarding/kyb-case-schema.ts'
import { changeCase, writeCustomerType } from '../../storage/onboarding/kyb-cases.ts'
import { recordChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { readerOf, shownCase } from './case-facts.ts'
import type { OnboardingDeps } from './onboarding-deps.ts'
import { renewReview } from './renew-review.ts'
import { countryFaults, futureFaults, isStaff, writeCase } from './write-case.ts'

/** The members that an approved case takes: statements that are made anew. */
const RENEWALS: ReadonlySet<string> = new Set(['attestations', 'terms'])

/**
 * Changes a case; members that are absent stay, null clears a field. A customer whose identity changes is reviewed
 * anew. The answer of an approved case is that its statements alone are made anew.
 *
 * @throws ProblemError `not-found`, `invalid-transition`, `precondition-failed`, `validation-error`
 */
export async function updateCase(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  body: KybCaseUpdate,
  expected: number | bigint | null,
): Promise<Versioned<KybCase>> {
  checkBody(by, body, deps.clock.now())
  const { after, now } = await writeCase(deps, by, customerId, { renewal: true }, async (tx, { record, customer }) => {
    const { client } = tx
    const renewal = Object.keys(body).every((name) => RENEWALS.has(name))
    const problem = caseLocked(record.status, { renewal })
    if (problem !== null) throw new ProblemError(problem)
    checkVersion({ version: record.version }, expected)
    if (body.customerType !== undefined)
      await writeCustomerType(client, customerId, typesOf({ customerType: body.customerType })!, tx.now)
    const change = changeOf(record, by, body, tx.now)
    await changeCase(client, record, { ...change, updatedAt: tx.now })
    const { company = record.company, personal = record.personal } = change
    if (
      identityDiffers(record.company, company) ||
      identityDiffers(record.personal, personal) ||
      (body.customerType ?? customer.customerType) !== customer.customerType
    )
      await renewReview(tx, customerId, null)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'kyb_case.updated',
      object: { type: 'kyb_case', id: record.id },
      before: null,
      after: { changed: namesIn(body) },
    })
  })
  return shownCase(after, now, readerOf(by))
}

/** The names of the members that a body changes. The trail has no values: more people read it than read the case. */
const namesIn = (body: KybCaseUpdate): readonly string[] =>
  Object.entries(body).flatMap(([name, value]) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? [name]
      : Object.keys(value).map((member) => `${name}.${member}`),
  )

/** Merges a body into the facts of a case. */
function changeOf(
  record: KybCaseRecord,
  by: Caller<'person'>,
  { company, personal, expectedActivity, attestations, terms, capabilities }: KybCaseUpdate,
  now: number,
): Partial<KybCaseRecord> {
  const stated = { at: now, by: by.session.userId }
  return {
    ...(company === undefined ? {} : { company: { ...record.company, ...company } }),
    ...(personal === undefined ? {} : { personal: personalOf(record, personal) }),
    ...(expectedActivity === undefined
      ? {}
      : { expectedActivity: { ...(record.expectedActivity ?? NO_ACTIVITY), ...expectedActivity } }),
    ...(attestations === undefined ? {} : { attestations: statedOf(record.attestations, attestations, stated) }),
    ...(terms === undefined ? {} : { terms: { ...stated, version: terms.version, address: by.source.address } }),
    ...(capabilities === undefined ? {} : { capabilities }),
  }
}

function personalOf(
  { personal }: KybCaseRecord,
  { address, ...given }: NonNullable<KybCaseUpdate['personal']>,
): NonNullable<KybCaseRecord['personal']> {
  return {
    ...(personal ?? NO_PERSON),
    ...given,
    ...(address === undefined ? {} : { address: address === null ? null : completeAddress(address) }),
  }
}

/** A statement that is made again is dated anew; one that is taken back is gone. */
function statedOf(
  before: Attestations,
  given: NonNullable<KybCaseUpdate['attestations']>,
  stated: { readonly at: number; readonly by: string },
): Attestations {
  return Object.fromEntries(
    ATTESTATIONS.flatMap((name) => {
      const now = given[name] === undefined ? before[name] : given[name] ? stated : undefined
      return now === undefined ? [] : [[name, now]]
    }),
  )
}

/** @throws ProblemError `validation-error` that names every fault */
function checkBody(by: Caller<'person'>, body: KybCaseUpdate, now: number): void {
  const { company, personal, expectedActivity } = body
  const errors: FieldError[] = [
    ...countryFaults({
      '/company/incorporationCountry': company?.incorporationCountry,
      '/personal/nationality': personal?.nationality,
      '/personal/countryOfResidence': personal?.countryOfResidence,
      '/personal/taxCountry': personal?.taxCountry,
      '/personal/address/country': personal?.address?.country,
      ...Object.fromEntries(
        (expectedActivity?.countries ?? []).map((code, n) => [`/expectedActivity/countries/${n}`, code]),
      ),
    }),
    ...futureFaults(
      {
        '/company/incorporationDate': company?.incorporationDate,
        '/personal/dateOfBirth': personal?.dateOfBirth,
      },
      now,
    ),
    ...currencyFaults(expectedActivity),
  ]
  // Staff fill in a case on behalf of a customer, and make no statement in its name.
  if (isStaff(by))
    for (const name of RENEWALS)
      if (name in body)
        errors.push({ field: `/${name}`, code: 'read_only_field', message: 'A member of the customer states this.' })
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
}

function currencyFaults(activity: KybCaseUpdate['expectedActivity']): FieldError[] {
  const { currencies, monthlyVolume } = activity ?? {}
  const codes = [
    ...(currencies ?? []).map((code, n) => [`/expectedActivity/currencies/${n}`, code] as const),
    ...(monthlyVolume == null ? [] : [['/expectedActivity/monthlyVolume/currency', monthlyVolume.currency] as const]),
  ]
  return codes.flatMap(([field, code]) =>
    isCurrencyCode(code) ? [] : [{ field, code: 'invalid_value', message: 'No such currency.' }],
  )
}

/** Makes tokens with which a provider's SDK takes the documents of an applicant. */
import { timestamp } from '../../lib/base/clock.ts'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { KycConnection } from '../../lib/kyc/connection.ts'
import type { KycSdkToken, KycSdkTokenCreate } from '../../lib/kyc/sdk-token-schema.ts'
import { tokenIn, tokenRequest } from '../../lib/kyc/sumsub/sumsub-requests.ts'
import type { KybCaseStatus } from '../../lib/onboarding/case-words.ts'
import { activeKycConnection } from '../../storage/kyc/kyc-connections.ts'
import { listApplicants, writeApplicant } from '../../storage/kyc/kyc-applicants.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import { hasPerson } from '../../storage/kyc/reviewed-persons.ts'
import { runChange } from '../commands/changes.ts'
import { lockedCase } from '../onboarding/move-case.ts'
import { newApplicant } from './ask-reviews.ts'
import type { KycDeps } from './kyc-deps.ts'
import { keysOf } from './verify-connection.ts'

const TOKEN_SECONDS = 600
const TOKEN_BYTES = 24
/** The statuses of a case in which documents are sent. */
const OPEN: readonly KybCaseStatus[] = ['draft', 'submitted', 'in_review', 'info_requested']

/**
 * Makes a token for the customer that is the tenant, or for a person of its case. From then on the case that a customer
 * fills in has the mode `provider_sdk`. The provider is called outside of the transaction.
 *
 * @throws ProblemError `not-found`, `validation-error`; `invalid-transition` when the case has ended, or staff review
 *   without a provider; `provider-error`, `service-unavailable` when the provider refuses, or does not answer
 */
export async function createSdkToken(
  deps: KycDeps,
  by: Caller<'person'>,
  customerId: string,
  body: KycSdkTokenCreate,
): Promise<KycSdkToken> {
  if (by.tenant.id !== customerId.toLowerCase()) refuseNotFound()
  const personId = body.personId?.toLowerCase() ?? null
  const { connection, subjectId } = await runChange(deps, async (tx) => {
    const { client } = tx
    const { record } = await lockedCase(client, by.tenant.id)
    if (!OPEN.includes(record.status)) refuseTransition(`The case is ${record.status}.`, record.status, OPEN)
    if (personId !== null && !(await hasPerson(client, by.tenant.id, personId)))
      refuseField('/personId', 'not_found', 'No such person in the case.')
    const connection = await activeKycConnection(client, record.operatorId)
    if (connection === null || connection.provider === 'manual')
      refuseTransition('No provider reviews this case: send the documents here.', record.status, [])
    const applicant = newApplicant(record, personId, connection.id)
    const known = (await listApplicants(client, by.tenant.id)).find(
      (each) => each.subjectId === applicant.subjectId && each.connectionId === connection.id,
    )
    // Events of the provider about the applicant are believed from now on.
    if (known === undefined) await writeApplicant(client, applicant)
    if (record.mode === 'wizard') await changeCase(client, record, { mode: 'provider_sdk', updatedAt: tx.now })
    return { connection, subjectId: applicant.subjectId }
  })
  return {
    token:
      connection.provider === 'sandbox' ? sandboxToken(deps) : await sumsubToken(deps, connection, subjectId, personId),
    expiresAt: timestamp(deps.clock.now() + TOKEN_SECONDS * 1_000),
    provider: connection.provider,
  }
}

/** The sandbox has no SDK, so its token opens nothing. */
const sandboxToken = ({ random }: Pick<KycDeps, 'random'>): string =>
  `sbx_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`

async function sumsubToken(
  deps: KycDeps,
  connection: KycConnection,
  subjectId: string,
  personId: string | null,
): Promise<string> {
  const { sumsub, clock } = deps
  const keys = keysOf(deps, connection)
  const level = personId === null ? connection.levels.company : connection.levels.person
  if (keys === null || level === null)
    refuse('provider-error', 'The operator has not finished the configuration of its provider.')
  const { status, body } = await sumsub.send(
    tokenRequest(keys, clock.now(), { subjectId, level, seconds: TOKEN_SECONDS }),
  )
  const token = status === 200 ? tokenIn(body) : null
  return token ?? refuse('provider-error', `The provider answered ${status} without a token.`)
}

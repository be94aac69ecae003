/** Makes a mandate of a customer. */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { refuseField, type Problem } from '../../lib/base/problems.ts'
import { NEW_MANDATE, type MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { counterpartyOf, referenceOfMandate } from '../../lib/direct-debits/account.ts'
import type { MandateCreate } from '../../lib/direct-debits/mandate-schema.ts'
import { noticeOf } from '../../lib/direct-debits/debit-terms.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { dayStart } from '../../lib/contract/formats.ts'
import { readDebitTerms } from '../../storage/direct-debits/customer-debit-terms.ts'
import { debitBalance, type DebitBalance } from '../../storage/direct-debits/debit-balances.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'
import type { DebitOutcome } from './debit-mover.ts'
import { mandateActor } from './mandate.ts'

/** Bytes of which a reference is made. */
const REFERENCE_BYTES = 14

/**
 * Makes a mandate.
 *
 * @throws ProblemError when the body refers to something that it may not use; Overloaded, DatabaseUnavailable or
 *   OutcomeUnknown, safe to repeat under the same key
 */
export async function createMandateOf(
  deps: DirectDebitDeps,
  caller: CommandOrigin,
  body: MandateCreate,
): Promise<DebitOutcome> {
  const { database, ids, clock, random, system, managementOf, isOrdered } = deps
  const { customerId, shard } = caller
  const counterparty = counterpartyOf(body)
  const balance = await balanceFor(deps, customerId, body)
  const terms = DEBIT_SCHEMES[body.scheme]
  const limit = body.amountLimit ?? null
  if (limit !== null && limit.currency !== terms.currency)
    refuseField('/amountLimit/currency', 'currency_mismatch', `${terms.name} is in ${terms.currency}.`)
  const { authorisationSource: source = null, consentType: consent = null } = body
  if (source !== null && !terms.authorisationSources.includes(source))
    refuseField('/authorisationSource', 'not_applicable', `${terms.name} takes no authorisation by ${source}.`)
  if (consent !== null && !terms.consentTypes.includes(consent))
    refuseField('/consentType', 'not_applicable', `${terms.name} has no consent of this type.`)
  const now = clock.now()
  const signedAt = body.signedAt == null ? null : dayStart(body.signedAt)
  if (signedAt !== null && signedAt > now) refuseField('/signedAt', 'invalid_value', 'Must not be in the future.')
  const { scheme } = body
  const notice = noticeOf(terms, await readDebitTerms(database, { customerId, scheme, currency: terms.currency }))
  const isGenerated = (body.reference ?? '') === ''
  let refusal: Problem | null = null
  let reference = referenceOfMandate(body.scheme, body.reference ?? null, () => random(REFERENCE_BYTES))
  const mandate = (): MandateRecord => ({
    ...NEW_MANDATE,
    id: caller.paymentId ?? ids.next(),
    customerId,
    operatorId: balance.operatorId,
    connectionId: balance.connectionId,
    shard,
    direction: body.direction,
    scheme: body.scheme,
    reference,
    balanceId: body.balanceId.toLowerCase(),
    currency: balance.currency as CurrencyCode,
    counterparty,
    management: managementOf(balance.provider, body.scheme),
    sequenceType: body.sequenceType ?? 'recurring',
    amountLimit: limit === null ? null : BigInt(limit.amountMinor),
    consentType: consent,
    authorisationSource: source,
    signedAt,
    documentId: body.mandateDocumentId?.toLowerCase() ?? null,
    creditorId: body.direction === 'collect' ? (balance.config?.directDebitCreditorId ?? null) : null,
    creditorName: body.direction === 'collect' ? balance.customerName : null,
    history: [],
    createdBy: caller.createdBy,
    createdVia: caller.createdVia,
    metadata: inStoredOrder(body.metadata ?? {}),
    createdAt: now,
    updatedAt: now,
  })
  let made = mandate()
  const reply = await askUntilDecided(
    { ...caller, system, actor: mandateActor, id: made.id },
    () => ({
      kind: 'create_mandate' as const,
      mandate: made,
      notice,
      isOrdered: body.direction === 'collect' && isOrdered(balance.provider, body.scheme),
      refusal,
      key: caller.key,
      problemRequest: caller.problemRequest,
      context: { by: 'member' as const },
      seed: ids.next(),
    }),
    (conflict) => {
      switch (conflict.kind) {
        case 'mandate_reference_used':
          if (isGenerated) {
            reference = referenceOfMandate(body.scheme, null, () => random(REFERENCE_BYTES))
            made = { ...made, reference }
          } else
            refusal = {
              slug: 'validation-error',
              detail: 'Another mandate has this reference.',
              errors: [{ field: '/reference', code: 'invalid_value', message: 'Another mandate has this reference.' }],
            }
          return 'again'
        case 'fact_stale':
          return refuseField('/mandateDocumentId', 'not_found', 'No such document, or it is not clean.')
        default:
          throw new Error(`Making a mandate met ${conflict.kind}.`)
      }
    },
    'mandate',
  )
  if (reply.kind === 'stale') throw new Error('A new mandate has no collections.')
  return reply
}

async function balanceFor(
  { database }: DirectDebitDeps,
  customerId: string,
  { balanceId, scheme }: Pick<MandateCreate, 'balanceId' | 'scheme'>,
): Promise<DebitBalance> {
  const balance =
    (await debitBalance(database, customerId, balanceId)) ?? refuseField('/balanceId', 'not_found', 'No such balance.')
  const { currency, name } = DEBIT_SCHEMES[scheme]
  if (balance.currency !== currency)
    refuseField('/balanceId', 'currency_mismatch', `${name} is in ${currency}, the balance in ${balance.currency}.`)
  if (balance.status !== 'active') refuseField('/balanceId', 'inactive', `The balance is ${balance.status}.`)
  return balance
}

/** Makes a mandate of a customer. */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { refuse, refuseField, type Problem } from '../../lib/base/problems.ts'
import { NEW_MANDATE, type MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { counterpartyOf, referenceOfMandate } from '../../lib/direct-debits/account.ts'
import type { MandateCreate } from '../../lib/direct-debits/mandate-schema.ts'
import { noticeOf } from '../../lib/direct-debits/debit-terms.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { dayStart } from '../../lib/contract/formats.ts'
import { moneyProblem } from '../../lib/customers/money-access.ts'
import type { Period } from '../../lib/direct-debits/dates.ts'
import type { DebitBalance } from '../../storage/direct-debits/debit-balances.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import { factsOf, type CreditorFacts } from './debit-facts.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'
import type { DebitOutcome } from './debit-mover.ts'
import { mandateActor } from './mandate.ts'

/** Bytes of which a reference is made. */
const REFERENCE_BYTES = 14
const REFERENCE_TAKEN = 'Another mandate has this reference.'

/** A mandate that a body asks for, before it is decided. */
export interface WantedMandate {
  readonly mandate: MandateRecord
  /** The notice that the payers of its collections get. */
  readonly notice: Period
  readonly isOrdered: boolean
  /** The customer's standing, where it forbids mandates. */
  readonly refusal: Problem | null
}

/**
 * Checks a body, and builds the mandate that it asks for.
 *
 * @throws ProblemError `validation-error` for what does not fit the scheme, or refers to what it may not use
 */
export async function wantedMandate(
  { ids, clock, random, managementOf, isOrdered }: DirectDebitDeps,
  caller: CommandOrigin,
  body: MandateCreate,
  facts: CreditorFacts,
): Promise<WantedMandate> {
  const { customerId, shard } = caller
  const counterparty = counterpartyOf(body)
  const balance = await balanceFor(facts, body)
  const scheme = DEBIT_SCHEMES[body.scheme]
  const limit = body.amountLimit ?? null
  if (limit !== null && limit.currency !== scheme.currency)
    refuseField('/amountLimit/currency', 'currency_mismatch', `${scheme.name} is in ${scheme.currency}.`)
  const { authorisationSource: source = null, consentType: consent = null } = body
  if (source !== null && !scheme.authorisationSources.includes(source))
    refuseField('/authorisationSource', 'not_applicable', `${scheme.name} takes no authorisation by ${source}.`)
  if (consent !== null && !scheme.consentTypes.includes(consent))
    refuseField('/consentType', 'not_applicable', `${scheme.name} has no consent of this type.`)
  const now = clock.now()
  const signedAt = body.signedAt == null ? null : dayStart(body.signedAt)
  if (signedAt !== null && signedAt > now) refuseField('/signedAt', 'invalid_value', 'Must not be in the future.')
  const documentId = await cleanDocument(facts, body.mandateDocumentId?.toLowerCase() ?? null)
  const terms = await facts.terms(body.scheme, scheme.currency)
  return {
    notice: noticeOf(scheme, terms, body.preNotificationDays ?? null),
    isOrdered: isOrdered(balance.provider, body.scheme),
    refusal: moneyProblem(terms, 'pay'),
    mandate: {
      ...NEW_MANDATE,
      id: caller.paymentId ?? ids.next(),
      customerId,
      operatorId: balance.operatorId,
      connectionId: balance.connectionId,
      shard,
      direction: body.direction,
      scheme: body.scheme,
      reference: referenceOfMandate(body.scheme, body.reference ?? null, () => random(REFERENCE_BYTES)),
      balanceId: body.balanceId.toLowerCase(),
      currency: balance.currency as CurrencyCode,
      counterparty,
      management: managementOf(balance.provider, body.scheme),
      sequenceType: body.sequenceType ?? 'recurring',
      noticeDays: body.preNotificationDays ?? null,
      amountLimit: limit === null ? null : BigInt(limit.amountMinor),
      consentType: consent,
      authorisationSource: source,
      signedAt,
      documentId,
      creditorId: body.direction === 'collect' ? balance.creditorId : null,
      creditorName: body.direction === 'collect' ? balance.customerName : null,
      history: [],
      createdBy: caller.createdBy,
      createdVia: caller.createdVia,
      metadata: inStoredOrder(body.metadata ?? {}),
      createdAt: now,
      updatedAt: now,
    },
  }
}

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
  facts: CreditorFacts = factsOf(deps.database, caller.customerId),
): Promise<DebitOutcome> {
  const { ids, random, system } = deps
  const wanted = await wantedMandate(deps, caller, body, facts)
  const { notice, isOrdered } = wanted
  const isGenerated = (body.reference ?? '') === ''
  let { mandate: made, refusal } = wanted
  const reply = await askUntilDecided(
    { ...caller, system, actor: mandateActor, id: made.id },
    () => ({
      kind: 'create_mandate' as const,
      mandate: made,
      notice,
      isOrdered,
      refusal,
      key: caller.key,
      problemRequest: caller.problemRequest,
      context: { by: 'member' as const },
      seed: ids.next(),
    }),
    (conflict) => {
      switch (conflict.kind) {
        case 'mandate_reference_used':
          if (isGenerated)
            made = { ...made, reference: referenceOfMandate(body.scheme, null, () => random(REFERENCE_BYTES)) }
          else
            refusal = {
              slug: 'validation-error',
              detail: REFERENCE_TAKEN,
              errors: [{ field: '/reference', code: 'invalid_value', message: REFERENCE_TAKEN }],
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

/** @throws ProblemError `validation-error` for a document that the customer does not have, `document-not-clean` */
async function cleanDocument(facts: Pick<CreditorFacts, 'document'>, id: string | null): Promise<string | null> {
  const status = id === null ? 'clean' : await facts.document(id)
  if (status === null) refuseField('/mandateDocumentId', 'not_found', 'No such document.')
  if (status !== 'clean')
    refuse('document-not-clean', 'The document has failed its check or is still waiting for it.', {
      extra: { documentIds: [id] },
    })
  return id
}

async function balanceFor(
  facts: Pick<CreditorFacts, 'balance'>,
  { balanceId, scheme }: Pick<MandateCreate, 'balanceId' | 'scheme'>,
): Promise<DebitBalance> {
  const balance = (await facts.balance(balanceId)) ?? refuseField('/balanceId', 'not_found', 'No such balance.')
  const { currency, name } = DEBIT_SCHEMES[scheme]
  if (balance.currency !== currency)
    refuseField('/balanceId', 'currency_mismatch', `${name} is in ${currency}, the balance in ${balance.currency}.`)
  if (balance.status !== 'active') refuseField('/balanceId', 'inactive', `The balance is ${balance.status}.`)
  return balance
}

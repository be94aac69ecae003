/** Makes a customer: a draft, and the invitation of its first owner. */
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { type FieldError, refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { typesOf } from '../../lib/customers/customer.ts'
import type { Customer, CustomerCreate } from '../../lib/customers/customer-schema.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { emailKey } from '../../lib/identity/password-rules.ts'
import { draftCase } from '../../lib/onboarding/kyb-case.ts'
import { isCountry } from '../../lib/recipients/iban.ts'
import { insertCustomer, tellCustomerStatus, type NewCustomer } from '../../storage/customers/customer-rows.ts'
import { readCustomer } from '../../storage/customers/customer-queries.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { insertCase } from '../../storage/onboarding/kyb-cases.ts'
import { readOperator } from '../../storage/operators/operators.ts'
import { readTemplate } from '../../storage/pricing/pricing.ts'
import { recordChange } from '../commands/changes.ts'
import { decideOnce, isRecorded } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import { inviteOwner } from './owner-invitation.ts'
import type { CustomerDeps } from './customer-deps.ts'

/** Numbers that are drawn before the search for a free one is given up: with a million customers one in a hundred is taken. */
const NUMBERS_DRAWN_MAX = 20
const NUMBER_MIN = 10_000_000
const NUMBERS = 90_000_000

/**
 * Makes a draft customer of the operator, and invites its first owner. Nothing is written when anything is refused.
 *
 * @throws ProblemError `validation-error`, and for keys `invitation_domains_required` and `domain_not_approved`
 */
export async function createCustomer(
  deps: CustomerDeps,
  by: Caller,
  command: Command<CustomerCreate>,
): Promise<CommandAnswer<Customer, 201>> {
  const { body } = command
  const { primaryOwner } = body
  // A key with an answer keeps it, whatever the operator has set since.
  const types = (await isRecorded(deps, command)) ? typesOf({}) : checkedTypes(by, body)
  return await decideOnce(deps, command, 201, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const { now } = tx
    const operatorId = by.tenant.id
    if (primaryOwner !== undefined && by.principal.kind === 'key')
      await requireDomain(client, operatorId, primaryOwner.email)
    const pricingTemplateId = body.pricingTemplateId ?? null
    if (pricingTemplateId !== null && (await readTemplate(client, operatorId, pricingTemplateId, true)) === null)
      refuseField('/pricingTemplateId', 'not_found', 'No such price list.')
    const id = deps.ids.next()
    await insertWithNumber(deps, client, {
      id,
      operatorId,
      legalName: body.legalName,
      tradingName: body.tradingName ?? null,
      ...(types ?? typesOf({})!),
      registrationNumber: body.registrationNumber ?? null,
      incorporationCountry: body.incorporationCountry,
      pricingTemplateId,
      metadata: inStoredOrder(body.metadata ?? {}),
      now,
    })
    const { tradingName, legalName, incorporationCountry, registrationNumber } = body
    await insertCase(
      client,
      draftCase({
        id: deps.ids.next(),
        customerId: id,
        operatorId,
        provider: deps.sandbox ? 'sandbox' : 'manual',
        known: {
          legalName,
          tradingName: tradingName ?? null,
          registrationNumber: registrationNumber ?? null,
          incorporationCountry,
        },
        now,
      }),
    )
    await tellCustomerStatus(client, {
      customerId: id,
      status: 'draft',
      previousStatus: null,
      id: deps.ids.next(),
      now,
    })
    await recordChange(tx, auditCaller(by), id, {
      action: 'customer.created',
      object: { type: 'customer', id },
      before: null,
      after: { legalName, incorporationCountry, registrationNumber: registrationNumber ?? null, ...types },
    })
    if (primaryOwner !== undefined)
      await inviteOwner(deps, tx, by, { customerId: id, operatorId, tenantName: legalName }, primaryOwner)
    return { shown: (await readCustomer(client, id)) ?? refuseNotFound(), made: { type: 'customer', id } }
  })
}

/** Checks what a body may contain. @throws ProblemError `validation-error` that names every fault */
function checkedTypes(
  by: Caller,
  { customerType, identityType, incorporationCountry, primaryOwner }: CustomerCreate,
): ReturnType<typeof typesOf> {
  const types = typesOf({ customerType, identityType })
  const errors: FieldError[] = []
  if (types === null)
    errors.push({
      field: '/identityType',
      code: 'invalid_value',
      message: 'A business is `corporate`, sole traders and individuals are `individual`.',
    })
  if (!isCountry(incorporationCountry))
    errors.push({ field: '/incorporationCountry', code: 'invalid_value', message: 'Is no country of ISO 3166.' })
  if (by.principal.kind === 'key' && primaryOwner === undefined)
    errors.push({ field: '/primaryOwner', code: 'required', message: 'API keys name the first owner of a customer.' })
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
  return types
}

/** Keys invite addresses of the domains alone that the operator has approved for them. */
async function requireDomain(client: TransactionClient, operatorId: string, email: string): Promise<void> {
  const domains = (await readOperator(client, operatorId))?.apiKeyInvitationDomains ?? []
  if (domains.length === 0)
    refuse(
      'invitation_domains_required',
      'Approve a domain first: apiKeyInvitationDomains of PATCH /operator/settings.',
    )
  const domain = emailKey(email).split('@').at(-1) as string
  if (!domains.includes(domain))
    refuse('domain_not_approved', `Addresses at ${domain} may not be invited by API keys.`, { extra: { domain } })
}

/** Draws numbers until one is free; two customers made at once never get the same. */
async function insertWithNumber(
  { random }: Pick<CustomerDeps, 'random'>,
  client: TransactionClient,
  customer: Omit<NewCustomer, 'number'>,
): Promise<void> {
  for (let drawn = 0; drawn < NUMBERS_DRAWN_MAX; drawn++) {
    const number = NUMBER_MIN + (Buffer.from(random(6)).readUIntBE(0, 6) % NUMBERS)
    if (await insertCustomer(client, { ...customer, number: `${number}` })) return
  }
  throw new Error(`The operator ${customer.operatorId} has no free number for a customer.`)
}

/** Prices, for tests: the operator writes down what it charges and lets it hold. */
import type { PricingRuleWrite, PricingTemplate } from '../../../lib/pricing/pricing-template-schema.ts'
import type { Person } from '../../support/person.ts'
import type { World } from '../../support/world.ts'

let names = 0

/** From now on the operator charges by these rules and no others. Returns the list, and who wrote it. */
export async function charge(
  world: World,
  rules: readonly PricingRuleWrite[],
  signedIn?: Person,
): Promise<{ readonly template: PricingTemplate; readonly admin: Person }> {
  const admin = signedIn ?? (await world.person('operator_admin').signIn())
  const template = await admin.post<PricingTemplate>('/pricing-templates', { name: `Prices ${names++}`, rules })
  if (template.status !== 201) throw new Error(template.text)
  const set = await admin.send(
    'PATCH',
    '/operator/settings',
    { pricing: { defaultTemplateId: template.body.id } },
    { 'if-match': '*' },
  )
  if (set.status !== 200) throw new Error(set.text)
  return { template: template.body, admin }
}

/** Checks of the fields of a webhook endpoint before it is written. */
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import { maySubscribe } from '../../lib/base/event-types.ts'
import { checkTarget, isPublicAddress } from '../../lib/webhooks/target.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { WebhookDeps } from './change-endpoint.ts'

/** The time limit for resolving a name. A slower name is checked when there is a delivery. */
const RESOLVE_MS = 2_000

/**
 * Checks a URL that callbacks are sent to, and the addresses of its host name.
 *
 * @throws ProblemError `validation-error` for text that is not a URL, `unsafe-url` for a target that the policy forbids
 */
export async function checkUrl(
  { policy, resolve }: Pick<WebhookDeps, 'policy' | 'resolve'>,
  text: string,
): Promise<void> {
  const target = checkTarget(text, policy)
  if (target.kind === 'unreadable')
    refuseWebhookField({ field: '/url', code: 'invalid_format', message: 'Must be an absolute URL.' })
  if (target.kind === 'unsafe') refuse('unsafe-url', target.detail, { extra: { ruleViolated: target.rule } })
  if (target.address !== null || policy === 'any') return
  const { promise, resolve: giveUp } = Promise.withResolvers<readonly string[]>()
  const timer = setTimeout(() => giveUp([]), RESOLVE_MS)
  const addresses = await Promise.race([resolve(target.host).catch(() => []), promise])
  clearTimeout(timer)
  if (addresses.some((address) => !isPublicAddress(address)))
    refuse('unsafe-url', 'The host name leads to an address that is not public.', {
      extra: { ruleViolated: 'address' },
    })
}

/**
 * Checks that a tenant of this level may subscribe to all of these event types.
 *
 * @throws ProblemError `validation-error` for the first other type
 */
export function checkEvents(level: Tenant['kind'], events: readonly string[]): void {
  const at = events.findIndex((type) => !maySubscribe(level, type))
  if (at >= 0)
    refuseWebhookField({
      field: `/events/${at}`,
      code: 'invalid_value',
      message: 'Events of this type are sent to endpoints of operators only.',
    })
}

/** Refuses a field of a webhook request. @throws ProblemError `validation-error` always */
export function refuseWebhookField(error: FieldError): never {
  refuse('validation-error', 'Some fields of the body are not valid.', { errors: [error] })
}

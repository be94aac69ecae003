/**
 * The events of Column: `{id, created_at, type, data}`, the same by webhook and in the list of events. `data` of an ACH
 * event is the whole transfer.
 */
import { asObject, objectOf } from '../../../../lib/base/json.ts'
import { hmacFits, soleHeader, type SignedBody } from '../../../../lib/security/signed-body.ts'
import type { InboxMessage, RawProviderEvent, Verification } from '../adapter.ts'
import { derivedId } from '../derived-id.ts'
import { referenceOf, statusOf, textIn } from './column-transfers.ts'

const OUTGOING = 'ach.outgoing_transfer.'
/** Events about a transfer that has ended before, which move nothing: corrections of an account, disputes of a return. */
const TOLD_BEFORE = /\.(noc|return_dishonored|return_contested)$/

const none = (reason: string, isFault: boolean): readonly InboxMessage[] => [{ port: 'none', reason, isFault }]

/** Judges a webhook: an HMAC of the body under the secret of the endpoint. The signature tells no time. */
export function verifyWebhook(request: SignedBody, secret: string): Verification {
  const signature = soleHeader(request, 'column-signature')
  if (signature === null || secret === '') return { valid: false, reason: 'The header Column-Signature is missing.' }
  if (!/^[0-9a-f]{64}$/i.test(signature) || !hmacFits('sha256', secret, [request.bytes], Buffer.from(signature, 'hex')))
    return { valid: false, reason: 'The signature does not fit the body.' }
  const body = objectOf(request.bytes)
  const [eventId, type] = [textIn(body, 'id'), textIn(body, 'type')]
  if (eventId === null || type === null) return { valid: false, reason: 'The event has no id or no type.' }
  return { valid: true, eventId, type }
}

/** Translates an event of a connection. */
export function translateEvent(connectionId: string, { body }: RawProviderEvent): readonly InboxMessage[] {
  const event = objectOf(body)
  const type = textIn(event, 'type')
  if (event === null || type === null) return none('The body is no JSON object with a type.', true)
  if (!type.startsWith(OUTGOING) || TOLD_BEFORE.test(type))
    return none(`Events of the type ${type} are not used.`, false)
  const transfer = asObject(event['data'])
  const transferId = textIn(transfer, 'id')
  if (transfer === null || transferId === null) return none('The event has no transfer.', true)
  const reference = referenceOf(transfer)
  if (reference === null) return none('The transfer was not made by this service.', false)
  const status = statusOf(transfer)
  if (status === null) return none(`The transfer has the status ${textIn(transfer, 'status') ?? 'of nothing'}.`, true)
  return [
    {
      port: 'bank',
      message: {
        // A transfer is settled once, whether the event is called settled or completed.
        id: derivedId(connectionId, transferId, status.kind),
        type: status.kind,
        reference,
        connectionId,
        schemeCode: 'schemeCode' in status ? status.schemeCode : null,
        amount: status.kind === 'returned' ? status.amount : null,
        providerRef: transferId,
      },
    },
  ]
}

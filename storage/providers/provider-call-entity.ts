/** A call of a banking partner. */
import { defineEntity, p } from '@mikro-orm/core'
import type { ProviderCall } from '../../lib/providers/provider-call.ts'
import { instant } from '../db/entity-types.ts'

export const ProviderCallRow = defineEntity({
  name: 'ProviderCall',
  tableName: 'provider_call',
  properties: {
    id: p.uuid().primary(),
    connectionId: p.uuid().fieldName('connection_id'),
    operation: p.text(),
    method: p.text(),
    target: p.text(),
    status: p.smallint().nullable(),
    fault: p.text().$type<ProviderCall['fault']>().nullable(),
    message: p.text().nullable(),
    latencyMs: p.integer().fieldName('latency_ms'),
    requestBytes: p.integer().fieldName('request_bytes'),
    answerBytes: p.integer().fieldName('answer_bytes'),
    request: p.text().nullable(),
    answer: p.text().nullable(),
    at: instant(),
  },
  indexes: [
    { name: 'provider_call_connection', properties: ['connectionId', 'id'] },
    { name: 'provider_call_old', properties: ['at'] },
  ],
})

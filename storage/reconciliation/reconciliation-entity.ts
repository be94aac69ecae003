/**
 * Days of accounts at partners, compared with the ledger, and their differences. The lines of statements have no
 * entity.
 */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

const time = () => instant()

export const Reconciliation = defineEntity({
  name: 'Reconciliation',
  tableName: 'reconciliation',
  triggers: taskTrigger('reconciliation', {
    columns: 'status, taken_until',
    when: "new.status = 'queued'",
    task: ['reconciliation.compare', 'id', 'taken_until'],
  }),
  properties: {
    id: p.uuid().primary(),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    currency: p.string().columnType('char(3)'),
    day: p.date(),
    status: p.text(),
    attempts: p.smallint().defaultRaw('0'),
    takenUntil: time().fieldName('taken_until').nullable(),
    error: p.text().nullable(),
    statementRef: p.text().fieldName('statement_ref').nullable(),
    statementSha256: p.blob().fieldName('statement_sha256').nullable(),
    entries: p.integer().nullable(),
    partnerOpening: p.bigint().fieldName('partner_opening').nullable(),
    partnerClosing: p.bigint().fieldName('partner_closing').nullable(),
    nostroOpening: p.bigint().fieldName('nostro_opening').nullable(),
    nostroClosing: p.bigint().fieldName('nostro_closing').nullable(),
    matched: p.integer().nullable(),
    timing: p.integer().nullable(),
    breaks: p.integer().nullable(),
    unexplained: p.bigint().nullable(),
    block: p.bigint().nullable(),
    blockHash: p.blob().fieldName('block_hash').nullable(),
    requestedBy: p.uuid().fieldName('requested_by').nullable(),
    version: p.integer().defaultRaw('1'),
    startedAt: time().fieldName('started_at').nullable(),
    finishedAt: time().fieldName('finished_at').nullable(),
    createdAt: time().fieldName('created_at'),
    updatedAt: time().fieldName('updated_at'),
  },
  indexes: [
    { name: 'reconciliation_operator', properties: ['operatorId', 'id'] },
    {
      name: 'reconciliation_queued',
      expression: `create index reconciliation_queued on reconciliation (id) where status in ('queued', 'running')`,
    },
  ],
  uniques: [{ name: 'reconciliation_day', properties: ['connectionId', 'currency', 'day'] }],
})

export const ReconciliationItem = defineEntity({
  name: 'ReconciliationItem',
  tableName: 'reconciliation_item',
  properties: {
    id: p.uuid().primary(),
    operatorId: p.uuid().fieldName('operator_id'),
    connectionId: p.uuid().fieldName('connection_id'),
    currency: p.string().columnType('char(3)'),
    reconciliationId: p.uuid().fieldName('reconciliation_id'),
    kind: p.text(),
    status: p.text(),
    direction: p.string().columnType('char(4)'),
    reference: p.uuid().nullable(),
    ourAmount: p.bigint().fieldName('our_amount').nullable(),
    partnerAmount: p.bigint().fieldName('partner_amount').nullable(),
    sourceObject: p.text().fieldName('source_object').nullable(),
    entryId: p.uuid().fieldName('entry_id').nullable(),
    bankRef: p.text().fieldName('bank_ref').nullable(),
    text: p.text().nullable(),
    foundOn: p.date().fieldName('found_on'),
    clearedOn: p.date().fieldName('cleared_on').nullable(),
    suspenseId: p.uuid().fieldName('suspense_id').nullable(),
    proposal: p.text().nullable(),
    outcome: p.text().nullable(),
    evidence: p.text().nullable(),
    resolvedBy: p.uuid().fieldName('resolved_by').nullable(),
    resolvedByName: p.text().fieldName('resolved_by_name').nullable(),
    resolvedAt: time().fieldName('resolved_at').nullable(),
    version: p.integer().defaultRaw('1'),
    createdAt: time().fieldName('created_at'),
    updatedAt: time().fieldName('updated_at'),
  },
  indexes: [
    { name: 'reconciliation_item_account', properties: ['connectionId', 'currency', 'id'] },
    {
      name: 'reconciliation_item_uncleared',
      expression:
        'create index reconciliation_item_uncleared on reconciliation_item (connection_id, currency) where cleared_on is null',
    },
    {
      name: 'reconciliation_item_open',
      expression: `create index reconciliation_item_open on reconciliation_item (operator_id, id) where status in ('open', 'in_suspense')`,
    },
  ],
})

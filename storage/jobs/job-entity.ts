/** A job: work that is requested now and done soon. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

const at = (column: string) => instant().fieldName(column)

export const Job = defineEntity({
  name: 'Job',
  tableName: 'job',
  triggers: taskTrigger('job', {
    columns: 'due_at',
    when: 'new.due_at is not null',
    task: ['jobs.run', 'id', 'due_at', 'tenant_id'],
  }),
  properties: {
    id: p.uuid().primary(),
    tenantId: p.uuid().fieldName('tenant_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    customerId: p.uuid().fieldName('customer_id').nullable(),
    shard: p.smallint(),
    kind: p.text(),
    status: p.text(),
    version: p.integer().defaultRaw('1'),
    request: p.text(),
    fingerprint: p.uuid().nullable(),
    subjectObject: p.text().fieldName('subject_object').nullable(),
    subjectId: p.uuid().fieldName('subject_id').nullable(),
    processed: p.bigint().defaultRaw('0'),
    total: p.bigint().nullable(),
    result: p.text().nullable(),
    fileId: p.uuid().fieldName('file_id').nullable(),
    error: p.text().nullable(),
    requestedBy: p.uuid().fieldName('requested_by'),
    requestId: p.text().fieldName('request_id').nullable(),
    failures: p.smallint().defaultRaw('0'),
    dueAt: at('due_at').nullable(),
    lease: p.uuid().nullable(),
    createdAt: at('created_at'),
    startedAt: at('started_at').nullable(),
    finishedAt: at('finished_at').nullable(),
    expiresAt: at('expires_at').nullable(),
  },
  indexes: [
    { name: 'job_tenant', properties: ['tenantId', 'id'] },
    { name: 'job_waiting', expression: 'create index job_waiting on job (tenant_id, id) where due_at is not null' },
    { name: 'job_due', expression: 'create index job_due on job (due_at) where due_at is not null' },
    { name: 'job_ended', expression: 'create index job_ended on job (expires_at) where expires_at is not null' },
    {
      name: 'job_open',
      expression:
        'create unique index job_open on job (tenant_id, fingerprint) where due_at is not null and fingerprint is not null',
    },
  ],
})

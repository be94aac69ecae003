/** The sections of the commit statement for compliance holds and exceptions. */
import type { ExceptionEnd, ExceptionRow } from '../../lib/compliance/exception.ts'
import type { ComplianceHoldRow } from '../../lib/compliance/hold.ts'
import { computed, NO_COLUMN } from '../commit/columns.ts'
import { insert, rowsOf, section } from '../commit/section.ts'

export const COMPLIANCE_HOLDS = rowsOf(
  'complianceHolds',
  insert<ComplianceHoldRow, 'sandboxDecision' | 'wakeAt'>(
    'compliance_hold',
    {
      id: 'uuid',
      kind: 'text',
      provider: 'text',
      subjectType: 'text',
      subjectId: 'uuid',
      customerId: 'uuid',
      operatorId: 'uuid',
      shard: 'smallint',
      currency: 'text',
      amount: 'bigint',
      counterparty: 'text',
      findings: computed('json', (h) => JSON.stringify(h.findings)),
      decides: NO_COLUMN,
      sandboxDecision: computed('text', (h) => h.decides?.decision ?? null),
      wakeAt: computed('timestamptz', (h) => h.decides?.at ?? null),
      createdAt: 'timestamptz',
    },
    { status: `'open'`, updated_at: 'u.created_at' },
  ),
)

/** Opens exceptions; a subject has one at a time. */
export const EXCEPTIONS = rowsOf(
  'exceptions',
  section<ExceptionRow>(
    'exception_case',
    {
      id: 'uuid',
      kind: 'text',
      code: 'text',
      message: 'text',
      subjectType: 'text',
      subjectId: 'uuid',
      customerId: 'uuid',
      operatorId: 'uuid',
      shard: 'smallint',
      currency: 'text',
      amount: 'bigint',
      createdAt: 'timestamptz',
    },
    (source) => `exception_case_written as (
  insert into exception_case (id, kind, code, message, subject_type, subject_id, customer_id, operator_id, shard, currency, amount, created_at, status, updated_at)
  select u.*, 'open', u.created_at from ${source} where (select ok from verdict) on conflict (subject_id) where status = 'open' do nothing)`,
  ),
)

export const EXCEPTION_ENDS = rowsOf(
  'exceptionEnds',
  section<ExceptionEnd>(
    'exception_ended',
    { subjectId: 'uuid', outcome: 'text', at: 'timestamptz' },
    (source, bound) => `exception_ended_written as (
  update exception_case e set status = 'resolved', outcome = u.outcome, resolved_at = u.at, updated_at = u.at, version = e.version + 1
  from ${source} where e.subject_id = u.subject_id and e.subject_id = any(${bound('subject_id')}) and e.status = 'open' and (select ok from verdict))`,
  ),
)

/** The sections of the commit statement for compliance holds and exceptions. */
import type { ExceptionEnd, ExceptionRow } from '../../lib/compliance/exception.ts'
import type { ComplianceHoldRow } from '../../lib/compliance/hold.ts'
import { computed, NO_COLUMN, type Columns } from '../commit/columns.ts'
import { insertInto, rowsOf, section } from '../commit/section.ts'
import { columns, namesOf, without } from '../db/columns.ts'
import { ComplianceHold } from './compliance-hold-entity.ts'
import { ExceptionCase } from './exception-case-entity.ts'

const HOLD_COLUMNS = columns(ComplianceHold)

export const COMPLIANCE_HOLDS = rowsOf(
  'complianceHolds',
  insertInto(
    ComplianceHold,
    {
      ...without(HOLD_COLUMNS, [
        'status',
        'assignee',
        'proposal',
        'decidedBy',
        'decidedByName',
        'decidedAt',
        'reason',
        'freezeFunds',
        'version',
        'updatedAt',
      ]),
      findings: computed<ComplianceHoldRow>(HOLD_COLUMNS.findings, (h) => JSON.stringify(h.findings)),
      decides: NO_COLUMN,
      sandboxDecision: computed<ComplianceHoldRow>(HOLD_COLUMNS.sandboxDecision, (h) => h.decides?.decision ?? null),
      wakeAt: computed<ComplianceHoldRow>(HOLD_COLUMNS.wakeAt, (h) => h.decides?.at ?? null),
    } satisfies Columns<ComplianceHoldRow, 'sandboxDecision' | 'wakeAt'>,
    { status: `'open'`, updated_at: 'u.created_at' },
  ),
)

const EXCEPTION_COLUMNS = without(columns(ExceptionCase), [
  'status',
  'assignee',
  'proposal',
  'resubmitForbidden',
  'outcome',
  'outcomeAmount',
  'evidence',
  'resolvedBy',
  'resolvedByName',
  'resolvedAt',
  'version',
  'updatedAt',
])

/** Opens exceptions; a subject has one at a time. */
export const EXCEPTIONS = rowsOf(
  'exceptions',
  section<ExceptionRow>(
    'exception_case',
    EXCEPTION_COLUMNS,
    (source) => `exception_case_written as (
  insert into exception_case (${namesOf(EXCEPTION_COLUMNS)}, status, updated_at)
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

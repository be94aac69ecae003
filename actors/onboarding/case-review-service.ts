/** The review of KYB cases by the operator's staff: its queue, decisions and screening alerts. */
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { ListResult } from '../../lib/contract/list.ts'
import type {
  AlertView,
  KybApprove,
  KybAssign,
  KybCaseItem,
  KybCaseReview,
  KybNoteCreate,
  KybReject,
  KybReopen,
  KybRequestInfo,
} from '../../lib/onboarding/case-review-schema.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { listKybCases, readCaseReview, type KybCaseListQuery } from '../../storage/onboarding/case-review-queries.ts'
import type { Node } from '../runtime/node.ts'
import type { CaseReviewDeps, CaseReviewed, ReviewOf } from './case-transaction.ts'
import { approveCase, assignCase, noteCase, rejectCase, reopenCase, requestInfo } from './review-case.ts'
import { viewAlert } from './screening-alerts.ts'

/** The reads. */
export interface CaseReviewReads {
  list(query: KybCaseListQuery): Promise<ListResult<KybCaseItem>>
  /** Null when the case is not the operator's. */
  get(tenant: Tenant, id: string): Promise<Versioned<KybCaseReview> | null>
}

type Person = Caller<'person'>

/** The decisions of staff. Every refusal is thrown as a problem. */
export interface CaseReviewCommands {
  assign(by: Person, of: ReviewOf, body: KybAssign): Promise<CaseReviewed>
  requestInfo(by: Person, of: ReviewOf, body: KybRequestInfo): Promise<CaseReviewed>
  approve(by: Person, of: ReviewOf, body: KybApprove): Promise<CaseReviewed>
  reject(by: Person, of: ReviewOf, body: KybReject): Promise<CaseReviewed>
  reopen(by: Person, of: ReviewOf, body: KybReopen): Promise<CaseReviewed>
  note(by: Person, of: ReviewOf, body: KybNoteCreate): Promise<CaseReviewed>
  viewAlert(by: Person, of: ReviewOf, alertId: string, body: AlertView): Promise<CaseReviewed>
}

export type CaseReviewService = ReturnType<typeof createCaseReviewService>

/** Creates the service. */
export function createCaseReviewService(
  node: Node,
  { customers }: { readonly customers: Pick<CaseReviewDeps, 'announce'> },
) {
  const deps: CaseReviewDeps = { ...node, announce: customers.announce }
  const db = readDatabase(node.database)
  const reads: CaseReviewReads = {
    list: (query) => listKybCases(db, query),
    get: (tenant, id) => readCaseReview(node.database.pool, tenant, id),
  }
  const commands: CaseReviewCommands = {
    assign: (by, of, body) => assignCase(deps, by, of, body),
    requestInfo: (by, of, body) => requestInfo(deps, by, of, body),
    approve: (by, of, body) => approveCase(deps, by, of, body),
    reject: (by, of, body) => rejectCase(deps, by, of, body),
    reopen: (by, of, body) => reopenCase(deps, by, of, body),
    note: (by, of, body) => noteCase(deps, by, of, body),
    viewAlert: (by, of, alertId, body) => viewAlert(deps, by, of, alertId, body),
  }
  return { reads, commands }
}

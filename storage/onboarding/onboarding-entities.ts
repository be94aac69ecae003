/** The KYB case of a customer, the people and companies in it, and its documents. */
import { defineEntity, p } from '@mikro-orm/core'
import type {
  CustomerCapability,
  KybCaseStatus,
  KycProviderId,
  OnboardingMode,
} from '../../lib/onboarding/case-words.ts'
import type { KybTerms, Attestations, InfoRequest, ReviewResult } from '../../lib/onboarding/kyb-case.ts'
import type { CaseDecision, FirstApproval } from '../../lib/onboarding/case-decision.ts'
import type { ExpectedActivity, KybCompany, KybPersonal } from '../../lib/onboarding/kyb-case-schema.ts'
import type { KybDocumentType } from '../../lib/onboarding/kyb-document.ts'
import type {
  KybOwner,
  KybPersonDetails,
  KybPersonKind,
  KybPersonRole,
  KybPersonStatus,
} from '../../lib/onboarding/kyb-person.ts'
import { bigVersion, instant, managed } from '../db/entity-types.ts'

export const KybCase = managed(
  defineEntity({
    name: 'KybCase',
    tableName: 'kyb_case',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      status: p.text().$type<KybCaseStatus>(),
      mode: p.text().$type<OnboardingMode>(),
      provider: p.text().$type<KycProviderId>(),
      applicantId: p.text().fieldName('applicant_id').nullable(),
      company: p.json().$type<KybCompany>(),
      personal: p.json().$type<KybPersonal>().nullable(),
      expectedActivity: p.json().$type<ExpectedActivity>().fieldName('expected_activity').nullable(),
      attestations: p.json().$type<Attestations>().defaultRaw(`'{}'`),
      terms: p.json().$type<KybTerms>().nullable(),
      capabilities: p.array<CustomerCapability>().columnType('text[]'),
      infoRequested: p.json().$type<readonly InfoRequest[]>().fieldName('info_requested').defaultRaw(`'[]'`),
      result: p.json().$type<ReviewResult>().nullable(),
      assigneeId: p.uuid().fieldName('assignee_id').nullable(),
      nextReviewAt: instant().fieldName('next_review_at').nullable(),
      firstApproval: p.json().$type<FirstApproval>().fieldName('first_approval').nullable(),
      decision: p.json().$type<CaseDecision>().nullable(),
      lapsedAt: instant().fieldName('lapsed_at').nullable(),
      submittedAt: instant().fieldName('submitted_at').nullable(),
      reviewedAt: instant().fieldName('reviewed_at').nullable(),
      requirementsDigest: p.text().fieldName('requirements_digest').defaultRaw(`''`),
      checkDueAt: instant().fieldName('check_due_at').nullable(),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [
      { name: 'kyb_case_queue', properties: ['operatorId', 'status', 'submittedAt', 'id'] },
      {
        name: 'kyb_case_check',
        expression: 'create index kyb_case_check on kyb_case (check_due_at) where check_due_at is not null',
      },
    ],
    uniques: [
      { name: 'kyb_case_customer', expression: 'create unique index kyb_case_customer on kyb_case (customer_id)' },
    ],
  }),
)

export const KybPerson = managed(
  defineEntity({
    name: 'KybPerson',
    tableName: 'kyb_person',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      kind: p.text().$type<KybPersonKind>(),
      roles: p.array<KybPersonRole>().columnType('text[]').defaultRaw(`'{}'`),
      details: p.json().$type<KybPersonDetails>(),
      ownershipPercent: p.text().fieldName('ownership_percent').nullable(),
      ownedBy: p.json().$type<readonly KybOwner[]>().fieldName('owned_by').nullable(),
      nominee: p.boolean().defaultRaw('false'),
      status: p.text().$type<KybPersonStatus>().defaultRaw(`'draft'`),
      applicantId: p.text().fieldName('applicant_id').nullable(),
      rejectLabels: p.array().columnType('text[]').fieldName('reject_labels').defaultRaw(`'{}'`),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [{ name: 'kyb_person_customer', properties: ['customerId', 'id'] }],
  }),
)

export const KybDocument = managed(
  defineEntity({
    name: 'KybDocument',
    tableName: 'kyb_document',
    properties: {
      id: p.uuid().primary(),
      customerId: p.uuid().fieldName('customer_id'),
      type: p.text().$type<KybDocumentType>(),
      personId: p.uuid().fieldName('person_id').nullable(),
      requirement: p.text().nullable(),
      expiresOn: p.date().fieldName('expires_on').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [{ name: 'kyb_document_customer', properties: ['customerId', 'id'] }],
  }),
)

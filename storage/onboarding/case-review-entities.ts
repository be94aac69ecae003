/** Notes of staff on a KYB case, and what screening has found. */
import { defineEntity, p } from '@mikro-orm/core'
import type { AlertDecided, AlertProposal, ScreeningAlertStatus } from '../../lib/onboarding/screening-alert.ts'
import { bigVersion, instant, managed } from '../db/entity-types.ts'

export const KybNote = managed(
  defineEntity({
    name: 'KybNote',
    tableName: 'kyb_note',
    properties: {
      id: p.uuid().primary(),
      caseId: p.uuid().fieldName('case_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      authorId: p.uuid().fieldName('author_id'),
      authorName: p.text().fieldName('author_name'),
      text: p.text(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [{ name: 'kyb_note_case', properties: ['caseId', 'id'] }],
  }),
)

export const ScreeningAlert = managed(
  defineEntity({
    name: 'ScreeningAlert',
    tableName: 'screening_alert',
    properties: {
      id: p.uuid().primary(),
      caseId: p.uuid().fieldName('case_id'),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      provider: p.text(),
      list: p.text(),
      name: p.text(),
      score: p.double(),
      status: p.text().$type<ScreeningAlertStatus>().defaultRaw(`'open'`),
      proposal: p.json().$type<AlertProposal>().nullable(),
      decision: p.json().$type<AlertDecided>().nullable(),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    uniques: [
      {
        name: 'screening_alert_hit',
        expression: 'create unique index screening_alert_hit on screening_alert (case_id, list, name)',
      },
    ],
  }),
)

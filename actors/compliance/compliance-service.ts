/** Compliance: held payments and transfers, exceptions, and the decisions of the operator's staff on both. */
import { background, type Node } from '../runtime/node.ts'
import { ComplianceHolds, type HeldSubjects } from './compliance-holds.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import { createComplianceCommands, createComplianceReads } from './compliance-operations.ts'
import { createQuestionCommands, createQuestionReads } from './payment-questions.ts'
import { Exceptions, type ExceptionsOptions } from './resolve-exception.ts'

export type ComplianceService = ReturnType<typeof createComplianceService>

/** Creates the service. Other nouns add their subjects before the background starts. */
export function createComplianceService(
  node: Node,
  { downloads }: { readonly downloads: { readonly reads: DownloadReads } },
) {
  const held: HeldSubjects = {}
  const exceptional: ExceptionsOptions['subjects'] = {}
  const holds = new ComplianceHolds({ ...node, subjects: held })
  const exceptions = new Exceptions({ ...node, subjects: exceptional })
  const reads = createComplianceReads(node)
  const asking = { ...node, downloads: downloads.reads }
  return {
    reads: { ...reads, ...createQuestionReads(asking) },
    commands: { ...createComplianceCommands({ holds, exceptions, reads }), ...createQuestionCommands(asking) },
    background: [background('compliance holds', holds)],
    /** Adds the effects of decisions on holds of some types of subjects. */
    addHeld(subjects: HeldSubjects): void {
      Object.assign(held, subjects)
    },
    /** Adds the effects of decisions on exceptions of some types of subjects. */
    addExceptions(subjects: ExceptionsOptions['subjects']): void {
      Object.assign(exceptional, subjects)
    },
  }
}

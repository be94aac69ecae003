/** Describes the sandbox's rules for bulk files, for the catalogue that integrators read. */
import { STALL_CODE } from '../bulk-payments/bulk-payment.ts'
import type { CatalogueRule } from './triggers.ts'

export function bulkRules(): readonly CatalogueRule[] {
  return [
    'SBX:<CODE> in the reference of a row: applies to the payment that is made of it, as amounts do',
    `SBX:${STALL_CODE} in the name of a bulk payment: its submission stops after the first payments, until it is submitted again, cancelled (after 2 min) or given up (after 30 min)`,
    'SBX:APPROVE or SBX:REJECT in the name of a bulk payment: its approval is decided 5 s after it could be, when all payments are made',
  ].map((rule) => ({ topic: 'bulk payments', rule }))
}

/**
 * The forms of mandates, as PDF. A form is rendered on the first request and then stored, one for each version of its
 * mandate; requests at the same time wait for one rendering, which alone is counted against the customer's limit.
 */
import type { Tenant } from '../../lib/commands/caller.ts'
import { formOfMandate } from '../../lib/direct-debits/mandate-page.ts'
import type { Database } from '../../storage/db/database.ts'
import { mandateCustomer } from '../../storage/documents/mandate-party.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import { findConfirmation, keepConfirmation } from '../../storage/documents/confirmations.ts'
import type { RenderMandate } from '../../workers/pool/pool.ts'

/** A form as it is answered. */
export interface MandateDocument {
  readonly version: number
  /** The reference of the mandate, by which the payer knows it. */
  readonly number: string
  readonly pdf: Uint8Array
}

export interface MandateDocuments {
  /** Null when the mandate is not the tenant's. `count` counts a rendering. @throws what `count` throws */
  ofMandate(tenant: Tenant, mandateId: string, count: (customerId: string) => void): Promise<MandateDocument | null>
}

export interface MandateDocumentDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly workers: { readonly renderMandate: RenderMandate }
}

/** Creates the reads. */
export function createMandateDocuments({ database, clock, workers }: MandateDocumentDeps): MandateDocuments {
  /** The renderings in progress, by mandate and version. */
  const underWay = new Map<string, Promise<Uint8Array>>()
  return {
    async ofMandate(tenant, mandateId, count) {
      const mandate = await findMandate(database, mandateId)
      if (mandate === null || mandate.customerId !== tenant.id) return null
      const { id: objectId, version, customerId, reference: number } = mandate
      const make = async (): Promise<Uint8Array> => {
        const kept = await findConfirmation(database, objectId, version)
        if (kept !== null) return kept
        count(customerId)
        const page = formOfMandate(mandate, await mandateCustomer(database, mandate.balanceId))
        const pdf = await workers.renderMandate(page)
        return await keepConfirmation(database, { objectId, version, customerId, now: clock.now() }, pdf)
      }
      const key = `${objectId} ${version}`
      const making = underWay.get(key) ?? make().finally(() => underWay.delete(key))
      underWay.set(key, making)
      return { version, number, pdf: await making }
    },
  }
}

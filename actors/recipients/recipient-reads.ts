/** The reads of recipients. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { RecipientReview, recipientReviewList } from '../../lib/recipients/recipient-review-schema.ts'
import type { Recipient, recipientList } from '../../lib/recipients/recipient-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface RecipientReads {
  listRecipients(query: ListQuery<typeof recipientList>): Promise<ListResult<Recipient>>
  getRecipient(tenant: Tenant, id: string): Promise<Versioned<Recipient> | null>
  listRecipientReviews(query: ListQuery<typeof recipientReviewList>): Promise<ListResult<RecipientReview>>
  getRecipientReview(tenant: Tenant, id: string): Promise<Versioned<RecipientReview> | null>
}

/** Reads of recipients. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../http/list.ts'
import type { RecipientReview, recipientReviewList } from '../../http/schemas/recipient-review.ts'
import type { Recipient, recipientList } from '../../http/schemas/recipient.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface RecipientReads {
  listRecipients(query: ListQuery<typeof recipientList>): Promise<ListResult<Recipient>>
  getRecipient(tenant: Tenant, id: string): Promise<Versioned<Recipient> | null>
  listRecipientReviews(query: ListQuery<typeof recipientReviewList>): Promise<ListResult<RecipientReview>>
  getRecipientReview(tenant: Tenant, id: string): Promise<Versioned<RecipientReview> | null>
}

/** The resource to which the link of a mail leads. */

/** A view behind a link, and the tenant in the name of whose operator it is shown. */
export interface Linked<View> {
  readonly view: View
  /** A customer or an operator; null for a person who belongs to none. */
  readonly tenantId: string | null
}

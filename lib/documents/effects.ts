/** References to documents that decisions write. */

/** A reference to a document from another object; the document cannot be deleted while it exists. */
export interface DocumentUse {
  readonly documentId: string
  readonly object: 'payment' | 'payment_answer' | 'kyb_case' | 'adjustment' | 'mandate' | 'collection'
  readonly objectId: string
}

declare module '../decisions/effects.ts' {
  interface Effects {
    /** Each document must exist and be clean; the commit refuses the decision otherwise. */
    readonly documentUses?: readonly DocumentUse[]
  }
}

/** Uses of documents that decisions write. */

/** Something that names a document, which cannot be deleted meanwhile. */
export interface DocumentUse {
  readonly documentId: string
  readonly object: 'payment'
  readonly objectId: string
}

declare module '../decisions/effects.ts' {
  interface Effects {
    /** Each document must exist and be clean; the commit refuses the decision otherwise. */
    readonly documentUses?: readonly DocumentUse[]
  }
}

/**
 * The formats of bulk payments. A new format is a row here and, where it is a file, its reader in
 * workers/bulk-payments/readers.ts; the row alone does not compile. The order is that of the contract. Pure.
 */

/** The resource that a row of a file becomes. */
export type BulkKind = 'payments' | 'mandates' | 'collections'

interface FormatTerms {
  /** `file`: uploaded, and read in a thread; `request`: the rows of a JSON request. */
  readonly arrivesAs: 'file' | 'request'
  /** Whether customers can download a template to fill in. */
  readonly hasTemplate: boolean
  readonly makes: BulkKind
}

export const BULK_FORMATS = {
  csv: { arrivesAs: 'file', hasTemplate: true, makes: 'payments' },
  xlsx: { arrivesAs: 'file', hasTemplate: true, makes: 'payments' },
  pain001: { arrivesAs: 'file', hasTemplate: false, makes: 'payments' },
  json: { arrivesAs: 'request', hasTemplate: false, makes: 'payments' },
  mandates_csv: { arrivesAs: 'file', hasTemplate: true, makes: 'mandates' },
  collections_csv: { arrivesAs: 'file', hasTemplate: true, makes: 'collections' },
} as const satisfies Readonly<Record<string, FormatTerms>>

/** The formats whose row has these terms. */
type FormatsWith<Terms extends Partial<FormatTerms>> = {
  [Format in BulkFormat]: (typeof BULK_FORMATS)[Format] extends Terms ? Format : never
}[BulkFormat]

export type BulkFormat = keyof typeof BULK_FORMATS
export type BulkFileFormat = FormatsWith<{ readonly arrivesAs: 'file' }>
export type TemplateFormat = FormatsWith<{ readonly hasTemplate: true }>

export const BULK_FORMAT_NAMES = Object.keys(BULK_FORMATS) as BulkFormat[]
export const BULK_FILE_FORMATS = BULK_FORMAT_NAMES.filter(
  (name): name is BulkFileFormat => BULK_FORMATS[name].arrivesAs === 'file',
)
export const TEMPLATE_FORMATS = BULK_FORMAT_NAMES.filter(
  (name): name is TemplateFormat => BULK_FORMATS[name].hasTemplate,
)

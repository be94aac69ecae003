/** Writes transactions as rows of a table, for exports. */
import type { CurrencyCode } from '../base/currency.ts'
import type { Cell } from '../statements/table.ts'
import type { TransactionRecord } from './transaction.ts'

export const EXPORT_FORMATS = ['csv', 'xlsx', 'json', 'camt053', 'mt940'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A transaction with its notes. */
export interface ExportedTransaction extends TransactionRecord {
  /** Newest first; empty unless they were requested. */
  readonly annotations: readonly {
    readonly text: string
    readonly author: { readonly name: string }
    readonly createdAt: string
  }[]
}

type Row = ExportedTransaction

const amount = (value: bigint | null, { currency }: Pick<Row, 'currency'>): Cell =>
  value === null ? null : { kind: 'amount', value, currency: currency as CurrencyCode }
const time = (value: number | null): Cell => (value === null ? null : { kind: 'time', value })
const count = (value: number): Cell => ({ kind: 'integer', value })

/** Every column by its name, in the default order. */
const COLUMNS = {
  id: (row: Row): Cell => row.id,
  createdAt: (row: Row): Cell => time(row.createdAt),
  bookedAt: (row: Row): Cell => time(row.bookedAt),
  valueDate: (row: Row): Cell => (row.valueDate === null ? null : { kind: 'date', value: row.valueDate }),
  type: (row: Row): Cell => row.type,
  status: (row: Row): Cell => row.status,
  direction: (row: Row): Cell => row.direction,
  amount: (row: Row): Cell => amount(row.direction === 'out' ? -row.amount : row.amount, row),
  fee: (row: Row): Cell => amount(row.fee === 0n ? null : row.fee, row),
  feeTax: (row: Row): Cell => amount(row.feeTax === 0n ? null : row.feeTax, row),
  currency: (row: Row): Cell => row.currency,
  runningBalance: (row: Row): Cell => amount(row.runningBalance, row),
  description: (row: Row): Cell => row.description,
  counterpartyName: (row: Row): Cell => row.counterpartyName,
  counterpartyIdentifier: (row: Row): Cell => row.counterpartyIdentifier,
  reference: (row: Row): Cell => row.reference,
  orderId: (row: Row): Cell => row.orderId,
  rail: (row: Row): Cell => row.rail,
  category: (row: Row): Cell => row.category,
  exchangeRate: (row: Row): Cell => (row.exchange === null ? null : { kind: 'decimal', value: row.exchange.rate }),
  originalAmount: (row: Row): Cell => amount(row.card?.original?.amount ?? null, row.card?.original ?? row),
  originalCurrency: (row: Row): Cell => row.card?.original?.currency ?? null,
  markup: (row: Row): Cell => amount(row.card?.original == null ? null : row.card.markup, row),
  merchantName: (row: Row): Cell => row.card?.merchant.name ?? null,
  merchantCategoryCode: (row: Row): Cell => row.card?.merchant.mcc ?? null,
  merchantCountry: (row: Row): Cell => row.card?.merchant.country ?? null,
  cardId: (row: Row): Cell => row.card?.id ?? null,
  balanceId: (row: Row): Cell => row.balanceId,
  recipientId: (row: Row): Cell => row.recipientId,
  sourceObject: (row: Row): Cell => row.sourceObject,
  sourceId: (row: Row): Cell => row.sourceId,
  attachmentCount: (row: Row): Cell => count(row.attachmentCount),
  annotationCount: (row: Row): Cell => count(row.annotationCount),
  annotations: (row: Row): Cell =>
    row.annotations.length === 0
      ? null
      : row.annotations
          .map(({ text, author, createdAt }) => `${createdAt.slice(0, 10)} ${author.name}: ${text}`)
          .join(' | '),
} as const

export type ExportColumn = keyof typeof COLUMNS
export const EXPORT_COLUMNS = Object.keys(COLUMNS) as ExportColumn[]

/** Returns the columns of an export that names none. */
export function defaultColumns(withAnnotations: boolean): readonly ExportColumn[] {
  return EXPORT_COLUMNS.filter((column) => column !== 'annotations' || withAnnotations)
}

/** Tells whether a text is the name of a column. */
export const isExportColumn = (text: string): text is ExportColumn => Object.hasOwn(COLUMNS, text)

/** Makes the row of a transaction with these columns. */
export function tableRow(row: Row, columns: readonly ExportColumn[]): readonly Cell[] {
  return columns.map((column) => COLUMNS[column](row))
}

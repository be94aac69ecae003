/** A bank's file that cannot be used, with the place of the fault. */
import type { BankFileFault } from './reports.ts'

export class BankFileError extends Error {
  override readonly name = 'BankFileError'
  readonly fault: BankFileFault
  /** The path of the element, from the one below the document (`BkToCstmrStmt/Stmt/Ntry/Amt`); empty for no element. */
  readonly path: string
  /** From 1; null for a fault of no single line. */
  readonly line: number | null

  constructor(fault: BankFileFault, message: string, { path = '', line = null }: Partial<ElementPlace> = {}) {
    super(message)
    this.fault = fault
    this.path = path
    this.line = line
  }
}

/** The place of an element in a file. */
export interface ElementPlace {
  readonly path: string
  readonly line: number | null
}

/** The head and the foot of the pages of a statement. */
import { timestamp } from '../../lib/base/clock.ts'
import type { StatementHead } from '../../lib/statements/statement.ts'
import { ACCENT, SOFT } from './pdf-style.ts'
import { longDay, PAGE_BOTTOM, printed, type StatementSheet, WIDTH } from './statement-sheet.ts'

/** Draws the head of the first page: the operator, the holder's address, the facts of the account, and the sums. */
export function drawLetterhead(sheet: StatementSheet, head: StatementHead): void {
  const { holder } = head
  sheet.put(holder.operatorName, 0, 42, WIDTH * 0.6, { face: 'bold', size: 16 })
  sheet.put('Account statement', WIDTH * 0.6, 47, WIDTH * 0.4, { size: 10, colour: SOFT, right: true })
  sheet.rule(70, ACCENT, 1.5)
  sheet.put(holder.name, 0, 92, WIDTH * 0.46, { face: 'bold', size: 10 })
  holder.address.slice(0, 5).forEach((line, index) => sheet.put(line, 0, 107 + 13 * index, WIDTH * 0.46, { size: 9 }))
  const facts: readonly (readonly [string, string | null])[] = [
    ['Account', holder.balanceName],
    ['IBAN', holder.iban === null ? null : printed(holder.iban)],
    ['Account number', holder.iban === null ? holder.accountNumber : null],
    ['BIC', holder.bic],
    ['Bank', holder.bankName],
    ['Currency', head.currency],
    ['Period', `${longDay(head.from)} – ${longDay(head.to)}`],
    ['Statement no.', String(head.sequenceNumber)],
    ['Made', `${timestamp(head.createdAt).slice(0, 16).replace('T', ' ')} UTC`],
  ]
  facts
    .filter(([, value]) => value !== null && value !== '')
    .forEach(([label, value], index) => {
      sheet.put(label, WIDTH * 0.5, 92 + 13.5 * index, 76, { size: 8.5, colour: SOFT })
      sheet.put(value as string, WIDTH * 0.5 + 80, 92 + 13.5 * index, WIDTH * 0.5 - 80, { size: 8.5 })
    })
  drawSums(sheet, head)
}

/** Draws the box with the opening balance, the turnover and the closing balance. */
function drawSums(sheet: StatementSheet, head: StatementHead): void {
  const box = 232
  sheet.band(box, 84)
  const sums: readonly (readonly [string, string, boolean])[] = [
    [`Opening balance on ${longDay(head.from)}`, sheet.amount(head.opening), false],
    [`Credits (${head.creditCount})`, sheet.amount(head.credits), false],
    [`Debits (${head.debitCount})`, head.debits === 0n ? sheet.amount(0n) : `-${sheet.amount(head.debits)}`, false],
    [`Closing balance on ${longDay(head.to)}`, sheet.amount(head.closing), true],
  ]
  sums.forEach(([label, value, last], index) => {
    const top = box + 9 + index * 18
    const face = last ? 'bold' : 'regular'
    sheet.put(label, 12, top, WIDTH * 0.55, { face, size: 9.5 })
    sheet.put(`${value} ${head.currency}`, WIDTH * 0.5, top, WIDTH * 0.5 - 12, {
      face,
      size: 9.5,
      right: true,
      shrink: true,
    })
  })
}

/** Draws the head of each later page. */
export function drawShortHead(sheet: StatementSheet, head: StatementHead): void {
  const { holder } = head
  sheet.put(holder.operatorName, 0, 46, WIDTH * 0.4, { face: 'bold', size: 10 })
  sheet.put(
    `${holder.iban === null ? (holder.accountNumber ?? holder.balanceName) : printed(holder.iban)} · ${longDay(head.from)} – ${longDay(head.to)} · Statement no. ${head.sequenceNumber}`,
    WIDTH * 0.3,
    48,
    WIDTH * 0.7,
    { size: 8, colour: SOFT, right: true },
  )
  sheet.rule(66, ACCENT, 1)
}

/** Draws the footer with the number of the page. */
export function drawFooter(
  sheet: StatementSheet,
  { id, holder }: Pick<StatementHead, 'id' | 'holder'>,
  page: number,
  pages: number,
): void {
  sheet.rule(PAGE_BOTTOM + 14)
  sheet.put(
    `Issued electronically by ${holder.operatorName}; valid without a signature. Statement ${id}.`,
    0,
    PAGE_BOTTOM + 20,
    WIDTH - 80,
    { size: 7, colour: SOFT },
  )
  sheet.put(`Page ${page} of ${pages}`, WIDTH - 76, PAGE_BOTTOM + 20, 76, { size: 7, colour: SOFT, right: true })
}

/**
 * Reads bulk files as ISO 20022 customer credit transfer initiations (pain.001.001.03 and pain.001.001.09), element by
 * element.
 */
import { columnNamed, columnOfMember, type CellTarget } from '../../lib/bulk-payments/columns.ts'
import { unusable } from '../../lib/bulk-payments/file-error.ts'
import { RowReader, type BulkRow, type FileFacts } from '../../lib/bulk-payments/instruction.ts'
import { BULK_ROWS_MAX } from '../../lib/bulk-payments/limits.ts'
import { CANADIAN_CLEARING, canadianParts, CLEARING_FIELDS } from '../../lib/rails/clearing-systems.ts'
import { XmlReader, type XmlElement, type XmlHandler } from '../../lib/base/xml-reader.ts'
import { ID_MAX, messageIdText } from './pain001-beginning.ts'

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:pain\.001\.001\.(\d{2})$/
const VERSIONS = ['03', '09']

/** Address lines that the schema allows. */
const ADDRESS_LINES_MAX = 7
/** Decimals that a control sum may have. */
const SUM_DECIMALS = 17

/** The column that each element below a transaction fills. */
const TRANSACTION: Readonly<Record<string, string>> = {
  'PmtId/EndToEndId': 'end_to_end_id',
  'PmtId/InstrId': 'external_id',
  'Amt/InstdAmt': 'amount',
  'CdtrAgt/FinInstnId/BIC': 'bic',
  'CdtrAgt/FinInstnId/BICFI': 'bic',
  'CdtrAgt/FinInstnId/PstlAdr/Ctry': 'bank_country',
  'Cdtr/Nm': 'recipient_name',
  'Cdtr/PstlAdr/PstCd': 'postal_code',
  'Cdtr/PstlAdr/TwnNm': 'city',
  'Cdtr/PstlAdr/CtrySubDvsn': 'state',
  'Cdtr/PstlAdr/Ctry': 'country',
  'Cdtr/CtctDtls/EmailAdr': 'recipient_email',
  'CdtrAcct/Id/IBAN': 'iban',
  'CdtrAcct/Id/Othr/Id': 'account_number',
  'Purp/Cd': 'purpose_code',
}

const BEARERS: Readonly<Record<string, string>> = { SLEV: 'shared', SHAR: 'shared', DEBT: 'sender', CRED: 'recipient' }
/** Elements that are accepted with a warning, because no part of them becomes part of the payment. */
const IGNORED: ReadonlySet<string> = new Set(['RgltryRptg', 'Tax', 'ChqInstr'])

/** Texts of one block of payments (PmtInf) that apply to its transactions. */
interface Block {
  id: string | null
  account: string | null
  date: string | null
  bearer: string | null
  purpose: string | null
  level: string | null
  localInstrument: string | null
  count: number
  sum: bigint
  said: { count: string | null; sum: string | null }
}

/** The transaction that is being read. */
interface Transaction {
  readonly row: RowReader
  readonly address: { street: string; building: string; lines: string[] }
  reference: string | null
  structured: string | null
  clearing: { system: string | null; member: string | null }
  amount: string | null
  bearer: string | null
  categoryPurpose: boolean
  purposeSaid: boolean
  uetr: string | null
  service: { level: string | null; localInstrument: string | null }
}

/**
 * Yields the rows of a message.
 *
 * @throws BulkFileError when the message as a whole cannot be used; rows that were yielded before it are void
 */
export async function* readPain001(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<BulkRow, FileFacts> {
  const message = new Message()
  const xml = new XmlReader(message, unusable)
  message.lineNow = () => xml.line
  let any = false
  for await (const piece of bytes) {
    any = true
    xml.write(piece)
    yield* message.take()
  }
  if (!any) unusable('empty_file', 'There is nothing in the file.')
  xml.end()
  yield* message.take()
  return message.end()
}

class Message implements XmlHandler {
  readonly #path: string[] = []
  #ready: BulkRow[] = []
  #messageId: string | null = null
  readonly #said: { count: string | null; sum: string | null } = { count: null, sum: null }
  #sum = 0n
  #count = 0
  #block: Block | null = null
  #transaction: Transaction | null = null
  #currency = ''
  lineNow: () => number = () => 0

  take(): BulkRow[] {
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  end(): FileFacts {
    if (this.#messageId === null) unusable('not_well_formed', 'The message has no MsgId.')
    if (this.#said.count === null)
      unusable('control_sum_mismatch', 'The message does not say how many transactions it has (NbOfTxs).')
    this.#control('The message', this.#said, this.#count, this.#sum)
    if (this.#count === 0) unusable('empty_file', 'There is no transaction in the message.')
    return { messageId: this.#messageId }
  }

  open(element: XmlElement): void {
    const { name } = element
    if (this.#path.length === 0) {
      const version = NAMESPACE.exec(element.namespace)?.[1]
      if (name !== 'Document' || version === undefined || !VERSIONS.includes(version)) {
        unusable(
          'unsupported_version',
          `The message is no pain.001.001.${VERSIONS.join(' or pain.001.001.')}.`,
          this.lineNow(),
        )
      }
    }
    this.#path.push(name)
    if (name === 'PmtInf' && this.#path.length === 3) {
      this.#block = {
        id: null,
        account: null,
        date: null,
        bearer: null,
        purpose: null,
        level: null,
        localInstrument: null,
        count: 0,
        sum: 0n,
        said: { count: null, sum: null },
      }
    } else if (name === 'CdtTrfTxInf' && this.#path.length === 4 && this.#block !== null) {
      this.#transaction = {
        row: new RowReader('.'),
        address: { street: '', building: '', lines: [] },
        reference: null,
        structured: null,
        clearing: { system: null, member: null },
        amount: null,
        bearer: null,
        categoryPurpose: false,
        purposeSaid: false,
        uetr: null,
        service: { level: null, localInstrument: null },
      }
    } else if (name === 'InstdAmt') {
      this.#currency = element.attribute('Ccy') ?? ''
    }
  }

  close(name: string, raw: string): void {
    const text = raw.trim()
    const path = this.#path
    if (this.#transaction !== null && path.length > 4)
      this.#inTransaction(this.#transaction, path.slice(4).join('/'), text)
    else if (name === 'CdtTrfTxInf' && this.#transaction !== null) this.#endTransaction(this.#block!, this.#transaction)
    else if (this.#block !== null && path.length > 3) this.#inBlock(this.#block, path.slice(3).join('/'), text)
    else if (name === 'PmtInf' && this.#block !== null) {
      this.#control('A block of payments (PmtInf)', this.#block.said, this.#block.count, this.#block.sum)
      this.#block = null
    } else if (path[2] === 'GrpHdr' && path.length === 4) {
      if (name === 'MsgId') this.#messageId ??= messageIdText(text)
      if (name === 'NbOfTxs') this.#said.count = text
      if (name === 'CtrlSum') this.#said.sum = text
    }
    path.pop()
  }

  #inBlock(block: Block, at: string, text: string): void {
    switch (at) {
      case 'PmtInfId':
        block.id = text.slice(0, ID_MAX)
        break
      case 'PmtMtd':
        if (text !== 'TRF')
          unusable('unsupported_version', 'Only credit transfers (PmtMtd TRF) can be paid.', this.lineNow())
        break
      case 'NbOfTxs':
        block.said.count = text
        break
      case 'CtrlSum':
        block.said.sum = text
        break
      case 'ReqdExctnDt':
      case 'ReqdExctnDt/Dt':
        if (text !== '') block.date = text
        break
      case 'ReqdExctnDt/DtTm':
        block.date = text.slice(0, 10)
        break
      case 'PmtTpInf/SvcLvl/Cd':
        block.level = text
        break
      case 'PmtTpInf/LclInstrm/Cd':
        block.localInstrument = text
        break
      case 'PmtTpInf/CtgyPurp/Cd':
        block.purpose = text
        break
      case 'DbtrAcct/Id/IBAN':
      case 'DbtrAcct/Id/Othr/Id':
        block.account = text
        break
      case 'ChrgBr':
        block.bearer = text
        break
    }
  }

  #inTransaction(transaction: Transaction, at: string, text: string): void {
    const { row, address, clearing } = transaction
    if (IGNORED.has(at)) row.warn(at, 'ignored_element', `${at} does not become part of the payment.`)
    const column = TRANSACTION[at]
    if (column !== undefined) {
      if (column === 'amount') {
        transaction.amount = text
        row.cell(target('currency'), this.#currency, 'InstdAmt/@Ccy')
      }
      if (column === 'purpose_code') transaction.purposeSaid = true
      if (column === 'end_to_end_id' && text === 'NOTPROVIDED') return
      row.cell(target(column), text, at)
      return
    }
    switch (at) {
      case 'Amt/EqvtAmt':
        row.fault(at, 'not_applicable', 'An amount that is still to be converted cannot be paid; say InstdAmt.')
        break
      case 'PmtId/UETR':
        transaction.uetr = text
        break
      case 'PmtTpInf/SvcLvl/Cd':
        transaction.service.level = text
        break
      case 'PmtTpInf/LclInstrm/Cd':
        transaction.service.localInstrument = text
        break
      case 'PmtTpInf/CtgyPurp/Cd':
        if (!transaction.purposeSaid) row.cell(target('purpose_code'), text, at)
        transaction.categoryPurpose = true
        break
      case 'ChrgBr':
        transaction.bearer = text
        break
      case 'CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd':
        clearing.system = text
        break
      case 'CdtrAgt/FinInstnId/ClrSysMmbId/MmbId':
        clearing.member = text
        break
      case 'IntrmyAgt1/FinInstnId/BIC':
      case 'IntrmyAgt1/FinInstnId/BICFI':
        row.cell(INTERMEDIARY, text, at)
        break
      case 'Cdtr/PstlAdr/StrtNm':
        address.street = text
        break
      case 'Cdtr/PstlAdr/BldgNb':
        address.building = text
        break
      case 'Cdtr/PstlAdr/AdrLine':
        if (address.lines.length < ADDRESS_LINES_MAX) address.lines.push(text)
        break
      case 'RmtInf/Ustrd':
        transaction.reference ??= text
        break
      case 'RmtInf/Strd/CdtrRefInf/Ref':
        transaction.structured ??= text
        break
    }
  }

  #endTransaction(block: Block, { row, address, clearing, ...said }: Transaction): void {
    this.#transaction = null
    this.#count += 1
    block.count += 1
    if (this.#count > BULK_ROWS_MAX)
      unusable('too_many_rows', `A file has at most ${BULK_ROWS_MAX} rows.`, this.lineNow())
    const amount = said.amount === null ? 0n : scaled(said.amount)
    block.sum += amount ?? 0n
    this.#sum += amount ?? 0n
    const reference = said.reference ?? said.structured
    if (reference !== null) row.cell(target('reference'), reference, 'RmtInf')
    if (block.date !== null) row.cell(target('execution_date'), block.date, 'ReqdExctnDt')
    if (!said.purposeSaid && !said.categoryPurpose && block.purpose !== null)
      row.cell(target('purpose_code'), block.purpose, 'CtgyPurp/Cd')
    const street = [address.street, address.building].filter((part) => part !== '').join(' ')
    const lines = street === '' ? address.lines : [street, ...address.lines]
    if (lines[0] !== undefined) row.cell(target('address_line1'), lines[0], 'Cdtr/PstlAdr')
    if (lines[1] !== undefined) row.cell(target('address_line2'), lines[1], 'Cdtr/PstlAdr')
    const bearer = said.bearer ?? block.bearer
    if (bearer !== null) {
      const word = BEARERS[bearer]
      if (word === undefined) row.fault('ChrgBr', 'invalid_value', 'One of SLEV, SHAR, DEBT, CRED.')
      else row.cell(target('charge_bearer'), word, 'ChrgBr')
    }
    clearingCode(row, clearing)
    const level = said.service.level ?? block.level
    const localInstrument = said.service.localInstrument ?? block.localInstrument
    row.say({
      ...(block.account === null ? {} : { sourceAccount: block.account }),
      ...(level === null && localInstrument === null
        ? {}
        : {
            service: { ...(level === null ? {} : { level }), ...(localInstrument === null ? {} : { localInstrument }) },
          }),
      ...(said.uetr === null ? {} : { uetr: said.uetr }),
      ...(block.id === null || block.id === '' ? {} : { paymentInformationId: block.id }),
    })
    this.#ready.push(row.end(this.#count, this.lineNow()))
  }

  /** Compares the stated count and sum with the content. A count or sum that is not stated is not compared. */
  #control(
    what: string,
    said: { readonly count: string | null; readonly sum: string | null },
    count: number,
    sum: bigint,
  ): void {
    if (said.count !== null && said.count.replace(/^0+(?=\d)/, '') !== String(count)) {
      unusable(
        'control_sum_mismatch',
        `${what} says it has ${said.count.slice(0, 15)} transactions, and has ${count}.`,
        this.lineNow(),
      )
    }
    if (said.sum !== null && scaled(said.sum) !== sum)
      unusable('control_sum_mismatch', `${what} says another sum (CtrlSum) than its amounts have.`, this.lineNow())
  }
}

function clearingCode(row: RowReader, { system, member }: Transaction['clearing']): void {
  if (member === null) return
  if (system === CANADIAN_CLEARING) {
    const { institutionNumber, transitNumber } = canadianParts(member)
    row.cell(target('institution_number'), institutionNumber, 'ClrSysMmbId')
    row.cell(target('transit_number'), transitNumber, 'ClrSysMmbId')
  } else if (system !== null && CLEARING_FIELDS[system] !== undefined) {
    row.cell(columnOfMember(CLEARING_FIELDS[system])!, member, 'ClrSysMmbId')
  } else if (system !== 'CHBCC') {
    row.warn('ClrSysMmbId', 'ignored_element', 'The clearing system of the bank is not known.')
  }
}

const target = (name: string): CellTarget => columnNamed(name)!
/** Stored with the account; tables have no such column. */
const INTERMEDIARY: CellTarget = {
  column: { name: 'intermediary_bic', member: 'intermediaryBic', target: 'bank', maxLength: 11 },
}

/** Parses an exact decimal as an integer with 17 decimals; null when the text is no decimal. */
function scaled(text: string): bigint | null {
  const match = /^(\d{1,18})(?:\.(\d{0,17}))?$/.exec(text)
  return match === null ? null : BigInt(match[1]! + (match[2] ?? '').padEnd(SUM_DECIMALS, '0'))
}

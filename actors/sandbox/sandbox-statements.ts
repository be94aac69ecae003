/**
 * The sandbox bank's statements: camt.053.001.08, written from its own book at each request, so that a second request
 * gets the same bytes. The statement of a day is available ten minutes after the end of the day.
 */
import { DAY_MS, MINUTE_MS, timestamp, type Clock } from '../../lib/base/clock.ts'
import { formatMajor } from '../../lib/base/money.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { Database } from '../../storage/db/database.ts'
import { inSnapshot } from '../../storage/db/snapshot.ts'
import { sandboxBalance, sandboxLines, type SandboxBookedLine } from '../../storage/sandbox/sandbox-book.ts'
import type { StatementPartner, StatementQuestion } from '../providers/statements.ts'

/** Time after midnight UTC until the statement of the day before is available. */
const CLOSES_MS = 10 * MINUTE_MS
const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'

export interface SandboxStatementsOptions {
  readonly database: Database
  readonly clock: Clock
}

export class SandboxStatements implements StatementPartner {
  readonly #options: SandboxStatementsOptions

  constructor(options: SandboxStatementsOptions) {
    this.#options = options
  }

  async statement(question: StatementQuestion): Promise<AsyncIterable<Uint8Array> | null> {
    const from = Date.parse(`${question.day}T00:00:00Z`)
    return this.#options.clock.now() < from + DAY_MS + CLOSES_MS ? null : this.#write(question, from)
  }

  #write({ connectionId, currency, day }: StatementQuestion, from: number): AsyncGenerator<Uint8Array> {
    return inSnapshot(this.#options.database, async function* (client) {
      const opening = await sandboxBalance(client, connectionId, currency, from)
      const closing = await sandboxBalance(client, connectionId, currency, from + DAY_MS)
      yield bytes(head({ connectionId, currency: currency as CurrencyCode, day, opening, closing }))
      for await (const lines of sandboxLines(client, connectionId, currency, from, from + DAY_MS))
        yield bytes(lines.map((line) => entry(line, currency as CurrencyCode)).join(''))
      yield bytes('</Stmt></BkToCstmrStmt></Document>\n')
    })
  }
}

const bytes = (text: string): Uint8Array => Buffer.from(text)

function head({
  connectionId,
  currency,
  day,
  opening,
  closing,
}: {
  readonly connectionId: string
  readonly currency: CurrencyCode
  readonly day: string
  readonly opening: bigint
  readonly closing: bigint
}): string {
  const id = `${connectionId.replaceAll('-', '').slice(-12)}-${currency}-${day.replaceAll('-', '')}`
  const next = timestamp(Date.parse(`${day}T00:00:00Z`) + DAY_MS)
  const number = Math.floor(Date.parse(`${day}T00:00:00Z`) / DAY_MS)
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>` +
    `<GrpHdr><MsgId>${id}</MsgId><CreDtTm>${next}</CreDtTm></GrpHdr>` +
    `<Stmt><Id>${id}</Id><ElctrncSeqNb>${number}</ElctrncSeqNb><CreDtTm>${next}</CreDtTm>` +
    `<FrToDt><FrDtTm>${day}T00:00:00.000Z</FrDtTm><ToDtTm>${next}</ToDtTm></FrToDt>` +
    `<Acct><Id><Othr><Id>${connectionId}</Id></Othr></Id><Ccy>${currency}</Ccy></Acct>` +
    balance('OPBD', opening, currency, day) +
    balance('CLBD', closing, currency, day)
  )
}

function balance(code: string, amount: bigint, currency: CurrencyCode, day: string): string {
  const absolute = amount < 0n ? -amount : amount
  const side = amount < 0n ? 'DBIT' : 'CRDT'
  return (
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${formatMajor(absolute, currency)}</Amt>` +
    `<CdtDbtInd>${side}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  )
}

function entry(
  { at, reference, direction, amount, code, text, id }: SandboxBookedLine,
  currency: CurrencyCode,
): string {
  const time = timestamp(at)
  const remittance = text === null ? '' : `<RmtInf><Ustrd>${escaped(text)}</Ustrd></RmtInf>`
  return (
    `<Ntry><Amt Ccy="${currency}">${formatMajor(amount, currency)}</Amt><CdtDbtInd>${direction}</CdtDbtInd>` +
    `<Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>${time}</DtTm></BookgDt>` +
    `<ValDt><Dt>${time.slice(0, 10)}</Dt></ValDt><AcctSvcrRef>${bare(id)}</AcctSvcrRef><BkTxCd><Prtry><Cd>${code}</Cd></Prtry></BkTxCd>` +
    `<NtryDtls><TxDtls><Refs><EndToEndId>${bare(reference)}</EndToEndId></Refs>${remittance}</TxDtls></NtryDtls></Ntry>`
  )
}

/** Removes the hyphens of a UUID: fields of references hold 35 characters. */
const bare = (uuid: string): string => uuid.replaceAll('-', '')

/** Escapes text for XML, at most 140 characters. Characters that XML 1.0 cannot express are left out. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .slice(0, 140)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

/**
 * Opening, lines and closing of statements and exports as their files tell them, read piece by piece: files of a
 * million lines are no larger in memory than small ones. For the files of the bench alone: one currency, plain
 * references.
 */
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createInflateRaw } from 'node:zlib'

/** The sums of a file, minor units. A list without opening and closing balances is summed by its lines alone. */
export interface Sums {
  readonly opening: bigint | null
  readonly lines: number
  readonly total: bigint
  readonly closing: bigint | null
}

export type SummedFormat = 'csv' | 'xlsx' | 'json' | 'camt053' | 'mt940'

/** Downloads what a link leads to into a file. @returns its size in bytes */
export async function downloadTo(url: string, path: string): Promise<number> {
  const response = await fetch(url)
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status}: ${await response.text()}`)
  const file = createWriteStream(path)
  await pipeline(response.body, file)
  return file.bytesWritten
}

/**
 * Adds up a file. `columns` are the amount's and the balance's in a table; the balance's is null where no row is an
 * edge.
 */
export async function sumsOf(
  path: string,
  format: SummedFormat,
  columns: { readonly amount: number; readonly balance: number | null },
): Promise<Sums> {
  let [lines, total] = [0, 0n]
  const edges: bigint[] = []
  const line = (amount: bigint): void => {
    lines += 1
    total += amount
  }
  /** A row of a table: one without an amount is an edge. */
  const row = (cells: readonly (string | undefined)[]): void => {
    const amount = cells[columns.amount]
    if (amount !== undefined && amount !== '') line(minor(amount))
    else if (columns.balance !== null) edges.push(minor(cells[columns.balance] as string))
  }
  let isHeading = true
  const take: Readonly<Record<SummedFormat, (record: string) => void>> = {
    csv: (record) => {
      if (isHeading) isHeading = false
      else if (record !== '') row(record.split(','))
    },
    xlsx: (record) => {
      if (isHeading) {
        isHeading = false
        return
      }
      if (record.includes('<row>'))
        row(
          Array.from(
            record.matchAll(/<c(?:\/>|[^>]*>(.*?)<\/c>)/g),
            ([, cell]) => /<v>(.*)<\/v>/.exec(cell ?? '')?.[1],
          ),
        )
    },
    json: (record) => {
      if (!record.startsWith('{')) return
      const { direction, amount } = JSON.parse(record.replace(/,$/, '')) as {
        direction: string
        amount: { amountMinor: string }
      }
      line(BigInt(amount.amountMinor) * (direction === 'out' ? -1n : 1n))
    },
    camt053: (record) => {
      for (const [, amount, way] of record.matchAll(
        /<Bal>.*?<Amt [^>]*>([\d.]+)<\/Amt><CdtDbtInd>(\w+)<\/CdtDbtInd>.*?<\/Bal>/g,
      ))
        edges.push(way === 'DBIT' ? -minor(amount!) : minor(amount!))
      const entry = /<Ntry><NtryRef>\d+<\/NtryRef><Amt [^>]*>([\d.]+)<\/Amt><CdtDbtInd>(\w+)</.exec(record)
      if (entry !== null) line(entry[2] === 'DBIT' ? -minor(entry[1]!) : minor(entry[1]!))
    },
    mt940: (record) => {
      const edge = /^:6[02]F:([CD])\d{6}[A-Z]{3}([\d,]+)/.exec(record)
      if (edge !== null) edges.push(minor(edge[2]!.replace(',', '.')) * (edge[1] === 'D' ? -1n : 1n))
      const entry = /^:61:\d{10}(R?[CD])([\d,]+)N/.exec(record)
      if (entry !== null) line(minor(entry[2]!.replace(',', '.')) * (entry[1] === 'D' || entry[1] === 'RC' ? -1n : 1n))
    },
  }
  const end = format === 'xlsx' ? '</row>' : format === 'camt053' ? '</Ntry>' : '\n'
  for await (const record of recordsOf(format === 'xlsx' ? await sheetOf(path) : createReadStream(path), end))
    take[format](record)
  return { opening: edges[0] ?? null, lines, total, closing: edges.at(-1) ?? null }
}

/** Texts up to an end mark each, and what is left. */
async function* recordsOf(pieces: AsyncIterable<Uint8Array>, end: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split(end)
    rest = parts.pop() as string
    yield* parts
  }
  yield rest
}

const minor = (text: string): bigint =>
  BigInt(
    text
      .replace(/^([^.]*)$/, '$1.00')
      .replace(/\.(\d)$/, '.$10')
      .replace('.', ''),
  )

/** The sheet of a workbook, unpacked as it is read: where it is stands in the directory at the end of the package. */
async function sheetOf(path: string): Promise<AsyncIterable<Uint8Array>> {
  await using file = await open(path)
  const { size } = await file.stat()
  const tail = Buffer.alloc(Math.min(size, 4_096))
  await file.read(tail, 0, tail.length, size - tail.length)
  for (
    let at = tail.indexOf('PK\u0001\u0002', 0, 'latin1');
    at >= 0;
    at = tail.indexOf('PK\u0001\u0002', at + 4, 'latin1')
  ) {
    const name = tail.toString('utf8', at + 46, at + 46 + tail.readUInt16LE(at + 28))
    if (!name.startsWith('xl/worksheets/')) continue
    const [packed, local] = [tail.readUInt32LE(at + 20), tail.readUInt32LE(at + 42)]
    const head = Buffer.alloc(30)
    await file.read(head, 0, head.length, local)
    const from = local + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
    const sheet = createReadStream(path, { start: from, end: from + packed - 1 })
    await once(sheet, 'open')
    return sheet.pipe(createInflateRaw())
  }
  throw new Error('There is no sheet.')
}

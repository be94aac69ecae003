/** The load generator's own arithmetic: a benchmark that counts wrongly is worse than none. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { Histogram } from '../../bench/histogram.ts'
import { CAPTURED_ID, FRESH_KEY, type LoadPlan } from '../../bench/load-plan.ts'
import { runLoad } from '../../bench/load.ts'
import { ResponseError, ResponseReader } from '../../bench/response-reader.ts'

t.test('histogram', async (t) => {
  t.test('a quantile is never below the exact one, and never more than 1 % above it', async () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, share) => {
          const histogram = new Histogram()
          for (const value of values) histogram.record(value)
          const sorted = [...values].sort((a, b) => a - b)
          const exact = sorted[Math.max(1, Math.ceil(share * values.length)) - 1] as number
          const found = histogram.quantile(share)
          return found >= exact && found <= exact * 1.01
        },
      ),
    )
  })

  t.test('the sparse form carries every record to another process', async (t) => {
    const histogram = new Histogram()
    for (let value = 0; value < 100_000; value += 7) histogram.record(value)
    const copy = Histogram.from(histogram.sparse())
    t.equal(copy.total, histogram.total)
    for (const share of [0, 0.5, 0.9, 0.99]) t.equal(copy.quantile(share), histogram.quantile(share))
  })

  t.test('an empty one has no quantiles, and what is too long is kept as the longest', async (t) => {
    const histogram = new Histogram()
    t.equal(histogram.quantile(0.99), 0)
    histogram.record(2 ** 40)
    t.equal(histogram.quantile(1), 2 ** 31 - 1)
  })
})

t.test('response reader', async (t) => {
  const stream = Buffer.from(
    [
      'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\ncontent-length: 11\r\nX-Content-Length: 99\r\n\r\n{"id":"a1"}',
      'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 503 Service Unavailable\r\nCONTENT-LENGTH:  4 \r\n\r\nbusy',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    ].join(''),
  )

  function read(cuts: readonly number[], keepBody: boolean): [number, string | null][] {
    const seen: [number, string | null][] = []
    const reader = new ResponseReader((status, body) => {
      seen.push([status, body === null ? null : Buffer.from(body).toString()])
    })
    reader.keepBody = keepBody
    const places = [0, ...[...cuts].sort((a, b) => a - b), stream.length]
    // A single buffer for all reads, as on a socket: bytes that are needed later must have been copied.
    const buffer = Buffer.alloc(stream.length)
    for (let i = 1; i < places.length; i++) {
      const length = stream.copy(buffer, 0, places[i - 1], places[i])
      reader.push(buffer, length)
      buffer.fill(0)
    }
    return seen
  }

  t.test('responses are the same wherever the packets are split', async (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 12 }),
        fc.boolean(),
        (cuts, keepBody) => {
          t.same(
            read(cuts, keepBody).map(([status]) => status),
            [201, 304, 503, 200],
          )
          if (keepBody)
            t.same(
              read(cuts, true).map(([, body]) => body),
              ['{"id":"a1"}', '', 'busy', ''],
            )
        },
      ),
    )
    t.same(
      read(
        Array.from({ length: stream.length }, (_, at) => at),
        false,
      ).map(([status]) => status),
      [201, 304, 503, 200],
      'byte by byte',
    )
  })

  t.test('what it cannot read is an error, not a wrong count', async (t) => {
    const reader = () => new ResponseReader(() => undefined)
    t.throws(() => reader().push(Buffer.from('SSH-2.0-OpenSSH_9.6\r\n')), ResponseError)
    t.throws(() => reader().push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')), ResponseError)
    t.throws(() => reader().push(Buffer.from('HTTP/1.1 200 OK\r\nDate: now\r\n\r\n')), ResponseError)
  })
})

/** A server of one line: `answer` is called for every request with its text. */
async function serve(
  t: { teardown(work: () => unknown): void },
  answer: (socket: Socket, request: string) => void,
): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (data) => answer(socket, data.toString()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const created = (body = ''): string => `HTTP/1.1 201 Created\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const post = {
  method: 'POST',
  path: '/payments',
  headers: { 'Idempotency-Key': FRESH_KEY },
  body: '{}',
  expect: 201,
} as const

function plan(target: string, rest: Partial<LoadPlan>): LoadPlan {
  return { targets: [target], operations: [[post]], connections: 1, warmupSeconds: 0.1, seconds: 0.5, ...rest }
}

t.test('open loop: a server that is slower than its arrivals shows the queue it causes', async (t) => {
  const serviceMs = 10
  const url = await serve(t, (socket) => {
    setTimeout(() => socket.write(created()), serviceMs)
  })
  const report = await runLoad(plan(url, { arrivalsPerSecond: 200 }))
  t.equal(report.operations, 100, 'every arrival of the half second is counted, the late ones too')
  t.equal(report.failures, 0)
  // Arrivals every 5 ms, served every 10 ms and more: the last of 0.6 s waits for half of them.
  t.ok(report.maxMs > 250, `the last request waited ${report.maxMs} ms`)
  t.ok(report.p50Ms > 100, `the median was ${report.p50Ms} ms`)
})

t.test('open loop: arrivals that a lost server never got are failures, every one of them', async (t) => {
  let answered = 0
  const url = await serve(t, (socket) => {
    if (answered++ < 10) socket.write(created())
    else socket.destroy()
  })
  const report = await runLoad(plan(url, { arrivalsPerSecond: 100, warmupSeconds: 0 }))
  t.equal(report.operations, 50)
  t.equal(report.failures, 40)
  t.ok(Object.values(report.errors).some((count) => count > 0))
})

t.test('closed loop: connections wait for their answers, and the rate is what was answered', async (t) => {
  let inFlight = 0
  let inFlightMax = 0
  const url = await serve(t, (socket) => {
    inFlightMax = Math.max(inFlightMax, ++inFlight)
    setTimeout(() => {
      inFlight -= 1
      socket.write(created())
    }, 5)
  })
  const report = await runLoad(plan(url, { connections: 4 }))
  t.equal(inFlightMax, 4)
  t.equal(report.failures, 0)
  t.equal(report.rate, report.operations / 0.5)
  t.ok(report.p50Ms >= 4 && report.p50Ms < 50, `${report.p50Ms} ms`)
})

t.test('another status than the expected one is a failure', async (t) => {
  const url = await serve(t, (socket) => socket.write('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n'))
  const report = await runLoad(plan(url, { seconds: 0.1 }))
  t.equal(report.rate, 0)
  t.equal(report.failures, report.operations)
  t.ok((report.statuses['503'] as number) > 0)
})

t.test('every request has a key of its own, also over connections', async (t) => {
  const keys = new Set<string>()
  let requests = 0
  const url = await serve(t, (socket, request) => {
    requests += 1
    const [, key] =
      /Idempotency-Key: ([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12})\r\n/.exec(request) ?? []
    if (key !== undefined) keys.add(key)
    socket.write(created())
  })
  await runLoad(plan(url, { connections: 3 }))
  t.ok(requests > 50)
  t.equal(keys.size, requests)
})

t.test('an operation of two requests counts once, and the second knows what the first made', async (t) => {
  const id = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
  const bodies = new Map<string, number>()
  const url = await serve(t, (socket, request) => {
    const body = request.slice(request.indexOf('\r\n\r\n') + 4)
    bodies.set(body, (bodies.get(body) ?? 0) + 1)
    socket.write(created(`{"status":"ok","id":"${id}"}`))
  })
  const second = { ...post, path: '/exchanges', body: `{"quoteId":"${CAPTURED_ID}"}` }
  const report = await runLoad(plan(url, { operations: [[{ ...post, path: '/quotes', capture: true }, second]] }))
  t.same([...bodies.keys()], ['{}', `{"quoteId":"${id}"}`])
  t.equal(bodies.get('{}'), bodies.get(`{"quoteId":"${id}"}`))
  t.equal(report.allStatuses['201'], 2 * (bodies.get('{}') as number))
})

/** Long against anything that a busy machine does, and so a wait for it is found. */
const DRAIN_SECONDS = 60

async function seconds(work: Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work
  return (performance.now() - begin) / 1000
}

t.test('open loop: it ends with its last answer, and waits for no arrival that does not come', async (t) => {
  const url = await serve(t, (socket) => socket.write(created()))
  // Rates that divide the time: counted from the times of a clock, some of these had an arrival too many.
  for (let nth = 0; nth < 12; nth++) {
    const arrivalsPerSecond = 100 * (nth + 1)
    let report: Awaited<ReturnType<typeof runLoad>> | undefined
    const took = await seconds(
      runLoad(plan(url, { arrivalsPerSecond, warmupSeconds: 0.03, seconds: 0.07, drainSeconds: DRAIN_SECONDS })).then(
        (value) => {
          report = value
        },
      ),
    )
    t.ok(took < DRAIN_SECONDS / 2, `${arrivalsPerSecond}/s took ${took} s`)
    t.equal(report?.operations, Math.round(arrivalsPerSecond * 0.07))
    t.equal(report?.failures, 0)
  }
})

t.test('open loop: it ends when the last request under way has lost its connection', async (t) => {
  let requests = 0
  const url = await serve(t, (socket) => {
    requests += 1
    if (requests < 5) socket.write(created())
    else setTimeout(() => socket.destroy(), 200)
  })
  const options = { arrivalsPerSecond: 50, warmupSeconds: 0, seconds: 0.1, connections: 3, drainSeconds: DRAIN_SECONDS }
  const took = await seconds(
    runLoad(plan(url, options)).then((report) => {
      t.equal(report.operations, 5)
      t.equal(report.unanswered, 1)
      t.equal(report.failures, 1)
    }),
  )
  t.ok(took < DRAIN_SECONDS / 2, `${took} s`)
})

t.test('open loop: what is not answered within its patience has failed', async (t) => {
  const url = await serve(t, () => undefined)
  const options = { arrivalsPerSecond: 50, warmupSeconds: 0, seconds: 0.1, connections: 2, drainSeconds: 0.1 }
  const report = await runLoad(plan(url, options))
  t.equal(report.operations, 5)
  t.equal(report.failures, 5)
  t.equal(report.unanswered, 2, 'the others were never sent')
})

t.test('the moments of the measurement are told, once each and in order', async (t) => {
  const url = await serve(t, (socket) => socket.write(created()))
  for (const arrivalsPerSecond of [undefined, 100]) {
    const told: string[] = []
    await runLoad(
      plan(url, {
        warmupSeconds: 0.05,
        seconds: 0.05,
        ...(arrivalsPerSecond === undefined ? {} : { arrivalsPerSecond }),
      }),
      (moment) => told.push(moment),
    )
    t.same(told, ['warm', 'begin', 'end'])
  }
})
